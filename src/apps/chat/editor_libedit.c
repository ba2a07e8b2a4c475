/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-edit.so. */
#include "apps/chat/editor.h"

#include <histedit.h>
#include <string.h>
#include <wchar.h>

#include "adder.h"

struct editor {
  EditLine *line;
  History *history;
  const char *prompt;
  gboolean cancelled;
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
editor_open (FILE *in, FILE *out, int most)
{
  HistEvent event;
  struct editor *editor = g_new0 (struct editor, 1);
  editor->prompt = "";
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
