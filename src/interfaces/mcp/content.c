/* SPDX-License-Identifier: Apache-2.0 */
/* Content of results, as the wire has it. */
#include "common/json.h"
#include "interfaces/mcp/mcp.h"

json_t *
mcp_text (const char *text)
{
  return json_pack ("{s:s, s:o}", "type", "text", "text", json_text_or_null (text));
}

static json_t *
data_of (const char *kind, const char *base64, const char *type)
{
  return json_pack ("{s:s, s:s, s:s}", "type", kind, "data", base64, "mimeType", type);
}

json_t *
mcp_image (const char *base64, const char *type)
{
  return data_of ("image", base64, type);
}

json_t *
mcp_audio (const char *base64, const char *type)
{
  return data_of ("audio", base64, type);
}

json_t *
mcp_resource_link (const char *uri, const char *name, const char *text, const char *type, gint64 bytes)
{
  json_t *link = json_pack ("{s:s, s:s, s:o, s:s*, s:s*}", "type", "resource_link", "uri", uri, "name",
                            json_text_or_null (name), "description", text, "mimeType", type);
  if (bytes >= 0)
    json_object_set_new (link, "size", json_integer (bytes));
  return link;
}

json_t *
mcp_contents (const char *uri, const char *type, const char *text, const char *base64)
{
  return json_pack ("{s:s, s:s*, s:s*, s:s*}", "uri", uri, "mimeType", type, "text", text, "blob", base64);
}

json_t *
mcp_embedded (json_t *contents)
{
  return json_pack ("{s:s, s:o}", "type", "resource", "resource", contents);
}

json_t *
mcp_tool_result (json_t *content, json_t *structured, gboolean is_error)
{
  json_t *result = json_pack ("{s:o, s:b}", "content", content, "isError", is_error);
  if (structured)
    json_object_set_new (result, "structuredContent", structured);
  return result;
}
