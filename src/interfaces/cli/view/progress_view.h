/* SPDX-License-Identifier: Apache-2.0 */
/* A call's progress for people: one rewritten line on standard error, if that is a terminal; elsewhere
 * nothing. */
#pragma once

#include "tools/tools.h"

struct progress_view {
  gboolean shown; /* there is a line to remove */
};

/* Fits call_backend_watch; DATA is the struct progress_view. */
void progress_view_saw (gpointer data, const struct tool_progress *progress);
/* Takes the line away. */
void progress_view_end (struct progress_view *view);
