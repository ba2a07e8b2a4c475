/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run's events come from, as who shows them sees it: a daemon, one on another machine, or an engine
 * in this very process. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "interfaces/cli/view/run_event.h"

struct event_source {
  /* Waits for the next event. FALSE with ERROR when the source broke off; not called again after the (last)
   * result. */
  gboolean (*next) (struct event_source *source, struct run_event *ret_event, GError **error);
  /* From any thread, any number of times. */
  void (*cancel) (struct event_source *source);
  /* From any thread: has the cell raise KeyboardInterrupt, so that its session keeps its variables. FALSE
   * when that cannot be: it is no cell, or has not begun. */
  gboolean (*interrupt) (struct event_source *source);
  /* After the result: what became of the files in the request's directory (adder_result_save_files), the
   * caller's; with ERROR when one was not written, and NULL when that is not known. */
  json_t *(*save) (struct event_source *source, GError **error);
  /* Does OPERATION (operations/operation.h) where the run is; PARAMS are taken. The value is the caller's. */
  json_t *(*call) (struct event_source *source, const char *operation, json_t *params, GError **error);
  /* After a result that wanted the approval ID: the same request once more, with it. Its events follow. Not
   * of a replay. */
  gboolean (*again) (struct event_source *source, const char *id, GError **error);
  /* After the last cell of a replay: what came of it (adder_replay_finish), the caller's. NULL: it is none.
   */
  json_t *(*finish) (struct event_source *source, GError **error);
  void (*free) (struct event_source *source);
  char *note; /* one line for people, or NULL */
};
