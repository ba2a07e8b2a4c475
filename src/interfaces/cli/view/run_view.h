/* SPDX-License-Identifier: Apache-2.0 */
/* A run for people at the command line: its output as it arrives, on the right streams, then value,
 * traceback, files and outcome. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/cli/view/progress_view.h"
#include "interfaces/cli/view/run_event.h"
#include "interfaces/cli/view/terminal_text.h"

struct run_view {
  const char *directory; /* where files are written to (--out), or NULL */
  json_t *saved;         /* of a result: what was written there and what was not, the caller's; or NULL */
  GPtrArray *pictures;   /* those written there (pictures.h), the caller's; NULL: none */
  gboolean
      saves_pictures; /* at a terminal that cannot show them: into the current directory, without --out */
  struct progress_view progress;
  char last;                      /* the last byte on standard output */
  struct terminal_text screen[2]; /* standard output and error, where they are terminals */
};

/* Shows EVENT, whichever it is. Returns 0, or a negative errno when standard output takes no more: -EPIPE,
 * nobody is reading; -ENOSPC, the disk is full. */
int run_view_event (struct run_view *view, const struct run_event *event);

/* Whether one of our lines could begin: the code's output ended with a newline. */
gboolean run_view_is_at_line (const struct run_view *view);

/* The one object of --json: TEXT as it is. Returns the same. */
int run_view_json (const char *text, gsize length);
