/* SPDX-License-Identifier: Apache-2.0 */
#include "models/message.h"

#include <string.h>

static gboolean
message_is_part (const json_t *part, const char *type)
{
  return g_strcmp0 (json_string_value (json_object_get (part, "type")), type) == 0;
}

json_t *
message_text (const char *text)
{
  return json_pack ("{s:s, s:s}", "type", "text", "text", text);
}

json_t *
message_image (const char *mime, const char *base64)
{
  return json_pack ("{s:s, s:s, s:s}", "type", "image", "mime", mime, "data", base64);
}

json_t *
message_user (const char *text)
{
  return json_pack ("{s:s, s:[o]}", "role", "user", "content", message_text (text));
}

json_t *
message_result (const json_t *call, json_t *content, gboolean is_error)
{
  return json_pack ("{s:s, s:[{s:s, s:O, s:O, s:o, s:b}]}", "role", "tool", "content", "type", "result", "id",
                    json_object_get (call, "id"), "name", json_object_get (call, "name"), "content", content,
                    "is_error", is_error);
}

char *
message_all_text (const json_t *message)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *part;
  json_array_foreach (json_object_get (message, "content"), index, part)
  {
    if (message_is_part (part, "text"))
      g_string_append (text, json_string_value (json_object_get (part, "text")));
  }
  return g_string_free (text, FALSE);
}

json_t *
message_calls (const json_t *message)
{
  json_t *calls = json_array ();
  gsize index;
  json_t *part;
  json_array_foreach (json_object_get (message, "content"), index, part)
  {
    if (message_is_part (part, "call"))
      json_array_append (calls, part);
  }
  return calls;
}
