/* SPDX-License-Identifier: Apache-2.0 */
/* `adder approval`: decisions about what waits for one: code that has not run yet, and changes of directories
 * that runs with --review would make. Changes are a review, which is kept on disk; while the daemon that ran
 * the code lives, they are also an approval under the same id. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/approval_view.h"
#include "interfaces/cli/view/cli_terminal.h"
#include "interfaces/cli/view/review_view.h"
#include "interfaces/socket/client.h"

static gboolean
is_of_changes (const json_t *approval)
{
  return strcmp (json_member_text (approval, "kind"), "changes") == 0;
}

/* ---- list ---- */

/* Approvals of code and reviews: approvals of changes appear as reviews. */
static void
cli_approval_view_list (const json_t *answer)
{
  g_autoptr (json_t) runs = json_array ();
  const json_t *reviews = json_object_get (answer, "reviews");
  gsize i;
  json_t *approval;
  json_array_foreach (json_object_get (answer, "approvals"), i, approval)
  {
    if (!is_of_changes (approval))
      json_array_append (runs, approval);
  }
  g_autoptr (json_t) of_runs = json_pack ("{s:O}", "approvals", runs);
  approval_view_list (of_runs);
  if (json_array_size (runs) > 0 && json_array_size (reviews) > 0)
    cli_print_line ("%s", "");
  review_view_list (reviews);
  if (json_array_size (runs) + json_array_size (reviews) == 0)
    cli_say_none ("approvals", NULL);
}

/* {"approvals", "reviews"}; without a daemon there are no approvals, and one is started for the reviews. NULL
 * with ERROR; the caller's. */
static json_t *
cli_approval_ask_list (GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) answer = client_call (NULL, "approval.list", json_object (), &problem);
  if (!answer && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  g_autoptr (json_t) reviews = client_call (NULL, "review.list", json_object (), error);
  if (!reviews)
    return NULL;
  if (!answer)
    answer = json_pack ("{s:[]}", "approvals");
  json_object_set (answer, "reviews", json_object_get (reviews, "reviews"));
  return g_steal_pointer (&answer);
}

static int
cli_approval_list (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) answer = cli_approval_ask_list (&problem);
  return operation_command_print (answer, problem, json, cli_approval_view_list);
}

/* ---- finding an id ---- */

/* The approval and the review with ID: both, for changes. The caller's. FALSE with ERROR: neither. */
static gboolean
cli_approval_find (const char *id, json_t **ret_approval, json_t **ret_review, GError **error)
{
  g_autoptr (GError) no_approval = NULL, no_review = NULL;
  g_autoptr (json_t) approval =
      client_call (NULL, "approval.show", json_pack ("{s:s}", "approval", id), &no_approval);
  if (no_approval && !g_error_matches (no_approval, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)) {
    g_propagate_error (error, g_steal_pointer (&no_approval));
    return FALSE;
  }
  *ret_review = approval && !is_of_changes (approval)
                    ? NULL
                    : client_call (NULL, "review.show", json_pack ("{s:s}", "review", id), &no_review);
  if (!approval && !*ret_review) {
    if (g_error_matches (no_review, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
      g_set_error (
          error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
          "there is no approval \"%s\": it was used or has expired, or never was (adder approval list)", id);
    else
      g_propagate_error (error, g_steal_pointer (&no_review));
    return FALSE;
  }
  *ret_approval = g_steal_pointer (&approval);
  return TRUE;
}

/* ---- show ---- */

/* The review, with additions from its approval. */
static json_t *
cli_approval_join (json_t *approval, json_t *review)
{
  if (!review)
    return json_incref (approval);
  json_t *whole = json_copy (review);
  if (approval)
    json_object_update_missing (whole, approval);
  return whole;
}

static int
cli_approval_show (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) approval = NULL, review = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (!cli_approval_find (argv[1], &approval, &review, &problem))
    return cli_fail (problem);
  if (json) {
    g_autoptr (json_t) whole = cli_approval_join (approval, review);
    cli_print_json (whole);
    return 0;
  }
  if (approval && review)
    json_object_del (approval, "review_id"); /* it would name this very command */
  if (approval)
    (void)approval_view_one (approval, 0, stdout);
  if (review)
    review_view_changes (stdout, json_object_get (review, "changes"));
  return 0;
}

/* ---- changes ---- */

/* The directory of REVIEW, opened by us: the daemon opens nothing on our behalf. */
static int
cli_approval_open_directory (const json_t *review, GError **error)
{
  const char *path = json_string_value (json_object_get (review, "directory"));
  int fd = path ? open (path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  if (path && fd < 0) {
    g_autofree char *shown = text_one_line (path, -1);
    error_from_errno (error, errno, "cannot open the directory %s", shown);
  }
  return fd;
}

/* Calls OPERATION with the review ID. The caller's. */
static json_t *
cli_approval_settle (const char *operation, const char *id, const json_t *review, GError **error)
{
  g_autoptr (GError) problem = NULL;
  autoclose int directory_fd = cli_approval_open_directory (review, &problem);
  if (problem) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return NULL;
  }
  return client_call_with (NULL, operation, json_pack ("{s:s}", "review", id), directory_fd, NULL, error);
}

static void
cli_approval_view_settled (const json_t *answer)
{
  json_int_t files = json_integer_value (json_object_get (answer, "files"));
  cli_print_line ("%s: %" JSON_INTEGER_FORMAT " file%s", json_member_text (answer, "state"), files,
                  files == 1 ? "" : "s");
}

/* Finishes or undoes an interrupted commit. */
static int
cli_approval_resume (const char *operation, int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  g_autoptr (json_t) review =
      client_call (NULL, "review.show", json_pack ("{s:s}", "review", argv[1]), &problem);
  g_autoptr (json_t) answer = review ? cli_approval_settle (operation, argv[1], review, &problem) : NULL;
  return operation_command_print (answer, problem, json, cli_approval_view_settled);
}

static int
cli_approval_finish (int argc, char **argv)
{
  return cli_approval_resume ("review.commit", argc, argv);
}

static int
cli_approval_undo (int argc, char **argv)
{
  return cli_approval_resume ("review.undo", argc, argv);
}

/* ---- yes and no ---- */

static int
cli_approval_tell (const json_t *answer, const GError *problem, gboolean json, const char *sentence)
{
  if (answer && !json)
    printf ("%s\n", sentence);
  return operation_command_print (answer, problem, json, NULL);
}

static int
cli_approval_approve (int argc, char **argv)
{
  gboolean json = FALSE, always = FALSE;
  const GOptionEntry entries[] = {
      {"always", 0, 0, G_OPTION_ARG_NONE, &always,
       "Also approve later requests of its conversation with the same profile, environment and directory",
       NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) approval = NULL, review = NULL, answer = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (!cli_approval_find (argv[1], &approval, &review, &problem))
    return cli_fail (problem);
  if (review && !always)
    answer = cli_approval_settle ("review.commit", argv[1], review, &problem);
  else
    answer = client_call (NULL, "approval.approve",
                          json_pack ("{s:s, s:b}", "approval", argv[1], "always", always), &problem);
  return cli_approval_tell (answer, problem, json,
                            always ? "approved, and all else that its conversation asks for in the same place"
                            : review ? "approved: the changes were made"
                                     : "approved: the same request now runs once");
}

static int
cli_approval_deny (int argc, char **argv)
{
  gboolean json = FALSE;
  g_autofree char *reason = NULL;
  const GOptionEntry entries[] = {
      {"reason", 0, 0, G_OPTION_ARG_FILENAME, &reason, "The reason, which the caller sees", "TEXT"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) approval = NULL, review = NULL, answer = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  if (!cli_approval_find (argv[1], &approval, &review, &problem))
    return cli_fail (problem);
  if (approval && (reason || !review))
    answer = client_call (NULL, "approval.deny",
                          json_pack ("{s:s, s:s*}", "approval", argv[1], "reason", reason), &problem);
  else
    answer = client_call (NULL, "review.drop", json_pack ("{s:s}", "review", argv[1]), &problem);
  if (answer && reason && !approval)
    fprintf (stderr, "adder: the reason was not recorded: the process that ran the code has ended\n");
  return cli_approval_tell (answer, problem, json, "denied");
}

/* ---- the table ---- */

#define SOME_ID "0198f7a2-5b1c-7d3e-8f40-2a6b9c1d0e5f"

static const struct cli_command approval_commands[] = {
    {"list", "", "list pending approvals and recent decisions", cli_approval_list,
     .examples = "adder approval list"},
    {"show", "ID", "show the pending code or changes, with everything that the decision covers",
     cli_approval_show, .examples = "adder approval show " SOME_ID},
    {"approve", "ID", "approve: the code may run once, or the changes are made", cli_approval_approve,
     .examples = "adder approval approve " SOME_ID},
    {"deny", "ID", "deny a request, with a reason; changes are dropped", cli_approval_deny,
     .examples = "adder approval deny " SOME_ID " --reason 'deletes too much'"},
    {"finish", "ID", "make the remaining changes after an interruption", cli_approval_finish,
     .examples = "adder approval finish " SOME_ID},
    {"undo", "ID", "undo the changes made before the interruption", cli_approval_undo,
     .examples = "adder approval undo " SOME_ID},
    {0},
};

int
cli_approval (int argc, char **argv)
{
  return cli_dispatch ("adder approval", "Approves or denies code, and changes to directories.",
                       approval_commands, argc, argv);
}
