/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of MCP says: each line a message, as every transport reads it, and the era that it is of. */
#include <string.h>

#include "common/json.h"
#include "fuzz/fuzz.h"
#include "interfaces/mcp/era.h"

/* An answer can be sent, names one problem, and an id only where there is one that may be. */
static void
check_refusal (struct mcp_reply *reply)
{
  const json_t *error = json_object_get (reply->message, "error");
  const json_t *id = json_object_get (reply->message, "id");
  g_autofree char *text = json_to_text (reply->message);
  FUZZ_REQUIRE (!strchr (text, '\n') && json_is_integer (json_object_get (error, "code")));
  FUZZ_REQUIRE (!id || json_is_string (id) || json_is_integer (id));
  mcp_reply_clear (reply);
}

static void
check_era (const struct mcp_message *message, const char *header, const char *version)
{
  g_autoptr (json_t) nothing = json_object ();
  struct mcp_session *session = mcp_session_new (NULL, "uid:0", NULL, NULL);
  json_t *meta = json_object_get (message->params, "_meta");
  struct mcp_request request = {
      .id = message->id, .meta = json_is_object (meta) ? meta : nothing, .session = session};
  struct mcp_reply reply = {0};
  UNSHARED (mcp_session);
  session->version = version;
  if (!era_decide (&request, message->method, header, &reply)) {
    FUZZ_REQUIRE (message->id);
    check_refusal (&reply);
  } else
    FUZZ_REQUIRE (request.version && (request.era == MCP_MODERN || request.era == MCP_LEGACY));
  mcp_session_unref (session);
}

static void
take (struct mcp_message *message)
{
  if (message->kind == MCP_KIND_REQUEST || message->kind == MCP_KIND_NOTIFICATION) {
    check_era (message, NULL, NULL);
    check_era (message, NULL, MCP_LEGACY_VERSION);
    check_era (message, MCP_MODERN_VERSION, NULL);
  }
  gsize index;
  json_t *value;
  if (message->kind == MCP_KIND_BATCH)
    json_array_foreach (message->value, index, value)
    {
      struct mcp_message item;
      struct mcp_reply reply = {0};
      if (mcp_message_take (json_incref (value), &item, &reply))
        mcp_message_clear (&item);
      else
        check_refusal (&reply);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  struct mcp_message message;
  struct mcp_reply reply = {0};
  if (mcp_message_parse ((const char *)data, size, &message, &reply)) {
    take (&message);
    mcp_message_clear (&message);
  } else
    check_refusal (&reply);
  return 0;
}
