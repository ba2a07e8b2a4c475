/* SPDX-License-Identifier: Apache-2.0 */
/* `adder store`: where records and files are kept, and whether they are whole. */
#include "adder.h"
#include "common/json.h"
#include "frontends/call_target.h"
#include "frontends/cli.h"
#include "frontends/file_view.h"

#define NOT_WHOLE                                                                                            \
  1 /* exit code: of check, when something is lost; of show, when something cannot be reached */

struct options {
  gboolean deep, force, json, no_daemon;
};

static json_t *
ask (json_t *question, const struct options *options, GError **error)
{
  g_autoptr (json_t) owned = question;
  struct call_target *target = call_target_new (options->no_daemon, error);
  json_t *answer = target ? call_target_ask_store (target, owned, NULL, 0, NULL, error) : NULL;
  call_target_free (target);
  return answer;
}

/* The place NAME of the answer is away. */
static gboolean
is_away (const json_t *answer, const char *name)
{
  return json_is_string (json_object_get (json_object_get (answer, name), "problem"));
}

static int
store_show (int argc, char **argv)
{
  struct options options = {0};
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Look in this very process", NULL},
      {NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) answer = ask (json_pack ("{s:s}", "op", "store.show"), &options, &problem);
  if (!answer)
    return cli_fail (problem);
  if (options.json)
    cli_print_json (answer);
  else
    file_view_store (answer);
  return is_away (answer, "records_at") || is_away (answer, "files_at") ? NOT_WHOLE : 0;
}

static int
store_check (int argc, char **argv)
{
  struct options options = {0};
  const GOptionEntry entries[] = {
      {"deep", 0, 0, G_OPTION_ARG_NONE, &options.deep, "Read all files, and compare their digests", NULL},
      {"force", 0, 0, G_OPTION_ARG_NONE, &options.force,
       "Forget files that are lost, and remove files that the database does not know, however many", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
      {"no-daemon", 0, 0, G_OPTION_ARG_NONE, &options.no_daemon, "Look in this very process", NULL},
      {NULL}};
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  json_t *question =
      json_pack ("{s:s, s:b, s:b}", "op", "store.check", "deep", options.deep, "force", options.force);
  g_autoptr (json_t) answer = ask (question, &options, &problem);
  if (!answer)
    return cli_fail (problem);
  if (options.json)
    cli_print_json (answer);
  else
    file_view_check (answer);
  return json_is_true (json_object_get (answer, "healthy")) ? 0 : NOT_WHOLE;
}

static const struct cli_command commands[] = {
    {"show", "[--json]", "show where records and files are kept, and how full it is", store_show},
    {"check", "[--deep] [--force] [--json]", "finish what was broken off, and check that nothing is lost",
     store_check},
    {NULL, NULL, NULL, NULL},
};

int
cli_store (int argc, char **argv)
{
  return cli_dispatch ("adder store", "Where records and files are kept, and whether they are whole.",
                       commands, argc, argv);
}
