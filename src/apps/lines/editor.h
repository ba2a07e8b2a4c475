/* SPDX-License-Identifier: Apache-2.0 */
/* Editing a line at a terminal: what lines.h and the module adder-edit.so, which has libedit, have between
 * them. */
#pragma once

#include <glib.h>
#include <stdio.h>

#define EDITOR_MODULE "adder-edit"
#define EDITOR_SYMBOL "adder_editor"

enum editor_end {
  EDITOR_LINE,
  EDITOR_CANCELLED, /* Ctrl-C */
  EDITOR_OVER,      /* Ctrl-D in an empty line, or the terminal is gone */
};

struct editor;

/* What the last *RET_LENGTH bytes of BEFORE, the line up to the cursor, can become; the caller's. NULL: they
 * are not for completion, and the key indents. Nothing in it may drive the terminal. An empty one is not
 * listed: it says that there are others. */
typedef GStrv (*editor_complete_f) (gpointer data, const char *before, gsize *ret_length);

struct editor_class {
  /* Remembers at most MOST lines; the tab key asks COMPLETE (NULL: it does nothing). NULL: the terminal
   * cannot be used. */
  struct editor *(*open) (FILE *in, FILE *out, int most, editor_complete_f complete, gpointer data);
  /* Offers LINE, one line, when somebody looks for what was typed before. */
  void (*remember) (struct editor *editor, const char *line);
  /* *RET_LINE is the caller's (g_free), without the line's end. */
  enum editor_end (*read) (struct editor *editor, const char *prompt, char **ret_line);
  void (*close) (struct editor *editor);
};
