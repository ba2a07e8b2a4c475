/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run's events come from: a daemon, or an engine in this very process (--no-daemon). Whoever shows
 * them does not know which. */
#pragma once

#include <glib.h>

#include "adder.h"
#include "interfaces/cli/view/run_event.h"
#include "interfaces/service/submission.h"

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
  void (*free) (struct event_source *source);
  char *note; /* one line for people, or NULL */
};

/* REQUEST must live as long as the source. */
struct event_source *event_source_daemon (const char *socket, const struct submission *request,
                                          GError **error);
struct event_source *event_source_local (const struct submission *request, GError **error);
/* The second for several runs, with an engine of the caller's, which must live as long as the source. */
struct event_source *event_source_engine (AdderEngine *engine, const struct submission *request,
                                          GError **error);

/* One of them: the daemon on the usual socket, or none. */
struct event_source *event_source_open (gboolean daemon, const struct submission *request, GError **error);

/* The cells of a replay, one after the other: a result is followed by the events of the next cell, as many as
 * *RET_ANSWER, the caller's, says in "cells", unless the daemon says why nothing changes. QUESTION and
 * OPTIONS' descriptors are what is asked. */
struct event_source *event_source_replay (const char *socket, const json_t *question,
                                          const struct submission *options, json_t **ret_answer,
                                          GError **error);
/* After the last cell: what came of the replay (adder_replay_finish). The caller's. */
json_t *event_source_finish (struct event_source *source, GError **error);
