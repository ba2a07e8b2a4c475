/* SPDX-License-Identifier: Apache-2.0 */
/* What was typed before: a line each in a file of the state folder, of mode 0600. */
#pragma once

#include <glib.h>

#define LINE_HISTORY_LINES 1000 /* that are kept */

struct line_history;

/* In the file NAME. NULL with ERROR. */
struct line_history *line_history_open (const char *name, GError **error);
/* NULL is allowed. */
void line_history_close (struct line_history *history);

/* Those of earlier programs, the oldest first; the history's, and NULL after them. */
char *const *line_history_lines (const struct line_history *history);

/* Keeps LINE, unless it is empty or as the last one. Programs that go on at once keep theirs side by side. */
void line_history_add (struct line_history *history, const char *line);
