/* SPDX-License-Identifier: Apache-2.0 */
/* How far a call is, for the eyes of a person: one line on standard error that is written over, where that is
 * a terminal; elsewhere nothing. */
#pragma once

#include "tools/tools.h"

struct progress_view {
  gboolean shown; /* there is a line to be taken away */
};

/* Fits call_backend_watch; DATA is the struct progress_view. */
void progress_view_saw (gpointer data, const struct tool_progress *progress);
/* Takes the line away. */
void progress_view_end (struct progress_view *view);
