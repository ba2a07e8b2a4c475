/* SPDX-License-Identifier: Apache-2.0 */
/* `adder doctor store`: where records and files are kept, and whether they are intact. */
#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/file_view.h"
#include "interfaces/socket/call_backend.h"

#define NOT_WHOLE                                                                                            \
  1 /* exit code: of check, when something is lost; of show, when something cannot be reached */

struct options {
  gboolean check, deep, force, json, no_daemon;
};

static json_t *
call_store (const char *operation, json_t *params, const struct options *options, GError **error)
{
  struct call_backend *backend = call_backend_new (options->no_daemon, error);
  json_t *answer = backend ? call_backend_operation (backend, operation, json_incref (params), error) : NULL;
  json_decref (params);
  call_backend_free (backend);
  return answer;
}

/* The place NAME in the answer is unavailable. */
static gboolean
is_away (const json_t *answer, const char *name)
{
  return json_is_string (json_object_get (json_object_get (answer, name), "problem"));
}

static int
cli_store_show (const struct options *options, GError **error)
{
  g_autoptr (json_t) answer = call_store ("store.show", json_object (), options, error);
  if (!answer)
    return -1;
  if (options->json)
    cli_print_json (answer);
  else
    file_view_store (answer);
  return is_away (answer, "records_at") || is_away (answer, "files_at") ? NOT_WHOLE : 0;
}

static int
store_check (const struct options *options, GError **error)
{
  json_t *params = json_pack ("{s:b, s:b}", "deep", options->deep, "force", options->force);
  g_autoptr (json_t) answer = call_store ("store.check", params, options, error);
  if (!answer)
    return -1;
  if (options->json)
    cli_print_json (answer);
  else
    file_view_check (answer);
  return json_is_true (json_object_get (answer, "healthy")) ? 0 : NOT_WHOLE;
}

int
cli_doctor_store (int argc, char **argv)
{
  struct options options = {0};
  const GOptionEntry entries[] = {
      {"check", 0, 0, G_OPTION_ARG_NONE, &options.check,
       "Finish what was broken off, and check that nothing is lost", NULL},
      {"deep", 0, 0, G_OPTION_ARG_NONE, &options.deep,
       "With --check: read all files, and compare their digests", NULL},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force,
       "With --check: forget files that are lost, and remove files that the database does not know, however "
       "many",
       NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Work in this process, without a daemon",
       NULL},
      {NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if ((options.deep || options.force) && !options.check) {
    g_set_error_literal (&problem, ADDER_ERROR, ADDER_ERROR_INVALID, "--deep and --force are for --check");
    return cli_fail_usage (problem);
  }
  int code = options.check ? store_check (&options, &problem) : cli_store_show (&options, &problem);
  return code < 0 ? cli_fail (problem) : code;
}
