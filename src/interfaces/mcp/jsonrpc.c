/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0 as MCP has it: ids are texts or integers and never null, params are objects.
 *
 * An error without an id matches no request: its client would wait forever. So the id is extracted even from
 * refused text: JSON with a NUL, half a surrogate pair, a number beyond 64 bits or a duplicate key is parsed
 * a second time, for its id alone. */
#include "interfaces/mcp/mcp.h"

#include <string.h>

#include "common/field.h"
#include "common/json.h"

#define HTTP_OK          200
#define HTTP_BAD_REQUEST 400

void
mcp_reply_clear (struct mcp_reply *reply)
{
  g_clear_pointer (&reply->message, json_decref);
}

json_t *
mcp_error_message (json_t *id, int code, const char *text, json_t *data)
{
  json_t *error = json_pack ("{s:i, s:o}", "code", code, "message", json_text_or_null (text));
  if (data)
    json_object_set_new (error, "data", data);
  json_t *message = json_pack ("{s:s}", "jsonrpc", "2.0");
  if (id)
    json_object_set (message, "id", id);
  json_object_set_new (message, "error", error);
  return message;
}

static gboolean
jsonrpc_refuse (struct mcp_reply *ret_reply, json_t *id, int code, const char *text)
{
  *ret_reply = (struct mcp_reply){mcp_error_message (id, code, text, NULL), HTTP_BAD_REQUEST};
  return FALSE;
}

/* ---- one message ---- */

static gboolean
jsonrpc_is_id (const json_t *value)
{
  return json_is_string (value) || json_is_integer (value);
}

/* What is wrong with VALUE's members, or NULL. */
static const char *
find_fault (const json_t *value)
{
  const json_t *id = json_object_get (value, "id"), *method = json_object_get (value, "method");
  const json_t *result = json_object_get (value, "result"), *error = json_object_get (value, "error");
  if (g_strcmp0 (json_string_value (json_object_get (value, "jsonrpc")), "2.0") != 0)
    return "\"jsonrpc\" must be \"2.0\"";
  if (id && !jsonrpc_is_id (id))
    return "\"id\" must be text or an integer";
  if (method && !json_is_string (method))
    return "\"method\" must be text";
  if (method && (result || error))
    return "a request has neither \"result\" nor \"error\"";
  if (method)
    return NULL;
  if (!result && !error)
    return "\"method\" is missing";
  if (result && error)
    return "a response has one of \"result\" and \"error\"";
  if (error && !json_is_object (error))
    return "\"error\" must be an object";
  return result && !id ? "a response has an \"id\"" : NULL;
}

gboolean
mcp_message_take (json_t *value, struct mcp_message *ret_message, struct mcp_reply *ret_reply)
{
  json_t *id = json_object_get (value, "id");
  const char *fault = json_is_object (value) ? find_fault (value) : "a message is an object";
  json_t *params = json_object_get (value, "params");
  gboolean ok = FALSE;
  if (fault)
    jsonrpc_refuse (ret_reply, jsonrpc_is_id (id) ? id : NULL, MCP_INVALID_REQUEST, fault);
  else if (params && !json_is_object (params))
    jsonrpc_refuse (ret_reply, id, MCP_INVALID_PARAMS, "\"params\" must be an object");
  else
    ok = TRUE;
  if (!ok) {
    json_decref (value);
    return FALSE;
  }
  const char *method = json_string_value (json_object_get (value, "method"));
  *ret_message = (struct mcp_message){
      .kind = !method ? MCP_KIND_RESPONSE
              : id    ? MCP_KIND_REQUEST
                      : MCP_KIND_NOTIFICATION,
      .value = value,
      .id = id,
      .method = method,
      .params = params,
      .result = json_object_get (value, "result"),
      .error = json_object_get (value, "error"),
  };
  return TRUE;
}

void
mcp_message_clear (struct mcp_message *message)
{
  g_clear_pointer (&message->value, json_decref);
}

/* ---- text ---- */

static gboolean
is_hex (const char *at, const char *end, guint count)
{
  if (end - at < (gssize)count)
    return FALSE;
  for (guint i = 0; i < count; i++)
    if (!g_ascii_isxdigit (at[i]))
      return FALSE;
  return TRUE;
}

/* Makes each \u0000 and each escaped half of a pair in TEXT a \ufffd. */
static void
replace_escapes (char *text, gsize length)
{
  const char *end = text + length;
  for (char *at = text; at + 1 < end; at++) {
    if (at[0] != '\\')
      continue;
    if (at[1] == 'u' && is_hex (at + 2, end, 4) &&
        (memcmp (at + 2, "0000", 4) == 0 || g_ascii_tolower (at[2]) == 'd'))
      memcpy (at + 2, "fffd", 4);
    at++;
  }
}

/* The id of the message in TEXT, which was refused, or NULL. The caller's. */
static json_t *
jsonrpc_find_id (const char *text, gsize length)
{
  g_autofree char *copy = g_strndup (text, length);
  replace_escapes (copy, length);
  g_autoptr (json_t) value = json_loadb (copy, length, JSON_DECODE_INT_AS_REAL, NULL);
  json_t *id = json_object_get (value, "id");
  if (json_is_string (id))
    return json_incref (id);
  if (field_has_type (id, FIELD_INTEGER))
    return json_integer ((json_int_t)json_real_value (id));
  return NULL;
}

gboolean
mcp_message_parse (const char *text, gsize length, struct mcp_message *ret_message,
                   struct mcp_reply *ret_reply)
{
  json_error_t problem;
  if (length == 0) /* TEXT may be NULL then */
    return jsonrpc_refuse (ret_reply, NULL, MCP_PARSE_ERROR, "the message cannot be read: it is empty");
  json_t *value = json_loadb (text, length, JSON_REJECT_DUPLICATES, &problem);
  if (!value) {
    g_autoptr (json_t) id = jsonrpc_find_id (text, length);
    g_autofree char *words = g_strdup_printf ("the message cannot be read: %s", problem.text);
    return jsonrpc_refuse (ret_reply, id, id ? MCP_INVALID_REQUEST : MCP_PARSE_ERROR, words);
  }
  if (!json_is_array (value))
    return mcp_message_take (value, ret_message, ret_reply);
  if (json_array_size (value) == 0) {
    json_decref (value);
    return jsonrpc_refuse (ret_reply, NULL, MCP_INVALID_REQUEST, "a batch has at least one message");
  }
  *ret_message = (struct mcp_message){.kind = MCP_KIND_BATCH, .value = value};
  return TRUE;
}
