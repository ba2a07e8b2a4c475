/* SPDX-License-Identifier: Apache-2.0 */
/* `adder review`: what runs with --review would change, and yes or no to it. */
#include <errno.h>
#include <fcntl.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/outcome.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/review_view.h"
#include "interfaces/socket/client.h"

static int
fail (const GError *problem)
{
  int code = cli_fail (problem);
  return g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY) ? outcome_exit_code (ADDER_OUTCOME_BUSY)
                                                                  : code;
}

static gboolean
parse (int *argc, char ***argv, int arguments, gboolean *json, GError **error)
{
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, json, "Print the answer as one JSON object", NULL}, {NULL}};
  return cli_parse (entries, arguments, arguments, argc, argv, error);
}

static int
review_list (int argc, char **argv)
{
  gboolean json = FALSE;
  g_autoptr (GError) problem = NULL;
  if (!parse (&argc, &argv, 0, &json, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) answer = client_call (NULL, "review.list", json_object (), &problem);
  if (!answer)
    return fail (problem);
  if (json)
    cli_print_json (answer);
  else
    review_view_list (json_object_get (answer, "reviews"));
  return 0;
}

static int
review_show (int argc, char **argv)
{
  gboolean json = FALSE;
  g_autoptr (GError) problem = NULL;
  if (!parse (&argc, &argv, 1, &json, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) answer =
      client_call (NULL, "review.show", json_pack ("{s:s}", "review", argv[1]), &problem);
  if (!answer)
    return fail (problem);
  if (json)
    cli_print_json (answer);
  else
    review_view_changes (stdout, json_object_get (answer, "changes"));
  return 0;
}

/* The directory of the review, opened by us: the daemon opens nothing in our name. */
static int
open_directory (const char *id, GError **error)
{
  g_autoptr (json_t) review = client_call (NULL, "review.show", json_pack ("{s:s}", "review", id), error);
  const char *path = json_string_value (json_object_get (review, "directory"));
  int fd = path ? open (path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (path && fd < 0) {
    g_autofree char *shown = text_one_line (path, -1);
    error_from_errno (error, errno, "cannot open the directory %s", shown);
  }
  return fd;
}

static int
settle (const char *operation, gboolean opens, int argc, char **argv)
{
  gboolean json = FALSE;
  g_autoptr (GError) problem = NULL;
  if (!parse (&argc, &argv, 1, &json, &problem))
    return cli_fail_usage (problem);
  autoclose int directory_fd = opens ? open_directory (argv[1], &problem) : -1;
  g_autoptr (json_t) answer = problem
                                  ? NULL
                                  : client_call_with (NULL, operation, json_pack ("{s:s}", "review", argv[1]),
                                                      directory_fd, NULL, &problem);
  if (!answer)
    return fail (problem);
  if (json)
    cli_print_json (answer);
  else {
    json_int_t files = json_integer_value (json_object_get (answer, "files"));
    printf ("%s: %" JSON_INTEGER_FORMAT " file%s\n", json_string_value (json_object_get (answer, "state")),
            files, files == 1 ? "" : "s");
  }
  return 0;
}

static int
review_commit (int argc, char **argv)
{
  return settle ("review.commit", TRUE, argc, argv);
}

static int
review_undo (int argc, char **argv)
{
  return settle ("review.undo", TRUE, argc, argv);
}

static int
review_drop (int argc, char **argv)
{
  return settle ("review.drop", FALSE, argc, argv);
}

static const struct cli_command commands[] = {
    {"list", "[--json]", "show what waits for a yes", review_list},
    {"show", "ID [--json]", "show what would be changed", review_show},
    {"commit", "ID [--json]", "make the changes", review_commit},
    {"finish", "ID [--json]", "go on where making them was broken off", review_commit},
    {"undo", "ID [--json]", "take back what was made before it was broken off", review_undo},
    {"drop", "ID [--json]", "say no", review_drop},
    {NULL, NULL, NULL, NULL},
};

int
cli_review (int argc, char **argv)
{
  return cli_dispatch ("adder review", "What runs would change in directories, and yes or no to it.",
                       commands, argc, argv);
}
