/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/mcp/http_headers.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"

#define BAD_REQUEST  400
#define SHOWN_BYTES  64
#define CODED_BEGIN  "=?base64?"
#define CODED_END    "?="
#define BLANKS       " \t"
#define PARAM_PREFIX "Mcp-Param-"

/* The parameter that Mcp-Name repeats. */
static const struct {
  const char *method, *parameter;
} names[] = {
    {"tools/call", "name"},  {"prompts/get", "name"},    {"resources/read", "uri"},
    {"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
};

/* g_base64_decode skips unknown characters: LENGTH characters of TEXT must be canonical. */
static char *
decode_strictly (const char *text, gsize length)
{
  g_autofree char *coded = g_strndup (text, length);
  gsize size = 0;
  g_autofree guchar *bytes = length > 0 ? g_base64_decode (coded, &size) : NULL;
  g_autofree char *again = bytes != NULL ? g_base64_encode (bytes, size) : NULL;

  if (length > 0 && g_strcmp0 (again, coded) != 0)
    return NULL;
  if (memchr (bytes != NULL ? bytes : (guchar *)"", 0, size) != NULL)
    return NULL;
  return g_strndup ((const char *)bytes, size);
}

char *
mcp_header_decode (const char *value)
{
  const char *begin = value + strspn (value, BLANKS);
  gsize length = strlen (begin);

  while (length > 0 && strchr (BLANKS, begin[length - 1]) != NULL)
    length--;
  const gsize around = strlen (CODED_BEGIN) + strlen (CODED_END);
  if (length < around || strncmp (begin, CODED_BEGIN, strlen (CODED_BEGIN)) != 0 ||
      strncmp (begin + length - strlen (CODED_END), CODED_END, strlen (CODED_END)) != 0)
    return g_strndup (begin, length);
  return decode_strictly (begin + strlen (CODED_BEGIN), length - around);
}

/* VALUE of the body in its header form: the caller's. NULL: it has none. */
static char *
written (const json_t *value)
{
  if (json_is_string (value))
    return g_strdup (json_string_value (value));
  if (json_is_boolean (value) || json_is_number (value)) {
    g_autofree char *text = json_dumps (value, JSON_ENCODE_ANY);
    return g_strdup (text);
  }
  return NULL;
}

struct check {
  mcp_header_get get;
  gpointer data;
  char *fault;
};

static void
http_headers_compare (struct check *check, const char *header, const json_t *value)
{
  const char *sent = check->get (check->data, header);
  g_autofree char *expected = written (value);
  g_autofree char *said = sent != NULL ? mcp_header_decode (sent) : NULL;

  if (check->fault != NULL)
    return;
  if (sent == NULL && expected != NULL)
    check->fault = g_strdup_printf ("the header %s is missing", header);
  else if (sent != NULL && said == NULL)
    check->fault = g_strdup_printf ("the header %s is no base64", header);
  else if (g_strcmp0 (said, expected) != 0) {
    g_autofree char *shown = text_one_line (said, SHOWN_BYTES);
    check->fault = g_strdup_printf ("the header %s says \"%s\", the body something else", header, shown);
  }
}

gboolean
mcp_headers_check (const struct mcp_message *message, const struct mcp_mirror *mirrors, mcp_header_get get,
                   gpointer data, struct mcp_reply *ret_reply)
{
  const json_t *version = json_object_get (json_object_get (message->params, "_meta"), MCP_META_VERSION);
  const json_t *arguments = json_object_get (message->params, "arguments");
  g_autoptr (json_t) method = json_string (message->method);
  struct check check = {get, data, NULL};

  if (!json_is_string (version))
    return TRUE;
  http_headers_compare (&check, "MCP-Protocol-Version", version);
  http_headers_compare (&check, "Mcp-Method", method);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].method, message->method) == 0)
      http_headers_compare (&check, "Mcp-Name", json_object_get (message->params, names[i].parameter));
  for (; mirrors != NULL && mirrors->parameter != NULL; mirrors++) {
    g_autofree char *header = g_strconcat (PARAM_PREFIX, mirrors->header, NULL);
    http_headers_compare (&check, header, json_object_get (arguments, mirrors->parameter));
  }
  if (check.fault == NULL)
    return TRUE;
  *ret_reply = (struct mcp_reply){mcp_error_message (message->id, MCP_HEADER_MISMATCH, check.fault, NULL),
                                  BAD_REQUEST};
  g_free (check.fault);
  return FALSE;
}
