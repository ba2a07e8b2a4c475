/* SPDX-License-Identifier: Apache-2.0 */
/* `adder search`: asks databases of materials, all at once, and merges their answers into one table. */
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/size.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/materials_words.h"
#include "interfaces/cli/tool_command.h"
#include "interfaces/cli/view/materials_view.h"
#include "tools/materials_tools.h"

#define TOOLSET         "workbench"
#define ROWS_SHOWN      50
#define NOBODY_ANSWERED 1 /* exit code where every database failed */

struct options {
  struct materials_words words;
  gboolean raw, explain, all, json, no_daemon, refresh, names;
};

/* ---- results ---- */

static gboolean
somebody_answered (const json_t *reply)
{
  gsize i;
  json_t *provider;
  json_array_foreach (json_object_get (reply, "providers"), i, provider)
  {
    if (strcmp (json_member_text (provider, "state"), "failed") != 0)
      return TRUE;
  }
  return FALSE;
}

static int
cli_search_exit_code_of (const json_t *reply)
{
  if (json_is_true (json_object_get (reply, "interrupted")))
    return CLI_CANCELLED;
  return somebody_answered (reply) ? 0 : NOBODY_ANSWERED;
}

static void
show_found (const json_t *reply, const struct options *options)
{
  const json_t *rows = json_object_get (reply, "rows");
  gsize count = json_array_size (rows), most = options->all ? G_MAXSIZE : ROWS_SHOWN;
  materials_view_rows (rows, most);
  fflush (stdout);
  if (count > most)
    fprintf (stderr, "%sthe first %zu of %zu; --all shows the others too%s\n", cli_colour (stderr, CLI_DIM),
             most, count, cli_colour (stderr, CLI_PLAIN));
  materials_view_states (json_object_get (reply, "providers"));
  materials_view_warnings (json_object_get (reply, "warnings"));
  if (json_is_true (json_object_get (reply, "interrupted")))
    fprintf (stderr, "adder: interrupted: this is what had come\n");
}

static void
show_explained (const json_t *reply)
{
  gsize i;
  json_t *request;
  cli_print_line ("%s", json_member_text (reply, "filter"));
  json_array_foreach (json_object_get (reply, "requests"), i, request)
      cli_print_line ("%s: %s", json_member_text (request, "provider"), json_member_text (request, "url"));
}

static int
cli_search_show (const json_t *reply, const struct options *options)
{
  if (options->json)
    cli_print_json (reply);
  else if (options->explain)
    show_explained (reply);
  else
    show_found (reply, options);
  return options->explain ? 0 : cli_search_exit_code_of (reply);
}

/* ---- searching ---- */

static int
cli_search_search (const struct options *options)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) reply = NULL;
  struct tool_command command = {.toolset = TOOLSET,
                                 .tool = "search_materials",
                                 .arguments = materials_words_arguments (&options->words, &problem),
                                 .no_daemon = options->no_daemon};
  if (!command.arguments)
    return cli_fail_usage (problem);
  json_object_set_new (command.arguments, "raw", json_boolean (options->raw));
  json_object_set_new (command.arguments, "explain", json_boolean (options->explain));
  json_object_set_new (command.arguments, "rows", json_integer (MATERIALS_ROWS_MAX));
  int code = tool_command_call (&command, &reply);
  return reply ? cli_search_show (reply, options) : code;
}

static void
cli_search_print_names (const json_t *providers)
{
  gsize i;
  json_t *provider;
  json_array_foreach (providers, i, provider) cli_print_line ("%s", json_member_text (provider, "name"));
}

static int
list_providers (const struct options *options)
{
  g_autoptr (json_t) reply = NULL;
  struct tool_command command = {.toolset = TOOLSET,
                                 .tool = "list_materials_providers",
                                 .arguments = json_pack ("{s:b}", "refresh", options->refresh),
                                 .no_daemon = options->no_daemon};
  int code = tool_command_call (&command, &reply);
  if (!reply)
    return code;
  if (options->json)
    cli_print_json (reply);
  else if (options->names)
    cli_search_print_names (json_object_get (reply, "providers"));
  else {
    materials_view_providers (json_object_get (reply, "providers"));
    materials_view_warnings (json_object_get (reply, "warnings"));
  }
  return 0;
}

/* ---- the command ---- */

static int
run_providers (int argc, char **argv)
{
  struct options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"names", 0, 0, G_OPTION_ARG_NONE, &options.names, "Print the names alone", NULL},
      {"refresh", 0, 0, G_OPTION_ARG_NONE, &options.refresh, "Read the federation's index now", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Work in this process, without a daemon",
       NULL},
      {NULL},
  };
  return cli_parse (entries, 0, 0, &argc, &argv, &problem) ? list_providers (&options)
                                                           : cli_fail_usage (problem);
}

static int
run_search (int argc, char **argv)
{
  struct options options = {0};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry own[] = {
      {"raw", 0, 0, G_OPTION_ARG_NONE, &options.raw, "Include each database's whole entry, for --json", NULL},
      {"explain", 0, 0, G_OPTION_ARG_NONE, &options.explain, "Only show the requests, without sending them",
       NULL},
      {"all", 'a', 0, G_OPTION_ARG_NONE, &options.all, "Show all, not only the first 50", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object, with all of them", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Work in this process, without a daemon",
       NULL},
      {NULL},
  };
  g_autofree GOptionEntry *entries = materials_words_entries (&options.words, own, G_N_ELEMENTS (own));
  int code = cli_parse (entries, 0, 0, &argc, &argv, &problem) ? cli_search_search (&options)
                                                               : cli_fail_usage (problem);
  materials_words_clear (&options.words);
  return code;
}

static const struct cli_command commands[] = {
    {"providers", "", "list the databases of materials that can be asked", run_providers,
     .examples = "adder search providers"},
    {0},
};

int
cli_search (int argc, char **argv)
{
  int code;
  return cli_dispatch_optional ("adder search", commands->summary, commands, argc, argv, &code)
             ? code
             : run_search (argc, argv);
}
