/* SPDX-License-Identifier: Apache-2.0 */
/* `adder history table`: a table that a run showed, as a file. */
#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/file_get.h"
#include "interfaces/socket/call_backend.h"

struct options {
  char *format, *out, *owner, *environment;
  gint64 table;
  gboolean force, json, no_daemon;
};

static void
cli_export_options_clear (struct options *options)
{
  g_free (options->format);
  g_free (options->out);
  g_free (options->owner);
  g_free (options->environment);
}

/* The file, as the store describes it. */
static json_t *
cli_export_ask (struct call_backend *backend, const struct options *options, const char *run_id,
                GError **error)
{
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, options->table);
  json_t *params = json_pack ("{s:s, s:s, s:s*, s:s*, s:s*}", "run", run_id, "number", number, "format",
                              options->format, "owner", options->owner, "environment", options->environment);
  return call_backend_operation (backend, "result.export", params, error);
}

static gboolean export(struct call_backend *backend, const struct options *options, const char *run_id,
                       GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (json_t) file = cli_export_ask (backend, options, run_id, error);
  const char *id = json_string_value (json_object_get (file, "file_id"));
  const struct file_get get = {
      .out = options->out ? options->out : "-", .owner = options->owner, .force = options->force};
  if (!file)
    return FALSE;
  if (options->json)
    cli_print_json (file);
  return (options->json && !options->out) || file_get (backend, &get, id ? id : "", &path, error);
}

int
cli_result_export (int argc, char **argv)
{
  struct options options = {.table = 1};
  const GOptionEntry entries[] = {
      {"table", 0, 0, G_OPTION_ARG_INT64, &options.table, "The number of the run's table (default: 1)", "N"},
      {"format", 0, 0, G_OPTION_ARG_FILENAME, &options.format, "csv (default), parquet or json", "FORMAT"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options.out,
       "Write to FILE, or into a folder, completely or not at all (default: standard output)", "FILE"},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force, "Replace an existing file in the folder", NULL},
      {"env", 'e', 0, G_OPTION_ARG_FILENAME, &options.environment,
       "The environment for the conversion, with pandas", "NAME"},
      {"owner", 0, 0, G_OPTION_ARG_FILENAME, &options.owner, "The run's owner (default: you; all: anybody)",
       "NAME"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print what the file is, not what it holds", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Do it in this process", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (options.table < 1) {
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "tables are counted from 1 (--table)");
    return cli_fail_usage (problem);
  }
  struct call_backend *backend = call_backend_new (options.no_daemon, &problem);
  gboolean done = backend && export(backend, &options, argv[1], &problem);
  call_backend_free (backend);
  cli_export_options_clear (&options);
  return done ? 0 : cli_fail (problem);
}
