/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-edit.so. */
#include "apps/lines/editor.h"

#include <histedit.h>
#include <string.h>
#include <wchar.h>

#include "adder.h"

#define INDENTATION "    "
#define LISTED_MAX  100
#define COLUMNS     78 /* of what is listed */

struct editor {
  EditLine *line;
  History *history;
  const char *prompt;
  gboolean cancelled;
  FILE *out;
  editor_complete_f complete;
  gpointer data; /* for COMPLETE */
};

static char *
show_prompt (EditLine *line)
{
  struct editor *editor = NULL;
  el_get (line, EL_CLIENTDATA, &editor);
  return (char *)(guintptr)editor->prompt;
}

static unsigned char
editor_libedit_cancel (EditLine *line, G_GNUC_UNUSED wint_t key)
{
  struct editor *editor = NULL;
  el_get (line, EL_CLIENTDATA, &editor);
  editor->cancelled = TRUE;
  return CC_EOF;
}

/* How many bytes all of WORDS begin with. */
static gsize
shared_length (char *const *words)
{
  gsize length = strlen (words[0]);
  for (gsize i = 1; words[i]; i++)
    while (strncmp (words[0], words[i], length) != 0)
      length--;
  while (length > 0 && !g_utf8_validate (words[0], (gssize)length, NULL))
    length--;
  return length;
}

/* Writes WORDS, which are sorted, below the line, as many in a row as COLUMNS has room for. */
static void
list_words (FILE *out, char *const *words, gsize columns)
{
  gsize widest = 0, used = 0;
  for (gsize i = 0; words[i]; i++)
    widest = MAX (widest, (gsize)g_utf8_strlen (words[i], -1));
  fputc ('\n', out);
  for (gsize i = g_strcmp0 (words[0], "") == 0; i < LISTED_MAX && words[i]; i++) {
    if (used > 0 && used + widest > columns) {
      fputc ('\n', out);
      used = 0;
    }
    fprintf (out, "%s%*s", words[i], (int)(widest + 2 - (gsize)g_utf8_strlen (words[i], -1)), "");
    used += widest + 2;
  }
  fprintf (out, "%s\n", g_strv_length ((GStrv)(guintptr)words) > LISTED_MAX ? "\n..." : "");
}

static unsigned char
editor_libedit_complete (EditLine *line, G_GNUC_UNUSED wint_t key)
{
  struct editor *editor = NULL;
  el_get (line, EL_CLIENTDATA, &editor);
  const LineInfo *info = el_line (line);
  g_autofree char *before = g_strndup (info->buffer, (gsize)(info->cursor - info->buffer));
  gsize length = 0;
  g_auto (GStrv) words = editor->complete (editor->data, before, &length);
  if (!words)
    return el_insertstr (line, INDENTATION) == 0 ? CC_REFRESH : CC_ERROR;
  if (!words[0])
    return CC_ERROR;
  gsize shared = shared_length (words);
  g_autofree char *more = g_strndup (words[0], shared);
  if (shared > length)
    return el_insertstr (line, more + length) == 0 ? CC_REFRESH : CC_ERROR;
  if (!words[1])
    return CC_NORM;
  list_words (editor->out, words, COLUMNS);
  return CC_REDISPLAY;
}

static void
editor_close (struct editor *editor)
{
  if (editor->line)
    el_end (editor->line);
  if (editor->history)
    history_end (editor->history);
  g_free (editor);
}

static struct editor *
editor_open (FILE *in, FILE *out, int most, editor_complete_f complete, gpointer data)
{
  HistEvent event;
  struct editor *editor = g_new0 (struct editor, 1);
  editor->prompt = "";
  editor->out = out;
  editor->complete = complete;
  editor->data = data;
  editor->line = el_init ("adder", in, out, out);
  editor->history = history_init ();
  if (!editor->line || !editor->history) {
    editor_close (editor);
    return NULL;
  }
  history (editor->history, &event, H_SETSIZE, most);
  history (editor->history, &event, H_SETUNIQUE, 1);
  el_set (editor->line, EL_CLIENTDATA, editor);
  el_set (editor->line, EL_PROMPT, show_prompt);
  el_set (editor->line, EL_EDITOR, "emacs");
  el_set (editor->line, EL_HIST, history, editor->history);
  el_set (editor->line, EL_BIND, "^R", "em-inc-search-prev", NULL);
  if (complete) {
    el_wset (editor->line, EL_ADDFN, L"adder-complete", L"Complete the word", editor_libedit_complete);
    el_set (editor->line, EL_BIND, "^I", "adder-complete", NULL);
  }
  el_source (editor->line, NULL); /* the user's own ~/.editrc */
  /* Ctrl-C while a line is edited is a key, and not a signal: those end answers. */
  /* By its other form the library keeps copies of both texts for ever. */
  el_wset (editor->line, EL_ADDFN, L"adder-cancel", L"Leave the line", editor_libedit_cancel);
  el_set (editor->line, EL_BIND, "^C", "adder-cancel", NULL);
  el_set (editor->line, EL_SETTY, "-d", "-isig", NULL);
  return editor;
}

static void
editor_remember (struct editor *editor, const char *line)
{
  HistEvent event;
  g_autofree char *whole = g_strconcat (line, "\n", NULL);
  history (editor->history, &event, H_ENTER, whole);
}

static enum editor_end
editor_read (struct editor *editor, const char *prompt, char **ret_line)
{
  int length = 0;
  editor->prompt = prompt;
  editor->cancelled = FALSE;
  el_resize (editor->line);
  /* Before the prompt says that keys are read: the library would first show it, and what is typed in between
   * would be the terminal's own, a Ctrl-D lost. */
  el_set (editor->line, EL_PREP_TERM, 1);
  const char *line = el_gets (editor->line, &length);
  if (editor->cancelled)
    return EDITOR_CANCELLED;
  if (!line || length <= 0)
    return EDITOR_OVER;
  *ret_line = g_strndup (line, (gsize)length);
  (*ret_line)[strcspn (*ret_line, "\r\n")] = '\0';
  return EDITOR_LINE;
}

ADDER_PUBLIC extern const struct editor_class adder_editor;
const struct editor_class adder_editor = {editor_open, editor_remember, editor_read, editor_close};
