/* SPDX-License-Identifier: Apache-2.0 */
/* What a person types, a message of one or several lines at a time. At a terminal with an editor and what was
 * typed before; otherwise lines of standard input. */
#pragma once

#include <glib.h>

#include "apps/lines/editor.h"

#define LINES_MESSAGE_BYTES (1 << 20)

enum lines_end {
  LINES_MESSAGE,
  LINES_CANCELLED, /* Ctrl-C */
  LINES_TOO_LONG,
  LINES_OVER,
};

struct lines;

/* What one program's messages are. */
struct lines_kind {
  const char *prompt, *prompt_more;
  const char *history;                    /* the file's name in the state folder */
  gboolean (*goes_on) (GString *message); /* another line belongs to MESSAGE, which it may change */
  gboolean keeps_indented;    /* lines that begin with a blank are kept, too: else they are how not to */
  editor_complete_f complete; /* or NULL */
};

/* DATA is for KIND's functions. *RET_NOTE, the caller's: what is not as it should be, such as that there is
 * no editor; or NULL. */
struct lines *lines_open (const struct lines_kind *kind, gpointer data, char **ret_note);
/* NULL is allowed. */
void lines_close (struct lines *lines);

/* Whether a person sits there. */
gboolean lines_at_terminal (const struct lines *lines);

/* *RET_MESSAGE is the caller's. */
enum lines_end lines_read (struct lines *lines, char **ret_message);

/* From any thread: puts the terminal back as it was, for a program that ends in the middle of a line. */
void lines_restore (const struct lines *lines);
