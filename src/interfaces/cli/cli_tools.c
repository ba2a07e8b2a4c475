/* SPDX-License-Identifier: Apache-2.0 */
/* `adder tools`: the tool table as a person, a model's API or the documentation has it; and switching tools
 * off. */
#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/field_rows.h"
#include "common/json.h"
#include "interfaces/cli/caller_context.h"
#include "interfaces/cli/cli.h"
#include "interfaces/remote/remote.h"
#include "tools/format.h"
#include "tools/installed.h"
#include "tools/tool_enablement.h"
#include "tools/tools.h"

struct tools_options {
  char *toolset, *format, *role;
  gboolean prompt, read_only;
};

/* Who looks at the list, and what tells whether a tool is in it. */
struct view {
  struct config *config;
  struct tool_enablement *enablement;
  struct role_caller caller;
  gboolean all; /* documentation tells of every tool, whoever reads it */
};

static gboolean
cli_tools_is_listed (const struct toolset *toolset, const struct tool *tool, void *data)
{
  const struct view *view = data;
  return view->all || tool_is_available (view->config, view->enablement, &view->caller, toolset, tool, NULL);
}

/* A file that cannot be read leaves no tool: that is an error, and not an empty list. */
static gboolean
check_enablement (const struct view *view, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (tool_enablement_is_on (view->enablement, toolsets[0], &toolsets[0]->tools[0], &problem) ||
      g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_REFUSED))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

static gboolean
open_view (const struct tools_options *options, struct view *view, GError **error)
{
  if (!(view->config = config_load (NULL, error)))
    return FALSE;
  view->caller = (struct role_caller){role_default (view->config), options->read_only};
  view->enablement = tool_enablement_new ();
  return (!options->role || role_parse (options->role, &view->caller.role, error)) &&
         check_enablement (view, error);
}

/* ---- what is printed ---- */

static void
cli_tools_print_json (const struct toolset *toolset, enum tool_format format, struct view *view)
{
  g_autoptr (json_t) list = json_array ();
  g_autofree char *python = caller_context_find_python ();
  for (gsize i = 0; i < toolset->count; i++) {
    const struct tool *tool = &toolset->tools[i];
    if (!cli_tools_is_listed (toolset, tool, view))
      continue;
    g_autofree char *description = installed_describe (toolset, tool, view->config, python);
    json_array_append_new (list, tool_describe (tool, format, description));
  }
  json_dumpf (list, stdout, JSON_INDENT (2));
  putchar ('\n');
}

/* Of docs/toolsets.md. */
static const char page_head[] =
    "<!-- Made by `adder tools --format markdown`; a test compares the two. Change src/tools/ instead. -->\n"
    "# Toolsets\n\n"
    "Every tool that an agent can call, from the table of tools itself. [tools.md](tools.md) says how they "
    "are called. A "
    "reply is one of the objects shown with its tool, or `error`, `run_id` and, where somebody has to say "
    "yes first, "
    "`approval_id`.\n\n";

/* ONLY NULL: all toolsets. */
static void
cli_tools_print_text (const struct toolset *only, enum tool_format format, struct view *view)
{
  g_autoptr (GString) text = g_string_new (NULL);
  if (!only && format == TOOL_FORMAT_MARKDOWN)
    g_string_append (text, page_head);
  for (gsize i = 0; toolsets[i]; i++)
    if (!only || only == toolsets[i])
      tool_write (text, toolsets[i], format, cli_tools_is_listed, view);
  fputs (text->str, stdout);
}

static gboolean
cli_tools_print_tools (const struct tools_options *options, struct view *view, GError **error)
{
  enum tool_format format = TOOL_FORMAT_LIST;
  const struct toolset *toolset = toolset_find (options->toolset, error);
  if (!toolset || (options->format && !tool_format_parse (options->format, &format, error)))
    return FALSE;
  if (options->prompt) {
    g_autofree char *text = tool_prompt (toolset, cli_tools_is_listed, view);
    fputs (text, stdout);
  } else if (format == TOOL_FORMAT_OPERATIONS) {
    g_autoptr (GString) text = g_string_new (NULL);
    tool_write_operations (text);
    fputs (text->str, stdout);
  } else if (format == TOOL_FORMAT_LIST || format == TOOL_FORMAT_MARKDOWN) {
    view->all = format == TOOL_FORMAT_MARKDOWN;
    cli_tools_print_text (options->toolset ? toolset : NULL, format, view);
  } else
    cli_tools_print_json (toolset, format, view);
  return TRUE;
}

/* ---- enabling and disabling ---- */

static gboolean
switch_tool (const struct tools_options *options, const char *word, const char *name, GError **error)
{
  const struct toolset *toolset = NULL;
  const struct tool *tool;
  gboolean on = strcmp (word, "enable") == 0;
  if (!on && strcmp (word, "disable") != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is neither enable nor disable", word);
    return FALSE;
  }
  if (!name) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s what? Name a tool: adder tools lists them",
                 word);
    return FALSE;
  }
  return (!options->toolset || (toolset = toolset_find (options->toolset, error))) &&
         tool_find (toolset, name, &toolset, &tool, error) && tool_enablement_set (toolset, tool, on, error);
}

/* ---- those of a daemon elsewhere ---- */

static const struct field tool_fields[] = {{0}};
static const struct field list_fields[] = {
    TEXT ("toolset", "Whose tools these are."),
    TEXTS ("toolsets", "Those that the caller may use."),
    LIST ("tools", tool_fields, "In the format that was asked for."),
    {0},
};
static const struct field *const list_replies[] = {list_fields, NULL};

/* {"toolset", "toolsets", "tools"}: TOOLSET may be NULL. The caller's. */
static json_t *
ask_tools (const char *toolset, const char *format, GError **error)
{
  g_autofree char *named = toolset ? g_uri_escape_string (toolset, NULL, FALSE) : NULL;
  g_autofree char *path = g_strconcat ("/v1/tools?format=", format, named ? "&toolset=" : NULL, named, NULL);
  return remote_ask ("GET", path, NULL, list_replies, -1, error);
}

static void
cli_tools_print_rows (const json_t *answer)
{
  gsize i;
  json_t *tool;
  json_array_foreach (json_object_get (answer, "tools"), i, tool)
  {
    const char *role = json_member_text (json_object_get (tool, "_meta"), "adder/role");
    cli_print_line (TOOL_LINE, json_member_text (answer, "toolset"), json_member_text (tool, "name"), role,
                    json_member_text (tool, "title"));
  }
}

/* A line for each tool of TOOLSET, or of all that ANSWER, the first, tells of. */
static gboolean
print_remote_list (const char *toolset, const json_t *answer, GError **error)
{
  gsize i;
  json_t *name;
  cli_tools_print_rows (answer);
  json_array_foreach (json_object_get (answer, "toolsets"), i, name)
  {
    if (toolset || strcmp (json_string_value (name), json_member_text (answer, "toolset")) == 0)
      continue;
    g_autoptr (json_t) next = ask_tools (json_string_value (name), "mcp", error);
    if (!next)
      return FALSE;
    cli_tools_print_rows (next);
  }
  return TRUE;
}

static gboolean
print_remote (const struct tools_options *options, GError **error)
{
  enum tool_format format = TOOL_FORMAT_LIST;
  if (options->format && !tool_format_parse (options->format, &format, error))
    return FALSE;
  gboolean lists = format == TOOL_FORMAT_LIST;
  const char *only_here = options->prompt                                                      ? "--prompt"
                          : options->role                                                      ? "--role"
                          : options->read_only                                                 ? "--read-only"
                          : format == TOOL_FORMAT_MARKDOWN || format == TOOL_FORMAT_OPERATIONS ? "that format"
                                                                                               : NULL;
  if (only_here) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s is about the tools of this program: leave it out, or look here (--url '')", only_here);
    return FALSE;
  }
  g_autoptr (json_t) answer = ask_tools (options->toolset, lists ? "mcp" : options->format, error);
  if (!answer)
    return FALSE;
  if (lists)
    return print_remote_list (options->toolset, answer, error);
  json_dumpf (json_object_get (answer, "tools"), stdout, JSON_INDENT (2));
  putchar ('\n');
  return TRUE;
}

/* ---- the command ---- */

static gboolean
cli_tools_carry_out (const struct tools_options *options, int argc, char **argv, GError **error)
{
  struct view view = {0};
  if (remote_is_set () && argc == 1)
    return print_remote (options, error);
  if (remote_is_set ()) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "tools are switched on the daemon's machine, by who may write its configuration");
    return FALSE;
  }
  if (argc > 1)
    return switch_tool (options, argv[1], argc > 2 ? argv[2] : NULL, error);
  gboolean ok = open_view (options, &view, error) && cli_tools_print_tools (options, &view, error);
  tool_enablement_free (view.enablement);
  config_free (view.config);
  return ok;
}

int
cli_tools (int argc, char **argv)
{
  struct tools_options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The toolset (default: all of them for people, adder for models)", "NAME"},
      {"format", 0, 0, G_OPTION_ARG_FILENAME, &options.format,
       "list (the default: a line for each), markdown, operations, or what goes into the field tools of an "
       "API: mcp, openai, anthropic",
       "FORMAT"},
      {"prompt", 0, 0, G_OPTION_ARG_NONE, &options.prompt,
       "Print the paragraph for a system prompt that tells a model what it has", NULL},
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "As a guest, user or admin has them", "ROLE"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only,
       "As an agent has them that may look but not act", NULL},
      {NULL},
  };
  int code = 0;
  if (!cli_parse (entries, 0, 2, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (!cli_tools_carry_out (&options, argc, argv, &problem))
    code = cli_fail (problem);
  g_free (options.toolset);
  g_free (options.format);
  g_free (options.role);
  return code;
}
