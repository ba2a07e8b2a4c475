/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/lines/lines.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "apps/lines/line_history.h"
#include "common/module.h"

struct lines {
  const struct lines_kind *kind;
  gboolean terminal;
  struct termios before; /* of the terminal */
  const struct editor_class *class;
  struct editor *editor; /* NULL: none */
  struct line_history *history;
};

/* ---- opening ---- */

/* The editor reads characters as the locale has them. */
static void
choose_locale (void)
{
  const char *found = setlocale (LC_CTYPE, "");
  const char *charset = NULL;
  if (!found || !g_get_charset (&charset))
    (void)setlocale (LC_CTYPE, "C.UTF-8");
}

static void
open_editor (struct lines *lines, gpointer data, char **ret_note)
{
  g_autoptr (GError) problem = NULL;
  lines->class = module_load (EDITOR_MODULE, EDITOR_SYMBOL, &problem);
  if (!lines->class) {
    *ret_note = g_strdup (problem->message);
    return;
  }
  choose_locale ();
  lines->editor = lines->class->open (stdin, stderr, LINE_HISTORY_LINES, lines->kind->complete, data);
  lines->history = line_history_open (lines->kind->history, &problem);
  if (problem)
    *ret_note = g_strdup (problem->message);
  for (char *const *line = lines->history ? line_history_lines (lines->history) : NULL; line && *line; line++)
    if (lines->editor)
      lines->class->remember (lines->editor, *line);
}

struct lines *
lines_open (const struct lines_kind *kind, gpointer data, char **ret_note)
{
  struct lines *lines = g_new0 (struct lines, 1);
  *ret_note = NULL;
  lines->kind = kind;
  lines->terminal =
      isatty (STDIN_FILENO) && isatty (STDERR_FILENO) && tcgetattr (STDIN_FILENO, &lines->before) == 0;
  if (lines->terminal && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0)
    open_editor (lines, data, ret_note);
  return lines;
}

void
lines_close (struct lines *lines)
{
  if (!lines)
    return;
  if (lines->editor)
    lines->class->close (lines->editor);
  line_history_close (lines->history);
  g_free (lines);
}

gboolean
lines_at_terminal (const struct lines *lines)
{
  return lines->terminal;
}

void
lines_restore (const struct lines *lines)
{
  if (lines->terminal)
    (void)tcsetattr (STDIN_FILENO, TCSANOW, &lines->before);
}

/* ---- reading ---- */

/* One line of standard input as it is. One that is too long is read to its end. */
static enum lines_end
read_plain (const struct lines *lines, const char *prompt, char **ret_line)
{
  if (lines->terminal) {
    fputs (prompt, stderr);
    fflush (stderr);
  }
  g_autoptr (GString) line = g_string_new (NULL);
  gboolean whole = TRUE;
  int c;
  while ((c = getc (stdin)) != EOF && c != '\n') {
    whole = whole && line->len < LINES_MESSAGE_BYTES;
    if (whole)
      g_string_append_c (line, (char)c);
  }
  if (c == EOF && line->len == 0)
    return LINES_OVER;
  if (!whole)
    return LINES_TOO_LONG;
  *ret_line = g_utf8_make_valid (line->str, (gssize)line->len);
  return LINES_MESSAGE;
}

static enum lines_end
lines_read_line (struct lines *lines, const char *prompt, char **ret_line)
{
  if (!lines->editor)
    return read_plain (lines, prompt, ret_line);
  g_autofree char *line = NULL;
  enum editor_end end = lines->class->read (lines->editor, prompt, &line);
  if (end != EDITOR_LINE) {
    fputc ('\n', stderr);
    return end == EDITOR_OVER ? LINES_OVER : LINES_CANCELLED;
  }
  *ret_line = g_utf8_make_valid (line, -1);
  gboolean kept =
      (*ret_line)[0] != '\0' && (lines->kind->keeps_indented || !g_ascii_isspace ((*ret_line)[0]));
  if (kept)
    lines->class->remember (lines->editor, *ret_line);
  if (kept && lines->history)
    line_history_add (lines->history, *ret_line);
  return LINES_MESSAGE;
}

enum lines_end
lines_read (struct lines *lines, char **ret_message)
{
  g_autoptr (GString) message = g_string_new (NULL);
  for (const char *prompt = lines->kind->prompt;; prompt = lines->kind->prompt_more) {
    g_autofree char *line = NULL;
    enum lines_end end = lines_read_line (lines, prompt, &line);
    if (end != LINES_MESSAGE && (end != LINES_OVER || message->len == 0))
      return end;
    g_string_append (message, line ? line : "");
    if (message->len > LINES_MESSAGE_BYTES)
      return LINES_TOO_LONG;
    if (!line || !lines->kind->goes_on (message))
      break;
    g_string_append_c (message, '\n');
  }
  *ret_message = g_strdup (message->str);
  return LINES_MESSAGE;
}
