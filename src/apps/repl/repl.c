/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/repl/repl.h"

#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "apps/repl/incomplete.h"
#include "apps/repl/repl_commands.h"
#include "apps/repl/repl_words.h"
#include "common/json.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/cli_run.h"
#include "interfaces/cli/run_options.h"
#include "interfaces/socket/client.h"

json_t *
repl_call (const struct repl *repl, const char *operation, json_t *params, GError **error)
{
  json_t *all = params ? params : json_object ();
  json_object_set_new (all, "session", json_string (repl->session));
  return client_call (NULL, operation, all, error);
}

/* ---- signals ---- */

static void
repl_end_session (const struct repl *repl)
{
  if (!repl->own)
    return;
  json_decref (repl_call (repl, "session.end", NULL, NULL));
}

/* Somebody ends the program in the middle of a line: the terminal must not be left as the editor has it. */
static void
repl_end_typing (struct event_source *source)
{
  const struct repl *repl =
      (const struct repl *)(const void *)((const char *)source - G_STRUCT_OFFSET (struct repl, typing));
  lines_restore (repl->lines);
  repl_end_session (repl);
  _exit (CLI_CANCELLED);
}

static gboolean
repl_interrupt_nothing (G_GNUC_UNUSED struct event_source *source)
{
  return FALSE;
}

/* What signals were for is over; one that was no Ctrl-C wants the program to end. */
static void
repl_rest (struct repl *repl)
{
  if (signal_handler_reset (repl->signals))
    return;
  repl->leaving = TRUE;
  repl->code = CLI_CANCELLED;
}

/* ---- a cell ---- */

/* A cell that failed may have ended its session, which nothing brings back. */
static void
look_at_session (struct repl *repl)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) session = repl_call (repl, "session.show", NULL, &problem);
  gboolean ended = session && strcmp (json_member_text (session, "state"), "ended") == 0;
  if (session && !ended)
    return;
  if (ended)
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the session has ended (%s), and its variables with it",
                 json_member_text (session, "reason"));
  repl->code = cli_fail (problem);
  repl->leaving = TRUE;
  repl->own = FALSE;
}

static void
run_cell (struct repl *repl, char *code)
{
  const struct run_options options = {.code = code, .session = repl->session};
  g_autoptr (GError) problem = NULL;
  struct submission request;
  submission_init (&request);
  int ended = run_options_fill (&request, &options, &problem)
                  ? cli_run_request (&options, &request, repl->signals, &problem)
                  : -1;
  submission_clear (&request);
  repl_rest (repl);
  if (problem)
    (void)cli_fail (problem);
  if (ended != 0 && !repl->leaving)
    look_at_session (repl);
}

/* ---- messages ---- */

static gboolean
repl_goes_on (GString *message)
{
  return message->str[0] != ':' && incomplete_code (message->str);
}

static const struct lines_kind repl_lines = {
    .prompt = ">>> ",
    .prompt_more = "... ",
    .history = "repl-history",
    .goes_on = repl_goes_on,
    .keeps_indented = TRUE,
    .complete = repl_words_complete,
};

static void
repl_take_message (struct repl *repl, char *message)
{
  g_strchomp (message);
  if (message[strspn (message, " \t\n")] == '\0')
    return;
  if (message[0] == ':' || repl_commands_leave (message)) {
    repl_commands_carry_out (repl, message);
    repl_rest (repl);
  } else
    run_cell (repl, message);
}

static void
repl_read_one (struct repl *repl)
{
  g_autofree char *message = NULL;
  signal_handler_set_source (repl->signals, &repl->typing);
  enum lines_end end = lines_read (repl->lines, &message);
  (void)signal_handler_reset (repl->signals);
  if (end == LINES_MESSAGE)
    repl_take_message (repl, message);
  else if (end == LINES_TOO_LONG)
    fputs ("adder: a cell may have 1 MiB: run larger code from a file\n", stderr);
  else if (end == LINES_OVER)
    repl->leaving = TRUE;
}

/* ---- the loop ---- */

static void
repl_greet (const json_t *session, const char *note)
{
  const char *name = json_member_text (session, "name");
  fputs (cli_colour (stderr, CLI_DIM), stderr);
  cli_write_part (stderr, "adder %s, environment %s, session %s. :help lists the commands; Ctrl-D ends.",
                  adder_version (), json_member_text (session, "environment"),
                  name[0] ? name : json_member_text (session, "session_id"));
  fprintf (stderr, "%s\n", cli_colour (stderr, CLI_PLAIN));
  if (note)
    cli_write_line (stderr, "adder: %s", note);
}

int
repl_go_on (const json_t *session, gboolean own, struct signal_handler *signals)
{
  g_autofree char *note = NULL;
  struct repl repl = {.session = g_strdup (json_member_text (session, "session_id")),
                      .own = own,
                      .signals = signals,
                      .typing = {.cancel = repl_end_typing, .interrupt = repl_interrupt_nothing}};
  repl.lines = lines_open (&repl_lines, &repl, &note);
  repl_greet (session, note);
  while (!repl.leaving)
    repl_read_one (&repl);
  repl_end_session (&repl);
  signal_handler_set_idle (signals);
  lines_close (repl.lines);
  g_free (repl.session);
  return repl.code;
}
