/* SPDX-License-Identifier: Apache-2.0 */
/* `adder data`: tables kept by name. Each command calls a tool. */
#include <stdio.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/file_get.h"
#include "interfaces/cli/file_put.h"
#include "interfaces/cli/materials_words.h"
#include "interfaces/cli/tool_command.h"
#include "interfaces/cli/view/data_view.h"
#include "interfaces/cli/view/materials_view.h"

#define TOOLSET       "workbench"
#define ARGUMENTS_MAX 10000
#define LISTED_MAX    1000

struct options {
  char *name, *format, *out, *table;
  int rows;
  gboolean versions, keep_versions, force, json, no_daemon;
};

static void
cli_data_options_clear (struct options *options)
{
  g_free (options->name);
  g_free (options->table);
  g_free (options->format);
  g_free (options->out);
}

enum option_group {
  OPTIONS_LIST = 1 << 0,
  OPTIONS_HEAD = 1 << 1,
  OPTIONS_EXPORT = 1 << 2,
  OPTIONS_PUT = 1 << 3,
  OPTIONS_JSON = 1 << 4,
  OPTIONS_IMPORT = 1 << 5,
};

/* GROUPS of them; the array is the caller's (g_free). */
static GOptionEntry *
cli_data_make_entries (struct options *options, guint groups)
{
  const struct {
    guint groups;
    GOptionEntry entry;
  } rows[] = {
      {OPTIONS_LIST,
       {"versions", 0, 0, G_OPTION_ARG_NONE, &options->versions, "Show earlier versions as well", NULL}},
      {OPTIONS_HEAD,
       {"rows", 'n', 0, G_OPTION_ARG_INT, &options->rows, "Show at most N (default 5, maximum 100)", "N"}},
      {OPTIONS_EXPORT,
       {"format", 0, 0, G_OPTION_ARG_FILENAME, &options->format, "csv, json or parquet (csv)", "FORMAT"}},
      {OPTIONS_EXPORT,
       {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
        "Target: a file, a folder, or - for standard output (default: the current folder)", "PATH"}},
      {OPTIONS_EXPORT, {"force", 0, 0, G_OPTION_ARG_NONE, &options->force, "Replace existing files", NULL}},
      {OPTIONS_PUT,
       {"name", 0, 0, G_OPTION_ARG_FILENAME, &options->name,
        "The name of the data set (default: that of the file, without its extension)", "NAME"}},
      {OPTIONS_IMPORT,
       {"table", 0, 0, G_OPTION_ARG_FILENAME, &options->table,
        "The sheet of a workbook, or table or view of a database, if there are several", "NAME"}},
      {OPTIONS_PUT,
       {"keep-versions", 0, 0, G_OPTION_ARG_NONE, &options->keep_versions,
        "Keep the current data set of that name as an earlier version", NULL}},
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

/* A command: its options, its number of arguments, and its function: the exit code. */
struct command {
  guint groups;
  int least, most;
  int (*run) (const struct options *options, const char *const *arguments);
};

static int
cli_data_carry_out (const struct command *command, int argc, char **argv)
{
  struct options options = {.rows = 5};
  g_autofree GOptionEntry *entries = cli_data_make_entries (&options, command->groups);
  g_autoptr (GError) problem = NULL;
  int code = cli_parse (entries, command->least, command->most, &argc, &argv, &problem)
                 ? command->run (&options, (const char *const *)argv + 1)
                 : cli_fail_usage (problem);
  cli_data_options_clear (&options);
  return code;
}

/* Takes ARGUMENTS over. */
static int
cli_data_call_tool (const struct options *options, const char *tool, json_t *arguments, json_t **ret_reply)
{
  struct tool_command command = {
      .toolset = TOOLSET, .tool = tool, .arguments = arguments, .no_daemon = options->no_daemon};
  return tool_command_call (&command, ret_reply);
}

/* A temporary file of the store, put in or exported on the way, no longer needed. */
static void
forget_file (struct call_backend *backend, const char *id)
{
  json_decref (call_backend_operation (backend, "file.remove", json_pack ("{s:s}", "file", id), NULL));
}

/* ---- list, show, head ---- */

static int
cli_data_run_list (const struct options *options, G_GNUC_UNUSED const char *const *arguments)
{
  g_autoptr (json_t) reply = NULL;
  int code = cli_data_call_tool (
      options, "list_datasets",
      json_pack ("{s:b, s:i}", "all_versions", options->versions, "limit", LISTED_MAX), &reply);
  if (reply && options->json)
    cli_print_json (reply);
  else if (reply)
    data_view_list (json_object_get (reply, "datasets"));
  return code;
}

static int
cli_data_run_show (const struct options *options, const char *const *arguments)
{
  g_autoptr (json_t) reply = NULL;
  int code = cli_data_call_tool (options, "show_dataset",
                                 json_pack ("{s:s, s:i}", "dataset", arguments[0], "head", 0), &reply);
  if (reply && options->json)
    cli_print_json (json_object_get (reply, "facts"));
  else if (reply)
    data_view_one (json_object_get (reply, "facts"));
  return code;
}

static int
run_head (const struct options *options, const char *const *arguments)
{
  g_autoptr (json_t) reply = NULL;
  int code =
      cli_data_call_tool (options, "show_dataset",
                          json_pack ("{s:s, s:i}", "dataset", arguments[0], "head", options->rows), &reply);
  g_autoptr (json_t) answer = reply ? json_pack ("{s:O}", "rows", json_object_get (reply, "head")) : NULL;
  if (answer && options->json)
    cli_print_json (answer);
  else if (answer)
    data_view_rows (json_object_get (answer, "rows"));
  return code;
}

/* ---- export ---- */

static int
cli_data_write_out (const struct options *options, const json_t *reply)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *path = NULL;
  const char *id = json_member_text (reply, "file_id");
  const struct file_get get = {.out = options->out, .force = options->force};
  struct call_backend *backend = call_backend_new (options->no_daemon, &problem);
  gboolean ok = backend && file_get (backend, &get, id, &path, &problem);
  if (backend)
    forget_file (backend, id);
  call_backend_free (backend);
  if (!ok)
    return cli_fail (problem);
  g_autofree char *shown = path ? g_filename_display_name (path) : NULL;
  if (shown)
    printf ("%s\n", shown);
  return 0;
}

static int
cli_data_run_export (const struct options *options, const char *const *arguments)
{
  g_autoptr (json_t) reply = NULL;
  int code = cli_data_call_tool (
      options, "export_dataset",
      json_pack ("{s:s, s:s*}", "dataset", arguments[0], "format", options->format), &reply);
  return reply ? cli_data_write_out (options, reply) : code;
}

/* ---- import ---- */

struct importing {
  const char *path;
  char *file_id; /* once it is put in */
};

static gboolean
put_in (struct call_backend *backend, json_t *arguments, gpointer data, GError **error)
{
  struct importing *importing = data;
  const char *const paths[] = {importing->path, NULL};
  const struct file_put put = {.quiet = TRUE};
  guint failed = 0;
  g_autoptr (json_t) files = file_put (backend, &put, paths, &failed, error);
  if (!files)
    return FALSE;
  if (failed > 0 || json_array_size (files) != 1) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "a data set is made of one file");
    return FALSE;
  }
  importing->file_id = g_strdup (json_member_text (json_array_get (files, 0), "file_id"));
  json_object_set_new (arguments, "file_id", json_string (importing->file_id));
  return TRUE;
}

static void
show_made_line (const json_t *reply)
{
  g_autofree char *name = text_one_line (json_member_text (reply, "name"), -1);
  printf ("%s:%" JSON_INTEGER_FORMAT "\t%" JSON_INTEGER_FORMAT " rows\n", name,
          json_integer_value (json_object_get (reply, "version")),
          json_integer_value (json_object_get (reply, "rows")));
}

static void
show_made (const struct options *options, const json_t *reply)
{
  if (options->json)
    cli_print_json (reply);
  else
    show_made_line (reply);
}

static void
show_assumed (const struct options *options, const json_t *reply)
{
  gsize index;
  json_t *sentence;
  json_array_foreach (json_object_get (reply, "assumed"), index, sentence)
  {
    if (!options->json)
      cli_write_line (stderr, "adder: %s", json_string_value (sentence));
  }
}

static int
run_import (const struct options *options, const char *const *arguments)
{
  g_autoptr (json_t) reply = NULL;
  struct importing importing = {.path = arguments[0]};
  struct tool_command command = {.toolset = TOOLSET,
                                 .tool = "import_dataset",
                                 .arguments =
                                     json_pack ("{s:s*, s:s*, s:b}", "name", options->name, "table",
                                                options->table, "keep_versions", options->keep_versions),
                                 .no_daemon = options->no_daemon,
                                 .prepare = put_in,
                                 .data = &importing};
  int code = tool_command_call (&command, &reply);
  if (importing.file_id) {
    struct call_backend *backend = call_backend_new (options->no_daemon, NULL);
    if (backend)
      forget_file (backend, importing.file_id);
    call_backend_free (backend);
  }
  g_free (importing.file_id);
  if (reply) {
    show_made (options, reply);
    show_assumed (options, reply);
  }
  return code;
}

/* ---- collect ---- */

/* With WORDS, and under the name in OPTIONS. */
static int
cli_data_collect (const struct options *options, const struct materials_words *words, gboolean raw)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) reply = NULL;
  json_t *arguments = materials_words_arguments (words, &problem);
  if (!arguments)
    return cli_fail (problem);
  json_object_set_new (arguments, "name", json_text_or_null (options->name));
  json_object_set_new (arguments, "raw", json_boolean (raw));
  json_object_set_new (arguments, "keep_versions", json_boolean (options->keep_versions));
  int code = cli_data_call_tool (options, "collect_dataset", arguments, &reply);
  if (!reply)
    return code;
  if (!options->json) {
    materials_view_states (json_object_get (reply, "providers"));
    materials_view_warnings (json_object_get (reply, "warnings"));
    if (json_is_true (json_object_get (reply, "interrupted")))
      fprintf (stderr, "adder: interrupted: the data set has what had come by then\n");
  }
  show_made (options, reply);
  return code;
}

static int
data_collect (int argc, char **argv)
{
  struct options options = {0};
  struct materials_words words = {0};
  gboolean raw = FALSE;
  const GOptionEntry own[] = {
      {"name", 0, 0, G_OPTION_ARG_FILENAME, &options.name, "The name of the data set", "NAME"},
      {"raw", 0, 0, G_OPTION_ARG_NONE, &raw, "Keep each database's whole entry", NULL},
      {"keep-versions", 0, 0, G_OPTION_ARG_NONE, &options.keep_versions,
       "Keep the current data set of that name as an earlier version", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Work in this process, without a daemon",
       NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
  };
  g_autofree GOptionEntry *entries = materials_words_entries (&words, own, G_N_ELEMENTS (own));
  g_autoptr (GError) problem = NULL;
  int code;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (!options.name) {
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "the data set needs a name: --name NAME");
    code = cli_fail_usage (problem);
  } else
    code = cli_data_collect (&options, &words, raw);
  materials_words_clear (&words);
  cli_data_options_clear (&options);
  return code;
}

/* ---- remove ---- */

static int
cli_data_run_remove (const struct options *options, const char *const *arguments)
{
  int code = 0;
  for (; *arguments; arguments++) {
    g_autoptr (json_t) reply = NULL;
    int one =
        cli_data_call_tool (options, "remove_dataset", json_pack ("{s:s}", "dataset", *arguments), &reply);
    if (one != 0)
      code = one;
  }
  return code;
}

/* ---- the table ---- */

static int
data_list (int argc, char **argv)
{
  static const struct command command = {OPTIONS_LIST | OPTIONS_JSON, 0, 0, cli_data_run_list};
  return cli_data_carry_out (&command, argc, argv);
}

static int
data_show (int argc, char **argv)
{
  static const struct command command = {OPTIONS_JSON, 1, 1, cli_data_run_show};
  return cli_data_carry_out (&command, argc, argv);
}

static int
data_head (int argc, char **argv)
{
  static const struct command command = {OPTIONS_HEAD | OPTIONS_JSON, 1, 1, run_head};
  return cli_data_carry_out (&command, argc, argv);
}

static int
data_export (int argc, char **argv)
{
  static const struct command command = {OPTIONS_EXPORT, 1, 1, cli_data_run_export};
  return cli_data_carry_out (&command, argc, argv);
}

static int
data_import (int argc, char **argv)
{
  static const struct command command = {OPTIONS_PUT | OPTIONS_IMPORT | OPTIONS_JSON, 1, 1, run_import};
  return cli_data_carry_out (&command, argc, argv);
}

static int
data_remove (int argc, char **argv)
{
  static const struct command command = {0, 1, ARGUMENTS_MAX, cli_data_run_remove};
  return cli_data_carry_out (&command, argc, argv);
}

static const struct cli_command commands[] = {
    {"collect", "--name NAME --elements Ti,O ...", "search databases of materials, and save the answers",
     data_collect, .examples = "adder data collect --name oxides --elements Ti,O --limit 50"},
    {"list", "[--versions] [--json]", "list data sets", data_list, .examples = "adder data list --versions"},
    {"show", "NAME[:VERSION] [--json]", "describe a data set", data_show,
     .examples = "adder data show oxides"},
    {"head", "NAME[:VERSION] [-n N]", "show the first rows of a data set", data_head,
     .examples = "adder data head oxides -n 5"},
    {"import", "FILE [--name NAME] [--table NAME]", "create a data set from a table", data_import,
     .examples = "adder data import sales.csv --name sales"},
    {"export", "NAME[:VERSION] [--format csv]", "export a data set to a file: CSV, JSON or Parquet",
     data_export, .examples = "adder data export sales --format csv --out sales.csv"},
    {"rm", "NAME[:VERSION]...", "remove data sets", data_remove, .examples = "adder data rm sales"},
    {0},
};

int
cli_data (int argc, char **argv)
{
  return cli_dispatch ("adder data", "Data sets: tables stored under names.", commands, argc, argv);
}
