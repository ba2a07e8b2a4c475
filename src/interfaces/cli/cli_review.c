/* SPDX-License-Identifier: Apache-2.0 */
/* `adder review`: what runs with --review would change, and yes or no to it. */
#include <errno.h>
#include <fcntl.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/review_view.h"
#include "interfaces/socket/client.h"

static void
view_list (const json_t *answer)
{
  review_view_list (json_object_get (answer, "reviews"));
}

static void
view_changes (const json_t *answer)
{
  review_view_changes (stdout, json_object_get (answer, "changes"));
}

static void
view_settled (const json_t *answer)
{
  json_int_t files = json_integer_value (json_object_get (answer, "files"));
  cli_print_line ("%s: %" JSON_INTEGER_FORMAT " file%s", json_member_text (answer, "state"), files,
                  files == 1 ? "" : "s");
}

/* The directory of the review, opened by us: the daemon opens nothing in our name. */
static int
cli_review_open_directory (const char *id, GError **error)
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
settle_here (const char *operation, int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  autoclose int directory_fd = cli_review_open_directory (argv[1], &problem);
  g_autoptr (json_t) answer = problem
                                  ? NULL
                                  : client_call_with (NULL, operation, json_pack ("{s:s}", "review", argv[1]),
                                                      directory_fd, NULL, &problem);
  return operation_command_print (answer, problem, json, view_settled);
}

static int
cli_review_commit (int argc, char **argv)
{
  return settle_here ("review.commit", argc, argv);
}

static int
cli_review_undo (int argc, char **argv)
{
  return settle_here ("review.undo", argc, argv);
}

static const struct cli_command commands[] = {
    {"list", "[--json]", "list what awaits approval", ASKS ("review.list", {NULL}, 0, view_list)},
    {"show", "ID [--json]", "show what would be changed", ASKS ("review.show", {"review"}, 1, view_changes)},
    {"commit", "ID [--json]", "make the changes", cli_review_commit},
    {"finish", "ID [--json]", "resume a commit that was interrupted", cli_review_commit},
    {"undo", "ID [--json]", "take back what an interrupted commit had changed", cli_review_undo},
    {"drop", "ID [--json]", "say no", ASKS ("review.drop", {"review"}, 1, view_settled)},
    {NULL, NULL, NULL, NULL},
};

int
cli_review (int argc, char **argv)
{
  return cli_dispatch ("adder review", "What runs would change in directories, and yes or no to it.",
                       commands, argc, argv);
}
