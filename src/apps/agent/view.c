/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/agent/view.h"

#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/view/cli_terminal.h"

#define RESULT_LINES   12
#define RESULT_BYTES   2000
#define ARGUMENT_BYTES 400
#define STATE_BYTES    600
#define CLEAR_LINE     "\r\033[K"

void
agent_view_init (struct agent_view *view, const char *model, FILE *text)
{
  *view = (struct agent_view){.model = model, .text = {.stream = text}};
}

/* ---- what is being waited for ---- */

static void
stop_waiting (struct agent_view *view)
{
  if (view->waiting)
    fputs (CLEAR_LINE, stderr);
  view->waiting = FALSE;
  fflush (stderr);
}

static void
view_wait_for (struct agent_view *view, const char *what)
{
  stop_waiting (view);
  if (!cli_is_screen (stderr))
    return;
  g_autofree char *shown = text_one_line (what, (gssize)MAX (cli_width (stderr), 20) - 1);
  fprintf (stderr, "%s%s%s", cli_colour (stderr, CLI_DIM), shown, cli_colour (stderr, CLI_PLAIN));
  fflush (stderr);
  view->waiting = TRUE;
}

static void
asking (gpointer data, guint64 step)
{
  struct agent_view *view = data;
  g_autofree char *what = g_strdup_printf ("step %" G_GUINT64_FORMAT ": asking %s ...", step, view->model);
  view_wait_for (view, what);
  view->streamed = FALSE;
}

/* ---- what the model says ---- */

static void
text (gpointer data, const char *piece, gsize length)
{
  struct agent_view *view = data;
  if (!view->text.stream)
    return;
  stop_waiting (view);
  if (!piece)
    terminal_text_end (&view->text);
  else if (length > 0) {
    terminal_text_add (&view->text, piece, length);
    view->streamed = TRUE;
  }
}

/* A model that does not stream says it all at once. */
static void
answered (gpointer data, const char *whole)
{
  struct agent_view *view = data;
  stop_waiting (view);
  if (!view->text.stream)
    return;
  if (!view->streamed)
    terminal_text_add (&view->text, whole, strlen (whole));
  terminal_text_end (&view->text);
}

/* ---- steps ---- */

/* Code is shown as it is; of other arguments each is a line. */
static void
show_argument (const char *name, const json_t *value)
{
  g_autofree char *json = json_is_string (value) ? NULL : json_dumps (value, JSON_COMPACT | JSON_ENCODE_ANY);
  const char *shown = json ? json : json_string_value (value);
  gsize length = strlen (shown);
  if (json_is_null (value) || length == 0)
    return;
  fprintf (stderr, "    %s: ", name);
  if (memchr (shown, '\n', length))
    fputc ('\n', stderr);
  terminal_text_write (shown, (gssize)MIN (length, ARGUMENT_BYTES), stderr);
  fprintf (stderr, "%s\n", length > ARGUMENT_BYTES ? " ..." : "");
}

/* The answer stands by itself, after all steps. */
static gboolean
is_report (const json_t *step)
{
  return strcmp (json_member_text (json_object_get (step, "function"), "name"), TOOLBOX_COMPLETION) == 0;
}

static void
began (gpointer data, const json_t *step)
{
  struct agent_view *view = data;
  const json_t *function = json_object_get (step, "function");
  const char *name = json_member_text (function, "name"), *key;
  json_t *value;
  stop_waiting (view);
  g_autofree char *shown = text_one_line (name[0] ? name : "?", 100);
  g_autofree char *state = text_one_line (json_member_text (step, "current_state"), STATE_BYTES);
  fprintf (stderr, "%sstep %" JSON_INTEGER_FORMAT ": %s%s\n", cli_colour (stderr, CLI_GREEN),
           json_integer_value (json_object_get (step, "step")), shown, cli_colour (stderr, CLI_PLAIN));
  if (state[0])
    fprintf (stderr, "%s    %s%s\n", cli_colour (stderr, CLI_DIM), state, cli_colour (stderr, CLI_PLAIN));
  if (is_report (step))
    return;
  json_object_foreach (json_object_get (function, "arguments"), key, value) show_argument (key, value);
  g_autofree char *what = g_strdup_printf ("running %s ...", shown);
  view_wait_for (view, what);
}

/* The first lines of RESULT. */
static void
show_result (const char *result)
{
  gsize length = MIN (strlen (result), RESULT_BYTES), at = 0;
  for (guint line = 0; line < RESULT_LINES && at < length; line++) {
    const char *end = memchr (result + at, '\n', length - at);
    gsize line_length = end ? (gsize)(end - result) - at : length - at;
    fputs ("  | ", stderr);
    terminal_text_write (result + at, (gssize)line_length, stderr);
    fputc ('\n', stderr);
    at += line_length + 1;
  }
  if (at < strlen (result))
    fputs ("  | ...\n", stderr);
}

static void
show_pictures (const json_t *step)
{
  json_int_t unsaved = json_integer_value (json_object_get (step, "unsaved_pictures"));
  gsize index;
  json_t *path;
  json_array_foreach (json_object_get (step, "pictures"), index, path)
  {
    fputs ("  picture: ", stderr);
    terminal_text_write_path (json_string_value (path), stderr);
    fputc ('\n', stderr);
  }
  if (unsaved > 0)
    fprintf (stderr, "  pictures that are not kept: %" JSON_INTEGER_FORMAT " (--out DIR keeps them)\n",
             unsaved);
}

static void
view_ended (gpointer data, const json_t *step)
{
  gboolean is_error = json_is_true (json_object_get (step, "is_error"));
  stop_waiting (data);
  if (is_report (step) && !is_error)
    return;
  fputs (cli_colour (stderr, is_error ? CLI_RED : CLI_DIM), stderr);
  show_result (json_member_text (step, "result"));
  fputs (cli_colour (stderr, CLI_PLAIN), stderr);
  show_pictures (step);
  fflush (stderr);
}

static void
view_note (gpointer data, const char *words)
{
  stop_waiting (data);
  g_autofree char *shown = text_one_line (words, STATE_BYTES);
  fprintf (stderr, "%sadder: %s%s\n", cli_colour (stderr, CLI_YELLOW), shown, cli_colour (stderr, CLI_PLAIN));
}

const struct agent_events agent_view_events = {asking, text, answered, began, view_ended, view_note};

void
agent_view_end (struct agent_view *view, const struct agent_turn *turn)
{
  stop_waiting (view);
  if (turn->reason == AGENT_COMPLETED)
    return;
  g_autofree char *why = text_one_line (turn->message ? turn->message : "", STATE_BYTES);
  fprintf (stderr, "%sadder: %s: %s%s\n", cli_colour (stderr, turn->is_fault ? CLI_RED : CLI_YELLOW),
           turn->is_fault ? "the model gave no answer" : "not completed", why,
           cli_colour (stderr, CLI_PLAIN));
}
