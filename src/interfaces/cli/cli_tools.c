/* SPDX-License-Identifier: Apache-2.0 */
/* `adder tool`: the tool table for a person, a model's API or the documentation; and switching tools off. */
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

/* The reader of the list, and whether a tool is in it. */
struct view {
  struct config *config;
  struct tool_enablement *enablement;
  struct role_caller caller;
  gboolean all; /* documentation covers every tool, for all readers */
};

static gboolean
cli_tools_is_listed (const struct toolset *toolset, const struct tool *tool, void *data)
{
  const struct view *view = data;
  return view->all || tool_is_available (view->config, view->enablement, &view->caller, toolset, tool, NULL);
}

/* An unreadable file disables all tools: that is an error, not an empty list. */
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
    "<!-- Made by `adder tool list --format markdown`; a test compares the two. Change src/tools/ instead. "
    "-->\n"
    "# Toolsets\n\n"
    "Every tool that an agent can call, from the table of tools itself. [tools.md](tools.md) says how they "
    "are called. A "
    "reply is one of the objects shown with its tool, or `error`, `run_id` and, if a person must approve "
    "first, `approval_id`.\n\n";

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

/* An argument: a tool, with or without its toolset. */
static int
cli_tools_switch (gboolean on, int argc, char **argv)
{
  g_autofree char *named = NULL;
  g_autoptr (GError) problem = NULL;
  const struct toolset *toolset = NULL;
  const struct tool *tool;
  const GOptionEntry entries[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &named, "The toolset of the tool", "NAME"}, {NULL}};
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  return (!named || (toolset = toolset_find (named, &problem))) &&
                 tool_find (toolset, argv[1], &toolset, &tool, &problem) &&
                 tool_enablement_set (toolset, tool, on, &problem)
             ? 0
             : cli_fail (problem);
}

static int
tool_enable (int argc, char **argv)
{
  return cli_tools_switch (TRUE, argc, argv);
}

static int
tool_disable (int argc, char **argv)
{
  return cli_tools_switch (FALSE, argc, argv);
}

/* ---- one tool ---- */

static gboolean
cli_tools_is_shown (G_GNUC_UNUSED const struct toolset *toolset, const struct tool *tool, void *data)
{
  return tool == data;
}

static int
tool_show (int argc, char **argv)
{
  gboolean json = FALSE;
  g_autofree char *named = NULL;
  g_autoptr (GError) problem = NULL;
  const struct toolset *toolset = NULL;
  const struct tool *tool;
  const GOptionEntry entries[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &named, "The toolset of the tool", "NAME"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object, as MCP lists it", NULL},
      {NULL},
  };
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if ((named && !(toolset = toolset_find (named, &problem))) ||
      !tool_find (toolset, argv[1], &toolset, &tool, &problem))
    return cli_fail (problem);
  if (json) {
    g_autoptr (json_t) described = tool_describe (tool, TOOL_FORMAT_MCP, tool->description);
    cli_print_json (described);
    return 0;
  }
  g_autoptr (GString) text = g_string_new (NULL);
  tool_write (text, toolset, TOOL_FORMAT_MARKDOWN, cli_tools_is_shown, (gpointer)(guintptr)tool);
  fputs (text->str, stdout);
  return 0;
}

/* ---- a remote daemon's ---- */

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

/* A line for each tool of TOOLSET, or of all in ANSWER, the first. */
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
cli_tools_carry_out (const struct tools_options *options, GError **error)
{
  struct view view = {0};
  if (remote_is_set ())
    return print_remote (options, error);
  gboolean ok = open_view (options, &view, error) && cli_tools_print_tools (options, &view, error);
  tool_enablement_free (view.enablement);
  config_free (view.config);
  return ok;
}

static int
tool_list (int argc, char **argv)
{
  struct tools_options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"toolset", 0, 0, G_OPTION_ARG_FILENAME, &options.toolset,
       "The toolset (default: all for people, adder for models)", "NAME"},
      {"format", 0, 0, G_OPTION_ARG_FILENAME, &options.format,
       "list (the default), markdown, operations, or the value of an API's field tools: mcp, openai, "
       "anthropic",
       "FORMAT"},
      {"prompt", 0, 0, G_OPTION_ARG_NONE, &options.prompt,
       "Print the paragraph for a system prompt that explains the tools to a model", NULL},
      {"role", 0, 0, G_OPTION_ARG_FILENAME, &options.role, "List the tools of a guest, user or admin",
       "ROLE"},
      {"read-only", 0, 0, G_OPTION_ARG_NONE, &options.read_only, "List the tools of a read-only agent", NULL},
      {NULL},
  };
  int code = 0;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (!cli_tools_carry_out (&options, &problem))
    code = cli_fail (problem);
  g_free (options.toolset);
  g_free (options.format);
  g_free (options.role);
  return code;
}

static const struct cli_command commands[] = {
    {"list", "", "list the tools, as a person or a model reads them", tool_list,
     .examples = "adder tool list\nadder tool list --format openai"},
    {"show", "TOOL", "show what a tool takes and replies", tool_show, .stays = TRUE,
     .examples = "adder tool show adder.run_python"},
    {"call", "TOOL [{JSON} | @FILE | -]", "call a tool and print its reply as JSON", cli_tool_call,
     .examples = "adder tool call run_python '{\"code\": \"print(6 * 7)\"}'"},
    {"enable", "TOOL", "have a tool offered again", tool_enable, .stays = TRUE,
     .examples = "adder tool enable adder.run_python"},
    {"disable", "TOOL", "have a tool offered and called no longer", tool_disable, .stays = TRUE,
     .examples = "adder tool disable adder.run_python"},
    {0},
};

int
cli_tool (int argc, char **argv)
{
  return cli_dispatch ("adder tool", "Lists, shows and calls the tools for agents.", commands, argc, argv);
}
