/* SPDX-License-Identifier: Apache-2.0 */
/* What a person types, a message at a time. At a terminal with an editor and what was typed before; otherwise
 * each line of standard input is one. A line that ends in "\" goes on in the next one. */
#pragma once

#include <glib.h>

#define LINES_MESSAGE_BYTES (1 << 20)

enum lines_end {
  LINES_MESSAGE,
  LINES_CANCELLED, /* Ctrl-C */
  LINES_TOO_LONG,
  LINES_OVER,
};

struct lines;

/* *RET_NOTE, the caller's: what is not as it should be, such as that there is no editor; or NULL. */
struct lines *lines_open (char **ret_note);
/* NULL is allowed. */
void lines_close (struct lines *lines);

/* Whether a person sits there. */
gboolean lines_at_terminal (const struct lines *lines);

/* *RET_MESSAGE is the caller's. */
enum lines_end lines_read (struct lines *lines, char **ret_message);

/* From any thread: puts the terminal back as it was, for a program that ends in the middle of a line. */
void lines_restore (const struct lines *lines);
