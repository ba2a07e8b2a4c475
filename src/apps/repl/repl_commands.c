/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/repl/repl_commands.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/view/session_view.h"

struct repl_command {
  const char *name, *arguments, *summary;
  /* ARGUMENT is "" where there is none. */
  gboolean (*carry_out) (struct repl *repl, const char *argument, GError **error);
};

static gboolean show_help (struct repl *repl, const char *argument, GError **error);

static gboolean
show_variables (struct repl *repl, const char *argument, GError **error)
{
  json_t *params = argument[0] ? json_pack ("{s:[s]}", "names", argument) : NULL;
  g_autoptr (json_t) answer = repl_call (repl, "session.variables", params, error);
  if (answer && argument[0] && json_array_size (json_object_get (answer, "variables")) == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no variable \"%s\"", argument);
    return FALSE;
  }
  if (answer)
    session_view_variables (answer);
  return answer != NULL;
}

static gboolean
repl_reset (struct repl *repl, G_GNUC_UNUSED const char *argument, GError **error)
{
  g_autoptr (json_t) answer = repl_call (repl, "session.reset", NULL, error);
  return answer != NULL;
}

static gboolean
make_checkpoint (struct repl *repl, const char *argument, GError **error)
{
  json_t *params = argument[0] ? json_pack ("{s:s}", "name", argument) : NULL;
  g_autoptr (json_t) answer = repl_call (repl, "session.checkpoint", params, error);
  if (answer)
    cli_print_line ("%s", json_member_text (answer, "checkpoint_id"));
  return answer != NULL;
}

/* The newest of the session's checkpoints; the caller's. */
static char *
newest_checkpoint (const struct repl *repl, GError **error)
{
  g_autoptr (json_t) answer = repl_call (repl, "session.checkpoints", NULL, error);
  const json_t *list = json_object_get (answer, "checkpoints");
  if (answer && json_array_size (list) == 0)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                         "there is no checkpoint; :checkpoint makes one");
  if (json_array_size (list) == 0)
    return NULL;
  return g_strdup (json_member_text (json_array_get (list, json_array_size (list) - 1), "checkpoint_id"));
}

static gboolean
roll_back (struct repl *repl, const char *argument, GError **error)
{
  g_autofree char *checkpoint = argument[0] ? g_strdup (argument) : newest_checkpoint (repl, error);
  g_autoptr (json_t) answer =
      checkpoint ? repl_call (repl, "session.rollback", json_pack ("{s:s}", "checkpoint", checkpoint), error)
                 : NULL;
  return answer != NULL;
}

static gboolean
repl_quit (struct repl *repl, G_GNUC_UNUSED const char *argument, G_GNUC_UNUSED GError **error)
{
  repl->leaving = TRUE;
  return TRUE;
}

static const struct repl_command repl_commands[] = {
    {"help", "", "show this", show_help},
    {"vars", "[NAME]", "list the variables; NAME: show its value", show_variables},
    {"reset", "", "forget the variables; files stay", repl_reset},
    {"checkpoint", "[NAME]", "make a checkpoint to roll back to", make_checkpoint},
    {"rollback", "[NAME]", "put variables and files back to a checkpoint (default: the newest)", roll_back},
    {"quit", "", "leave; a session without a name ends (Ctrl-D does the same)", repl_quit},
};

static gboolean
show_help (G_GNUC_UNUSED struct repl *repl, G_GNUC_UNUSED const char *argument, G_GNUC_UNUSED GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (repl_commands); i++) {
    g_autofree char *typed = g_strconcat (repl_commands[i].name, " ", repl_commands[i].arguments, NULL);
    printf ("  :%-18s %s\n", typed, repl_commands[i].summary);
  }
  fputs ("  Tab completes. A blank line ends a block. Ctrl-C interrupts a cell, or drops what is typed.\n",
         stdout);
  return TRUE;
}

static const struct repl_command *
repl_commands_find (const char *name, GError **error)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (gsize i = 0; i < G_N_ELEMENTS (repl_commands); i++) {
    if (strcmp (repl_commands[i].name, name) == 0)
      return &repl_commands[i];
    text_consider (&guess, name, repl_commands[i].name);
  }
  g_autofree char *shown = text_one_line (name, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "there is no command :%s%s%s%s", shown,
               guess.best ? "; did you mean :" : "; :help lists them", guess.best ? guess.best : "",
               guess.best ? "?" : "");
  return NULL;
}

gboolean
repl_commands_leave (const char *line)
{
  static const char *const words[] = {"exit", "exit()", "quit", "quit()", NULL};
  return g_strv_contains (words, line);
}

void
repl_commands_carry_out (struct repl *repl, const char *line)
{
  const char *typed = line[0] == ':' ? line + 1 : "quit";
  gsize length = strcspn (typed, " \t\n");
  g_autofree char *name = g_strndup (typed, length), *argument = g_strstrip (g_strdup (typed + length));
  g_autoptr (GError) problem = NULL;
  const struct repl_command *command = repl_commands_find (name, &problem);
  if (!command || !command->carry_out (repl, argument, &problem))
    (void)cli_fail (problem);
  fflush (stdout);
}

GStrv
repl_commands_names (void)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (repl_commands); i++) {
    g_autofree char *name = g_strconcat (":", repl_commands[i].name, NULL);
    g_strv_builder_add (names, name);
  }
  return g_strv_builder_end (names);
}
