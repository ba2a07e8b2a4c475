/* SPDX-License-Identifier: Apache-2.0 */
/* `adder file`: files that runs made, and files for runs. */
#include <stdio.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/file_get.h"
#include "interfaces/cli/file_put.h"
#include "interfaces/cli/view/file_view.h"
#include "interfaces/socket/call_backend.h"
#include "store/files.h"

#define ARGUMENTS_MAX  100000
#define LIMIT_STANDARD 100
#define PAGE_MAX       1000

struct options {
  char *owner, *conversation, *session, *run, *name, *out;
  int limit;
  gboolean all, outputs, force, json, no_daemon;
};

static void
cli_file_options_clear (struct options *options)
{
  char **texts[] = {&options->owner, &options->conversation, &options->session,
                    &options->run,   &options->name,         &options->out};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    g_clear_pointer (texts[i], g_free);
}

enum option_group {
  OPTIONS_LIST = 1 << 0,
  OPTIONS_PUT = 1 << 1,
  OPTIONS_GET = 1 << 2,
  OPTIONS_OWNER = 1 << 3,
  OPTIONS_JSON = 1 << 4,
};

/* GROUPS of them; the array is the caller's (g_free). */
static GOptionEntry *
cli_file_make_entries (struct options *options, guint groups)
{
  const struct {
    guint groups;
    GOptionEntry entry;
  } rows[] = {
      {OPTIONS_OWNER,
       {"owner", 0, 0, G_OPTION_ARG_FILENAME, &options->owner,
        "Objects of OWNER instead of your own; all: everybody's", "OWNER"}},
      {OPTIONS_LIST | OPTIONS_PUT,
       {"conversation", 0, 0, G_OPTION_ARG_FILENAME, &options->conversation, "Of the conversation", "ID"}},
      {OPTIONS_LIST,
       {"session", 's', 0, G_OPTION_ARG_FILENAME, &options->session, "Only objects of the session", "ID"}},
      {OPTIONS_LIST, {"run", 0, 0, G_OPTION_ARG_FILENAME, &options->run, "Only files of the run", "ID"}},
      {OPTIONS_LIST | OPTIONS_PUT,
       {"name", 0, 0, G_OPTION_ARG_FILENAME, &options->name, "With that name", "NAME"}},
      {OPTIONS_LIST, {"outputs", 0, 0, G_OPTION_ARG_NONE, &options->outputs, "Also list long output", NULL}},
      {OPTIONS_LIST,
       {"limit", 'n', 0, G_OPTION_ARG_INT, &options->limit,
        "Show at most N (default " G_STRINGIFY (LIMIT_STANDARD) ", maximum " G_STRINGIFY (
            FILES_LISTED_MAX) ")",
        "N"}},
      {OPTIONS_LIST, {"all", 'a', 0, G_OPTION_ARG_NONE, &options->all, "Show all", NULL}},
      {OPTIONS_GET,
       {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
        "Target: a file, a folder, or - for standard output (default: the current folder)", "PATH"}},
      {OPTIONS_GET, {"force", 0, 0, G_OPTION_ARG_NONE, &options->force, "Replace existing files", NULL}},
      {OPTIONS_JSON, {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print one JSON object", NULL}},
  };
  GArray *entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].groups & groups)
      g_array_append_val (entries, rows[i].entry);
  const GOptionEntry no_daemon = {
      "no-daemon", 0, 0, G_OPTION_ARG_NONE, &options->no_daemon, "Work in this process, without a daemon",
      NULL};
  g_array_append_val (entries, no_daemon);
  return (GOptionEntry *)(void *)g_array_free (entries, FALSE);
}

/* A command: its options, its number of arguments, and its function. */
struct command {
  guint groups;
  int least, most;
  /* The exit code, or -1 with ERROR. */
  int (*run) (struct call_backend *backend, const struct options *options, const char *const *arguments,
              GError **error);
};

static int
cli_file_carry_out (const struct command *command, int argc, char **argv)
{
  struct options options = {.limit = LIMIT_STANDARD};
  g_autofree GOptionEntry *entries = cli_file_make_entries (&options, command->groups);
  g_autoptr (GError) problem = NULL;
  int code = -1;
  if (!cli_parse (entries, command->least, command->most, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    struct call_backend *backend = call_backend_new (options.no_daemon, &problem);
    if (backend)
      code = command->run (backend, &options, (const char *const *)argv + 1, &problem);
    if (code < 0)
      code = cli_fail (problem);
    call_backend_free (backend);
  }
  cli_file_options_clear (&options);
  return code;
}

/* ---- list, show ---- */

static json_t *
cli_file_ask_page (struct call_backend *backend, const struct options *options, const char *before,
                   GError **error)
{
  json_t *params = json_pack ("{s:s*, s:s*, s:s*, s:s*, s:s*, s:s*, s:b, s:i}", "owner", options->owner,
                              "conversation", options->conversation, "session", options->session, "run_id",
                              options->run, "name", options->name, "before", before, "outputs",
                              options->outputs, "limit", options->all ? PAGE_MAX : options->limit);
  return call_backend_operation (backend, "file.list", params, error);
}

static int
cli_file_run_list (struct call_backend *backend, const struct options *options,
                   G_GNUC_UNUSED const char *const *arguments, GError **error)
{
  g_autoptr (json_t) answer = cli_file_ask_page (backend, options, NULL, error);
  json_t *files = json_object_get (answer, "files");
  while (answer && options->all && json_is_string (json_object_get (answer, "next"))) {
    g_autoptr (json_t) page =
        cli_file_ask_page (backend, options, json_string_value (json_object_get (answer, "next")), error);
    if (!page)
      return -1;
    json_array_extend (files, json_object_get (page, "files"));
    json_object_set (answer, "next", json_object_get (page, "next"));
  }
  if (!answer)
    return -1;
  if (options->json)
    cli_print_json (answer);
  else
    file_view_list (files, options->owner != NULL);
  if (!options->json && json_is_string (json_object_get (answer, "next")))
    fprintf (stderr, "%sthe newest %zu; --all shows the others too%s\n", cli_colour (stderr, CLI_DIM),
             json_array_size (files), cli_colour (stderr, CLI_PLAIN));
  return 0;
}

static int
cli_file_run_show (struct call_backend *backend, const struct options *options, const char *const *arguments,
                   GError **error)
{
  json_t *params = json_pack ("{s:s, s:s*}", "file", arguments[0], "owner", options->owner);
  g_autoptr (json_t) file = call_backend_operation (backend, "file.show", params, error);
  if (!file)
    return -1;
  if (options->json)
    cli_print_json (file);
  else
    file_view_one (file);
  return 0;
}

/* ---- put, get, rm ---- */

static int
run_put (struct call_backend *backend, const struct options *options, const char *const *arguments,
         GError **error)
{
  if (options->name && arguments[1]) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--name is for one file");
    return -1;
  }
  for (gsize i = 0; arguments[i]; i++)
    if (strcmp (arguments[i], "-") == 0 && !options->name) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "what comes from standard input needs a name: --name NAME");
      return -1;
    }
  const struct file_put put = {options->name, options->conversation, options->owner, options->json};
  guint failed = 0;
  g_autoptr (json_t) files = file_put (backend, &put, arguments, &failed, error);
  if (!files)
    return -1;
  if (options->json) {
    g_autoptr (json_t) answer = json_pack ("{s:O, s:i}", "files", files, "failed", (int)failed);
    cli_print_json (answer);
  }
  return failed > 0 ? CLI_FAILED : 0;
}

/* Applies STEP to each of ARGUMENTS; reports failures. */
static int
for_each (const char *const *arguments,
          gboolean (*step) (gpointer data, const char *argument, GError **error), gpointer data)
{
  int code = 0;
  for (; *arguments; arguments++) {
    g_autoptr (GError) problem = NULL;
    if (!step (data, *arguments, &problem))
      code = cli_fail (problem);
  }
  return code;
}

struct getting {
  struct call_backend *backend;
  struct file_get get;
};

static gboolean
get_one (gpointer data, const char *id, GError **error)
{
  struct getting *getting = data;
  g_autofree char *path = NULL;
  if (!file_get (getting->backend, &getting->get, id, &path, error))
    return FALSE;
  g_autofree char *shown = path ? g_filename_display_name (path) : NULL;
  if (shown)
    printf ("%s\n", shown);
  return TRUE;
}

static int
run_get (struct call_backend *backend, const struct options *options, const char *const *arguments,
         G_GNUC_UNUSED GError **error)
{
  struct getting getting = {
      backend,
      {.out = options->out, .owner = options->owner, .many = arguments[1] != NULL, .force = options->force}};
  return for_each (arguments, get_one, &getting);
}

struct removing {
  struct call_backend *backend;
  const char *owner;
};

static gboolean
remove_one (gpointer data, const char *id, GError **error)
{
  const struct removing *removing = data;
  json_t *params = json_pack ("{s:s, s:s*}", "file", id, "owner", removing->owner);
  g_autoptr (json_t) answer = call_backend_operation (removing->backend, "file.remove", params, error);
  return answer != NULL;
}

static int
cli_file_run_remove (struct call_backend *backend, const struct options *options,
                     const char *const *arguments, G_GNUC_UNUSED GError **error)
{
  struct removing removing = {backend, options->owner};
  return for_each (arguments, remove_one, &removing);
}

/* ---- the table ---- */

static int
cli_file_list (int argc, char **argv)
{
  static const struct command command = {OPTIONS_LIST | OPTIONS_OWNER | OPTIONS_JSON, 0, 0,
                                         cli_file_run_list};
  return cli_file_carry_out (&command, argc, argv);
}

static int
cli_file_show (int argc, char **argv)
{
  static const struct command command = {OPTIONS_OWNER | OPTIONS_JSON, 1, 1, cli_file_run_show};
  return cli_file_carry_out (&command, argc, argv);
}

static int
file_put_in (int argc, char **argv)
{
  static const struct command command = {OPTIONS_PUT | OPTIONS_OWNER | OPTIONS_JSON, 1, ARGUMENTS_MAX,
                                         run_put};
  return cli_file_carry_out (&command, argc, argv);
}

static int
file_get_out (int argc, char **argv)
{
  static const struct command command = {OPTIONS_GET | OPTIONS_OWNER, 1, ARGUMENTS_MAX, run_get};
  return cli_file_carry_out (&command, argc, argv);
}

static int
cli_file_remove (int argc, char **argv)
{
  static const struct command command = {OPTIONS_OWNER, 1, ARGUMENTS_MAX, cli_file_run_remove};
  return cli_file_carry_out (&command, argc, argv);
}

static const struct cli_command commands[] = {
    {"list", "[--run ID] [--name NAME] ...", "list stored files, newest first", cli_file_list,
     .examples = "adder file list --name '*.csv'"},
    {"put", "PATH... [--name NAME]", "store files, and those in folders; prints their ids", file_put_in,
     .examples = "adder file put sales.csv"},
    {"get", "FILE... [--out PATH]", "save files, each completely or not at all", file_get_out,
     .examples = "adder file get 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f --out results"},
    {"show", "FILE [--json]", "describe a file, with a URL for it", cli_file_show,
     .examples = "adder file show 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f"},
    {"rm", "FILE...", "remove files", cli_file_remove,
     .examples = "adder file rm 0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f"},
    {0},
};

int
cli_file (int argc, char **argv)
{
  return cli_dispatch ("adder file", "Files that runs created, and files for runs.", commands, argc, argv);
}
