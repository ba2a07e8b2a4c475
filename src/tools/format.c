/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON formats: one function each, driven by the table. */
#include "tools/format.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "policy/roles.h"
#include "tools/schema.h"

static const char *const format_names[] = {
    [TOOL_FORMAT_LIST] = "list",         [TOOL_FORMAT_MCP] = "mcp",
    [TOOL_FORMAT_OPENAI] = "openai",     [TOOL_FORMAT_ANTHROPIC] = "anthropic",
    [TOOL_FORMAT_MARKDOWN] = "markdown", [TOOL_FORMAT_OPERATIONS] = "operations",
};

gboolean
tool_format_parse (const char *text, enum tool_format *ret_format, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (format_names); i++)
    if (strcmp (format_names[i], text) == 0) {
      *ret_format = (enum tool_format)i;
      return TRUE;
    }
  g_autofree char *shown = text_one_line (text, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "there is no format \"%s\"; there are: list, mcp, openai, anthropic, markdown, operations",
               shown);
  return FALSE;
}

static json_t *
describe_hints (const struct tool *tool)
{
  return json_pack ("{s:b, s:b, s:b, s:b}", "readOnlyHint", (tool->hints & TOOL_READ_ONLY) != 0,
                    "destructiveHint", (tool->hints & TOOL_DESTRUCTIVE) != 0, "idempotentHint",
                    (tool->hints & TOOL_IDEMPOTENT) != 0, "openWorldHint",
                    (tool->hints & TOOL_OPEN_WORLD) != 0);
}

static json_t *
describe_mcp (const struct tool *tool, const char *description)
{
  json_t *hints = describe_hints (tool);
  json_object_set_new (hints, "title", json_string (tool->title));
  return json_pack ("{s:s, s:s, s:s, s:o, s:o, s:o, s:{s:s}}", "name", tool->name, "title", tool->title,
                    "description", description, "inputSchema", schema_input (tool), "outputSchema",
                    schema_output (tool), "annotations", hints, "_meta", "adder/role",
                    role_name (tool->role));
}

json_t *
tool_describe_basic (const struct tool *tool, const char *description)
{
  return json_pack ("{s:s, s:s, s:s, s:o, s:o, s:o}", "name", tool->name, "title", tool->title, "description",
                    description, "inputSchema", schema_basic_input (tool), "outputSchema",
                    schema_basic_output (tool), "annotations", describe_hints (tool));
}

static json_t *
describe_openai (const struct tool *tool, const char *description)
{
  return json_pack ("{s:s, s:{s:s, s:s, s:o, s:b}}", "type", "function", "function", "name", tool->name,
                    "description", description, "parameters", schema_input_strict (tool), "strict", 1);
}

static json_t *
describe_anthropic (const struct tool *tool, const char *description)
{
  return json_pack ("{s:s, s:s, s:o}", "name", tool->name, "description", description, "input_schema",
                    schema_input (tool));
}

json_t *
tool_describe (const struct tool *tool, enum tool_format format, const char *description)
{
  static json_t *(*const describers[]) (const struct tool *tool, const char *description) = {
      [TOOL_FORMAT_MCP] = describe_mcp,
      [TOOL_FORMAT_OPENAI] = describe_openai,
      [TOOL_FORMAT_ANTHROPIC] = describe_anthropic,
  };
  g_return_val_if_fail (format < G_N_ELEMENTS (describers) && describers[format], NULL);
  return describers[format](tool, description);
}
