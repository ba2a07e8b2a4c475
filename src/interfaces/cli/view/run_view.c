/* SPDX-License-Identifier: Apache-2.0 */
/* A run for people. Standard output carries the code's output, its displays and its value; everything that
 * Adder says goes to standard error, so that output can be piped on. */
#include "interfaces/cli/view/run_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/cli_terminal.h"
#include "interfaces/cli/view/inline_picture.h"
#include "interfaces/cli/view/pictures.h"
#include "interfaces/cli/view/review_view.h"
#include "interfaces/cli/view/table_view.h"

/* The code's output must not drive the terminal; it may rewrite its own line, as progress bars do. */
static void
write_screen (struct terminal_text *screen, FILE *stream, const char *data, gsize length)
{
  screen->stream = stream;
  screen->redraws = TRUE;
  terminal_text_add (screen, data, length);
}

/* On standard error, a word from a sandbox; NULL is none. */
static void
say_text (const char *text)
{
  if (text && isatty (STDERR_FILENO))
    terminal_text_write (text, -1, stderr);
  else if (text)
    fputs (text, stderr);
}

static int
run_view_write_out (struct run_view *view, const char *data, gsize length)
{
  if (length == 0)
    return 0;
  view->last = data[length - 1];
  if (!isatty (STDOUT_FILENO))
    return fd_write_all (STDOUT_FILENO, data, length);
  write_screen (&view->screen[0], stdout, data, length);
  return ferror (stdout) ? -EIO : 0;
}

/* Our own text on standard output: on a line by itself, even after output without a newline. */
static int
run_view_write_line (struct run_view *view, const char *text)
{
  gboolean broken = view->last != '\0' && view->last != '\n';
  int r = broken ? run_view_write_out (view, "\n", 1) : 0;
  if (r == 0)
    r = run_view_write_out (view, text, strlen (text));
  if (r == 0 && !g_str_has_suffix (text, "\n"))
    r = run_view_write_out (view, "\n", 1);
  return r;
}

static const char *
run_view_member (const json_t *object, const char *name)
{
  return json_string_value (json_object_get (object, name));
}

/* The plainest text of a MIME bundle: Markdown if present, since plain text breaks up tables. At a terminal
 * tables are aligned, and pictures shown if possible. */
static int
write_bundle (struct run_view *view, const json_t *bundle)
{
  const char *markdown = run_view_member (bundle, "text/markdown");
  const char *text = markdown ? markdown : run_view_member (bundle, "text/plain");
  gboolean is_terminal = isatty (STDOUT_FILENO);
  g_autofree char *table = markdown && is_terminal ? table_view_align (markdown, cli_width (stdout)) : NULL;
  int r = text ? run_view_write_line (view, table ? table : text) : 0;
  if (r == 0 && is_terminal)
    inline_picture_show (bundle);
  return r;
}

static int
view_display (struct run_view *view, const struct run_event *event)
{
  g_autoptr (json_t) bundle = json_loadb (event->data, event->length, 0, NULL);
  return write_bundle (view, bundle);
}

/* ---- how it ended ---- */

/* One line on standard error, in parts. */
static void
say_begin (enum cli_colour colour)
{
  fprintf (stderr, "%sadder: ", cli_colour (stderr, colour));
}

static void
say_end (void)
{
  fprintf (stderr, "%s\n", cli_colour (stderr, CLI_PLAIN));
}

struct ending {
  AdderOutcome outcome;
  const char *remedy; /* at the command line; else the result's own hint */
};

static const struct ending endings[] = {
    {ADDER_OUTCOME_REFUSED, NULL},
    {ADDER_OUTCOME_APPROVAL_REQUIRED, NULL},
    {ADDER_OUTCOME_TIMEOUT, "raise it with --timeout"},
    {ADDER_OUTCOME_CPU_LIMIT, "raise it with --limit cpu_ms=TIME"},
    {ADDER_OUTCOME_MEMORY_LIMIT, "raise it with --memory"},
    {ADDER_OUTCOME_OUTPUT_LIMIT, "raise it with --limit output_bytes=SIZE"},
    {ADDER_OUTCOME_CRASHED, NULL},
    {ADDER_OUTCOME_CANCELLED, NULL},
    {ADDER_OUTCOME_BUSY, "adder serve status and adder session list show what runs"},
    {ADDER_OUTCOME_FAILED, NULL},
};

/* Whether the traceback shown ends in the message. For a cell interrupted by a limit, it does not name the
 * limit. */
static gboolean
is_told_by_traceback (const json_t *error)
{
  const char *traceback = run_view_member (error, "traceback"), *message = run_view_member (error, "message");
  return traceback && (!message || strstr (traceback, message));
}

/* The result's sentence, with what to do about it. */
static void
say_ending (const struct ending *ending, const json_t *result)
{
  const json_t *error = json_object_get (result, "error");
  const char *hint = run_view_member (error, "hint"), *signal = run_view_member (result, "signal");
  const char *sentence = is_told_by_traceback (error) ? hint : run_view_member (error, "message");
  sentence = sentence ? sentence : adder_outcome_name (ending->outcome);
  const char *advice = ending->remedy || sentence == hint ? ending->remedy : hint;
  say_begin (ending->outcome == ADDER_OUTCOME_CANCELLED ? CLI_YELLOW : CLI_RED);
  /* A continued sentence loses its full stop. */
  gsize length = strlen (sentence);
  if (advice && length > 0 && sentence[length - 1] == '.')
    length--;
  g_autofree char *line = text_one_line (sentence, (gssize)length);
  fputs (line, stderr);
  if (signal && ending->outcome == ADDER_OUTCOME_CRASHED)
    fprintf (stderr, " (%s)", signal);
  if (advice)
    fprintf (stderr, "%s %s", g_ascii_isupper (advice[0]) ? "." : ";", advice);
  say_end ();
}

static void
say_traceback (const json_t *result)
{
  const char *traceback = run_view_member (json_object_get (result, "error"), "traceback");
  if (traceback)
    say_text (traceback);
  if (traceback && !g_str_has_suffix (traceback, "\n"))
    fputc ('\n', stderr);
}

static void
say_hint (const json_t *result)
{
  const char *hint = run_view_member (json_object_get (result, "error"), "hint");
  if (!hint)
    return;
  say_begin (CLI_YELLOW);
  fputs ("hint: ", stderr);
  say_text (hint);
  say_end ();
}

/* ---- the rest of the result ---- */

/* "WHAT: DETAIL (hint)", members of ROW. */
static void
say_row (const json_t *row, const char *what, const char *detail)
{
  const char *hint = run_view_member (row, "hint");
  say_text (run_view_member (row, what));
  fputs (": ", stderr);
  say_text (run_view_member (row, detail));
  if (!hint)
    return;
  fputs (" (", stderr);
  say_text (hint);
  fputc (')', stderr);
}

static void
say_violations (const json_t *result)
{
  gsize i;
  json_t *violation;
  json_array_foreach (json_object_get (result, "violations"), i, violation)
  {
    say_begin (CLI_YELLOW);
    fprintf (stderr, "line %" JSON_INTEGER_FORMAT ": ",
             json_integer_value (json_object_get (violation, "line")));
    say_row (violation, "rule", "text");
    say_end ();
  }
}

static void
say_denials (const json_t *result)
{
  gsize i;
  json_t *denial;
  json_array_foreach (json_object_get (result, "denials"), i, denial)
  {
    say_begin (CLI_YELLOW);
    fputs ("denied: ", stderr);
    say_row (denial, "kind", "detail");
    say_end ();
  }
}

static void
run_view_say_warnings (const json_t *result)
{
  gsize i;
  json_t *warning;
  json_array_foreach (json_object_get (result, "warnings"), i, warning)
  {
    say_begin (CLI_YELLOW);
    fputs ("warning: ", stderr);
    say_text (json_string_value (warning));
    say_end ();
  }
}

/* The entry in LIST, "written" or "not_written" of SAVED, for the file NAME, or NULL. */
static const json_t *
find_saved (const json_t *saved, const char *list, const char *name)
{
  gsize i;
  json_t *told;
  json_array_foreach (json_object_get (saved, list), i, told)
  {
    if (g_strcmp0 (run_view_member (told, "name"), name) == 0)
      return told;
  }
  return NULL;
}

static void
say_files (const struct run_view *view, const json_t *result)
{
  const json_t *files = json_object_get (result, "files");
  gsize i;
  json_t *file;
  json_array_foreach (files, i, file)
  {
    const char *name = run_view_member (file, "name"), *id = run_view_member (file, "file_id");
    const json_t *written = find_saved (view->saved, "written", name);
    const json_t *left = find_saved (view->saved, "not_written", name);
    g_autofree char *size = size_format ((guint64)json_integer_value (json_object_get (file, "bytes")));
    g_autofree char *shown = text_one_line (name, -1);
    say_begin (left ? CLI_YELLOW : CLI_DIM);
    fprintf (stderr, "%s, %s", shown, size);
    if (written) {
      g_autofree char *where = g_build_filename (view->directory, run_view_member (written, "path"), NULL);
      g_autofree char *place = text_one_line (where, -1);
      fprintf (stderr, ", written to %s", place);
    } else if (left)
      fprintf (stderr, ", not written: %s", run_view_member (left, "reason"));
    if (!written && id)
      fprintf (stderr, left ? "; kept: adder file get %s" : ", kept: adder file get %s", id);
    else if (!written && !left)
      fputs (", not kept", stderr);
    if (!written && !left)
      fprintf (stderr, "%s --out DIR writes it to a directory", id ? ", or" : ":");
    say_end ();
  }
}

/* A terminal that cannot show a figure would lose it: it becomes a file in the current directory. */
static void
save_pictures (struct run_view *view, const json_t *result)
{
  if (!view->saves_pictures || view->directory || !isatty (STDOUT_FILENO))
    return;
  g_autoptr (GError) problem = NULL;
  autoclose int fd = open (".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  view->pictures = pictures_take (result, fd, inline_picture_fits, &problem);
  if (!problem)
    return;
  say_begin (CLI_YELLOW);
  fprintf (stderr, "warning: %s; --out DIR writes pictures elsewhere", problem->message);
  say_end ();
}

static void
say_pictures (struct run_view *view, const json_t *result)
{
  save_pictures (view, result);
  g_autoptr (GPtrArray) shown = view->pictures ? g_ptr_array_ref (view->pictures)
                                               : pictures_take (result, -1, inline_picture_fits, NULL);
  for (guint i = 0; i < shown->len; i++) {
    const struct picture *picture = g_ptr_array_index (shown, i);
    g_autofree char *size = size_format (picture->bytes);
    say_begin (CLI_DIM);
    if (picture->name && !view->directory)
      fprintf (stderr, "picture saved: %s, %s", picture->name, size);
    else if (picture->name) {
      g_autofree char *where = g_build_filename (view->directory, picture->name, NULL);
      fprintf (stderr, "%s, %s, written to %s", picture->name, size, where);
    } else if (view->directory)
      fprintf (stderr, "a picture (%s, %s), not written", picture->kind, size);
    else
      fprintf (stderr, "a picture (%s, %s), not kept: --out DIR writes it to a directory", picture->kind,
               size);
    say_end ();
  }
}

/* A picture value is displayed as well: its text was already printed. */
static gboolean
run_view_is_shown (const json_t *result)
{
  const json_t *displays = json_object_get (result, "displays");
  const json_t *last = json_array_get (displays, json_array_size (displays) - 1);
  const char *words = run_view_member (last, "text/plain");
  return (run_view_member (last, "image/png") || run_view_member (last, "image/jpeg")) && words &&
         g_strcmp0 (words, run_view_member (json_object_get (result, "value"), "text/plain")) == 0;
}

gboolean
run_view_is_at_line (const struct run_view *view)
{
  gboolean broken = FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (view->screen); i++)
    broken = broken || (view->screen[i].last != '\0' && view->screen[i].last != '\n');
  return !broken;
}

/* The next output at a terminal, such as a prompt, begins a line. */
static void
end_line (struct run_view *view)
{
  if (!isatty (STDOUT_FILENO) || run_view_is_at_line (view))
    return;
  fputc ('\n', stdout);
  fflush (stdout);
  view->last = view->screen[0].last = view->screen[1].last = '\n';
}

static int
view_result (struct run_view *view, const struct run_event *event)
{
  const json_t *result = event->result;
  int r = run_view_is_shown (result) ? 0 : write_bundle (view, json_object_get (result, "value"));
  end_line (view);
  say_traceback (result);
  /* A denial has a better hint of its own. */
  if (event->outcome == ADDER_OUTCOME_ERROR && json_array_size (json_object_get (result, "denials")) == 0)
    say_hint (result);
  say_violations (result);
  say_denials (result);
  run_view_say_warnings (result);
  review_view_changes (stderr, json_object_get (result, "changes"));
  if (event->outcome != ADDER_OUTCOME_FAILED || view->saved) {
    say_files (view, result);
    say_pictures (view, result);
  }
  /* The question about changes follows; advice for having nobody to ask would be in its way. */
  gboolean will_ask = event->outcome == ADDER_OUTCOME_APPROVAL_REQUIRED &&
                      json_array_size (json_object_get (result, "changes")) > 0 && review_view_can_ask ();
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    if (endings[i].outcome == event->outcome && !will_ask)
      say_ending (&endings[i], result);
  return r;
}

int
run_view_event (struct run_view *view, const struct run_event *event)
{
  progress_view_end (&view->progress);
  switch (event->kind) {
  case ADDER_EVENT_PROGRESS:
    /* The table is asked which limits count things. */
    if (event->data && event->of == 0)
      progress_view_saw (&view->progress, &(const struct tool_progress){.text = event->data});
    return 0;
  case ADDER_EVENT_STDOUT:
    return run_view_write_out (view, event->data, event->length);
  case ADDER_EVENT_STDERR:
    /* An unread error is no reason to abort a good run. */
    if (isatty (STDERR_FILENO))
      write_screen (&view->screen[1], stderr, event->data, event->length);
    else
      (void)fd_write_all (STDERR_FILENO, event->data, event->length);
    return 0;
  case ADDER_EVENT_DISPLAY:
    return view_display (view, event);
  case ADDER_EVENT_RESULT:
    return view_result (view, event);
  case ADDER_EVENT_STARTED:
  default:
    return 0;
  }
}

int
run_view_json (const char *text, gsize length)
{
  int r = fd_write_all (STDOUT_FILENO, text, length);
  return r == 0 ? fd_write_all (STDOUT_FILENO, "\n", 1) : r;
}
