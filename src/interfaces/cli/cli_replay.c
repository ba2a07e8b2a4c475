/* SPDX-License-Identifier: Apache-2.0 */
/* `adder session replay`: the recorded cells of a session, run again in a fresh one. The cells' output goes
 * where it always goes; what Adder says goes to standard error. */
#include <string.h>

#include "adder.h"
#include "common/error.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "interfaces/cli/run_options.h"
#include "interfaces/cli/signal_handler.h"
#include "interfaces/cli/view/run_view.h"
#include "interfaces/cli/view/session_view.h"
#include "interfaces/socket/event_source.h"

#define CODE_SHOWN 60

struct replay {
  struct run_options options;
  const char *session;
  char *from;
  gboolean stop;

  json_t *answer;  /* the daemon's: the new session, and the cells to come */
  json_t *results; /* of each cell, where they are shown as JSON */
  json_t *report;  /* the daemon's, after the last cell */
  int exit_code;   /* of the first cell that failed */
};

/* ---- asking ---- */

static json_t *
cli_replay_question_of (const struct replay *replay, const struct submission *options, GError **error)
{
  guint64 from = 1;
  if (replay->from && !count_parse (replay->from, &from, error)) {
    g_prefix_error (error, "--from: ");
    return NULL;
  }
  if (from == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "--from: cells count from 1");
    return NULL;
  }
  json_t *question = json_pack ("{s:s, s:s, s:O, s:s?, s:I, s:b}", "op", "replay", "session", replay->session,
                                "options", options->body, "name", replay->options.session_name, "from",
                                (json_int_t)MIN (from, (guint64)G_MAXINT64), "keep_going", !replay->stop);
  if (!question)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
  return question;
}

static struct event_source *
cli_replay_open_source (struct replay *replay, const struct submission *options, GError **error)
{
  g_autoptr (json_t) question = cli_replay_question_of (replay, options, error);
  return question ? event_source_replay (question, options, &replay->answer, error) : NULL;
}

/* ---- showing ---- */

static void
say_cell (const json_t *cell)
{
  const char *code = json_string_value (json_object_get (cell, "code"));
  code = code ? code : "";
  gsize shown = MIN (strcspn (code, "\n"), CODE_SHOWN);
  g_autofree char *line = text_one_line (code, (gssize)shown);
  fprintf (stderr, "%s[%" JSON_INTEGER_FORMAT "] %s%s%s\n", cli_colour (stderr, CLI_DIM),
           json_integer_value (json_object_get (cell, "cell")), line,
           code[shown + strspn (code + shown, "\n")] != '\0' ? " ..." : "", cli_colour (stderr, CLI_PLAIN));
}

static void
say_outcome (const json_t *cell, const struct run_event *event)
{
  const json_t *wall = json_object_get (json_object_get (event->result, "usage"), "wall_ms");
  session_view_outcome (stderr, cell, adder_outcome_name (event->outcome), json_number_value (wall));
}

static void
cli_replay_note_result (struct replay *replay, const struct run_event *event)
{
  if (event->exit_code != 0 && replay->exit_code == 0)
    replay->exit_code = event->exit_code;
  /* Results hold pictures: they are kept only for JSON output of all. */
  if (replay->options.json)
    json_array_append (replay->results, event->result);
}

/* Runs one cell to its end. */
static gboolean
follow_cell (struct replay *replay, struct event_source *source, const json_t *cell, GError **error)
{
  struct run_view view = {0};
  struct run_event event = {.kind = ADDER_EVENT_STARTED};
  int r = 0;
  if (!replay->options.json)
    say_cell (cell);
  while (event.kind != ADDER_EVENT_RESULT) {
    if (!source->next (source, &event, error))
      return FALSE;
    if (!replay->options.json && r == 0 && (r = run_view_event (&view, &event)) < 0)
      source->cancel (source);
  }
  if (!replay->options.json)
    say_outcome (cell, &event);
  cli_replay_note_result (replay, &event);
  return r == 0 || error_from_errno (error, r, "cannot write to standard output");
}

static gboolean
cli_replay_follow (struct replay *replay, struct event_source *source, GError **error)
{
  const json_t *cells = json_object_get (replay->answer, "cells");
  for (gsize i = 0; i < json_array_size (cells); i++)
    if (!follow_cell (replay, source, json_array_get (cells, i), error))
      return FALSE;
  replay->report = source->finish (source, error);
  return replay->report != NULL;
}

/* The differences. */
static void
say_differences (const json_t *report)
{
  gsize i;
  json_t *cell, *number;
  json_array_foreach (json_object_get (report, "cells"), i, cell)
  {
    g_autofree char *parts = json_join (json_object_get (cell, "differs"), ", ");
    if (*parts != '\0')
      cli_write_line (stderr, "adder: cell %" JSON_INTEGER_FORMAT " differs from what is on record: %s",
                      json_integer_value (json_object_get (cell, "cell")), parts);
  }
  json_array_foreach (json_object_get (report, "left_out"), i, number)
      fprintf (stderr, "adder: cell %" JSON_INTEGER_FORMAT " was left out: it ended the session\n",
               json_integer_value (number));
}

/* The new session, and the outcomes of the cells. */
static void
cli_replay_report (const struct replay *replay)
{
  const json_t *session = json_object_get (replay->report, "session");
  json_t *cells = json_object_get (replay->report, "cells");
  if (!replay->options.json) {
    say_differences (replay->report);
    cli_print_line ("%s", json_member_text (session, "session_id"));
    return;
  }
  gsize i;
  json_t *cell;
  json_array_foreach (cells, i, cell) json_object_set (cell, "result", json_array_get (replay->results, i));
  g_autoptr (json_t) whole =
      json_pack ("{s:O, s:O, s:O, s:O}", "session_id", json_object_get (session, "session_id"), "name",
                 json_object_get (session, "name"), "cells", cells, "left_out",
                 json_object_get (replay->report, "left_out"));
  cli_print_json (whole);
}

/* ---- the command ---- */

static int
run_replay (struct replay *replay)
{
  struct submission options;
  g_autoptr (GError) problem = NULL;
  submission_init (&options);
  struct signal_handler *signals = signal_handler_start ();
  struct event_source *source = NULL;
  if (run_options_fill (&options, &replay->options, &problem))
    source = cli_replay_open_source (replay, &options, &problem);
  submission_clear (&options);
  if (!source)
    return cli_fail (problem);
  signal_handler_set_source (signals, source);
  gboolean ok = cli_replay_follow (replay, source, &problem);
  signal_handler_set_source (signals, NULL);
  source->free (source);
  if (!ok)
    return cli_fail (problem);
  cli_replay_report (replay);
  return replay->exit_code;
}

int
cli_session_replay (int argc, char **argv)
{
  struct replay replay = {.results = json_array ()};
  g_autofree GOptionEntry *shared = run_options_entries (RUN_OPTIONS_SESSION, &replay.options);
  const GOptionEntry own[] = {
      {"from", 0, 0, G_OPTION_ARG_FILENAME, &replay.from, "Start with the cell of this number", "CELL"},
      {"stop", 0, 0, G_OPTION_ARG_NONE, &replay.stop, "Stop at the first cell that fails: nothing changes",
       NULL},
  };
  g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  g_array_append_vals (entries, own, G_N_ELEMENTS (own));
  for (gsize i = 0; shared[i].long_name; i++)
    g_array_append_val (entries, shared[i]);
  g_autoptr (GError) problem = NULL;
  int code;
  if (!cli_parse ((const GOptionEntry *)(const void *)entries->data, 1, 1, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else {
    replay.session = argv[1];
    code = run_replay (&replay);
  }
  run_options_clear (&replay.options);
  g_free (replay.from);
  json_decref (replay.answer);
  json_decref (replay.results);
  json_decref (replay.report);
  return code;
}
