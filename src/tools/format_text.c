/* SPDX-License-Identifier: Apache-2.0 */
/* The formats for people: a line for each tool, and Markdown; and the text for a model's system prompt. */
#include <string.h>

#include "operations/operation.h"
#include "policy/roles.h"
#include "tools/format.h"
#include "tools/schema.h"

/* ---- a line for each ---- */

static void
format_text_write_line (GString *text, const struct toolset *toolset, const struct tool *tool)
{
  g_string_append_printf (text, TOOL_LINE "\n", toolset->name, tool->name, role_name (tool->role),
                          tool->title);
}

/* ---- Markdown ---- */

static const struct {
  guint bit;
  const char *words;
} hint_words[] =
    {
        {TOOL_READ_ONLY, "reads only"},         {TOOL_EXECUTES, "executes code"},
        {TOOL_DESTRUCTIVE, "may destroy"},      {TOOL_IDEMPOTENT, "idempotent"},
        {TOOL_OPEN_WORLD, "may reach outside"}, {TOOL_STARTS_OFF, "off until it is switched on"},
},
  type_words[] = {
      {FIELD_TEXT, "text"}, {FIELD_INTEGER, "integer"}, {FIELD_NUMBER, "number"}, {FIELD_BOOLEAN, "boolean"},
      {FIELD_LIST, "list"}, {FIELD_OBJECT, "object"},   {FIELD_NULL, "null"},
};

static void
append_types (GString *text, const struct field *field)
{
  gboolean any = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (type_words); i++) {
    if (!(field->types & type_words[i].bit))
      continue;
    g_string_append_printf (text, "%s%s", any ? " or " : "", type_words[i].words);
    any = TRUE;
  }
}

static void
append_bounds (GString *text, const struct field *field)
{
  const char *what = field->types & FIELD_TEXT ? " characters" : field->types & FIELD_LIST ? " items" : "";
  if (field->maximum == 0 && field->minimum == 0)
    return;
  if (field->minimum != 0)
    g_string_append_printf (text, "%" G_GINT64_FORMAT " to ", field->minimum);
  else
    g_string_append (text, "up to ");
  g_string_append_printf (text, "%" G_GINT64_FORMAT "%s", field->maximum, what);
  if (field->unit)
    g_string_append_printf (text, " %s", field->unit);
}

static void
write_parameters (GString *text, const struct field *fields)
{
  if (!fields->name) {
    g_string_append (text, "It has no parameters.\n\n");
    return;
  }
  g_string_append (text, "| parameter | type | default | bounds | what it is |\n|---|---|---|---|---|\n");
  for (const struct field *field = fields; field->name; field++) {
    g_string_append_printf (text, "| `%s` | ", field->name);
    append_types (text, field);
    g_string_append_printf (text, " | %s | ",
                            field->standard   ? field->standard
                            : field->optional ? "null"
                                              : "must be given");
    append_bounds (text, field);
    g_string_append_printf (text, " | %s |\n", field->text);
  }
  g_string_append_c (text, '\n');
}

/* The members of an object, or of a list's items. */
static void
format_text_append_members (GString *text, const struct field *fields)
{
  for (const struct field *field = fields; field && field->name; field++)
    g_string_append_printf (text, "%s`%s`", field == fields ? " With " : ", ", field->name);
  if (fields)
    g_string_append_c (text, '.');
}

static void
write_members (GString *text, const struct field *fields)
{
  for (const struct field *field = fields; field->name; field++) {
    g_string_append_printf (text, "| `%s` | ", field->name);
    append_types (text, field);
    g_string_append_printf (text, " | %s", field->text);
    format_text_append_members (text, field->members);
    g_string_append (text, " |\n");
  }
}

/* MORE: members that all replies have; NULL: none. */
static void
write_reply (GString *text, const struct field *fields, const struct field *more)
{
  g_string_append (text, "| reply | type | what it is |\n|---|---|---|\n");
  write_members (text, fields);
  if (more)
    write_members (text, more);
  g_string_append_c (text, '\n');
}

static void
write_tool (GString *text, const struct tool *tool)
{
  g_string_append_printf (text, "### %s\n\n%s. Lowest role: %s", tool->name, tool->title,
                          role_name (tool->role));
  for (gsize i = 0; i < G_N_ELEMENTS (hint_words); i++)
    if (tool->hints & hint_words[i].bit)
      g_string_append_printf (text, "; %s", hint_words[i].words);
  g_string_append_printf (text, ".\n\n%s\n\n", tool->description);
  write_parameters (text, tool->parameters);
  for (gsize i = 0; tool->replies[i]; i++)
    write_reply (text, tool->replies[i], run_id_reply);
}

/* ---- operations ---- */

static const char operations_head[] =
    "<!-- Made by `adder tool list --format operations`; a check compares the two. Change src/operations/. "
    "-->\n"
    "# Operations\n\n"
    "All operations, generated from the table in `src/operations/`. The command line, the local socket,\n"
    "HTTP, tools and C programs (`adder_call` in `include/adder.h`) call the same functions with the same\n"
    "parameters. Over HTTP, parameters that are not in the path go into the query string (GET, DELETE; list\n"
    "items separated by commas) or the JSON body (POST), and runs, cells and replays can be streamed\n"
    "([http.md](http.md#events)). Where an operation has several replies, the answer is one of them.\n\n";

static void
write_operation (GString *text, const struct operation *operation)
{
  g_string_append_printf (text, "### %s\n\n%s. %s Lowest role: %s", operation->name, operation->title,
                          operation->text, role_name (operation->role));
  if (operation->flags & OPERATION_DECIDES)
    g_string_append (text, "; only for callers that may decide for a person");
  g_string_append (text, ".\n\n");
  if (operation->http.method)
    g_string_append_printf (text, "HTTP: `%s %s`, %d, `%s` in `/openapi.json`.\n\n", operation->http.method,
                            operation->http.path, operation->http.status, operation->http.id);
  write_parameters (text, operation->params);
  for (gsize i = 0; operation->replies[i]; i++)
    if (operation->replies[i]->name)
      write_reply (text, operation->replies[i], NULL);
}

void
tool_write_operations (GString *text)
{
  g_string_append (text, operations_head);
  for (gsize noun = 0; operations[noun]; noun++) {
    const char *name = operations[noun]->name;
    gsize length = strcspn (name, ".");
    g_string_append_printf (text, "## %c%.*s%s\n\n", g_ascii_toupper (name[0]), (int)length - 1, name + 1,
                            name[length - 1] == 's' ? "" : "s");
    for (const struct operation *row = operations[noun]; row->name; row++)
      write_operation (text, row);
  }
  g_string_truncate (text, text->len - 1);
}

/* ---- toolsets ---- */

void
tool_write (GString *text, const struct toolset *toolset, enum tool_format format, tool_filter filter,
            void *data)
{
  gboolean markdown = format == TOOL_FORMAT_MARKDOWN;
  if (markdown)
    g_string_append_printf (text, "## Toolset `%s`\n\n%s.\n\n", toolset->name, toolset->title);
  for (gsize i = 0; i < toolset->count; i++) {
    if (!filter (toolset, &toolset->tools[i], data))
      continue;
    if (markdown)
      write_tool (text, &toolset->tools[i]);
    else
      format_text_write_line (text, toolset, &toolset->tools[i]);
  }
}

/* ---- the system prompt ---- */

char *
tool_prompt (const struct toolset *toolset, tool_filter filter, void *data)
{
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < toolset->count; i++) {
    const struct tool *tool = &toolset->tools[i];
    if (!filter (toolset, tool, data))
      continue;
    if (text->len == 0)
      g_string_append_printf (text, "%s Your tools for it:\n", toolset->prompt);
    g_string_append_printf (text, "- %s: %s.%s%s\n", tool->name, tool->title, tool->guidance ? " " : "",
                            tool->guidance ? tool->guidance : "");
  }
  return g_string_free (text, FALSE);
}
