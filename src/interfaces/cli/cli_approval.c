/* SPDX-License-Identifier: Apache-2.0 */
/* `adder approval`: those who say yes or no to what waits for it. None of it starts a daemon. */
#include "adder.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/approval_view.h"
#include "interfaces/socket/client.h"

static void
view_whole (const json_t *answer)
{
  (void)approval_view_one (answer, 0, stdout);
}

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
       "Also all else that its conversation asks for with the same profile, environment and directory", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  json_t *params = json_pack ("{s:s, s:b}", "approval", argv[1], "always", always);
  g_autoptr (json_t) answer = client_call (NULL, "approval.approve", params, &problem);
  const char *kind = json_string_value (json_object_get (answer, "kind"));
  gboolean is_review = g_strcmp0 (kind, "changes") == 0;
  return cli_approval_tell (answer, problem, json,
                            always ? "approved, and all else that its conversation asks for in the same place"
                            : is_review ? "approved: the changes were made"
                                        : "approved: it runs when it is asked for again");
}

static int
cli_approval_deny (int argc, char **argv)
{
  gboolean json = FALSE;
  g_autofree char *reason = NULL;
  const GOptionEntry entries[] = {
      {"reason", 0, 0, G_OPTION_ARG_FILENAME, &reason, "Why; who asked is told", "TEXT"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 1, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  json_t *params = json_pack ("{s:s, s:s*}", "approval", argv[1], "reason", reason);
  g_autoptr (json_t) answer = client_call (NULL, "approval.deny", params, &problem);
  return cli_approval_tell (answer, problem, json, "denied");
}

static const struct cli_command approval_commands[] = {
    {"list", "", "list what waits for an approval, and what was decided lately",
     ASKS ("approval.list", {NULL}, 0, approval_view_list, .empty = "approvals")},
    {"show", "ID", "show the code that waits, and all else that a yes would be for",
     ASKS ("approval.show", {"approval"}, 1, view_whole)},
    {"approve", "ID", "say yes: it may run once", cli_approval_approve},
    {"deny", "ID", "say no, with a reason", cli_approval_deny},
    {0},
};

int
cli_approval (int argc, char **argv)
{
  return cli_dispatch ("adder approval", "Says yes or no to code that waits for it.", approval_commands, argc,
                       argv);
}
