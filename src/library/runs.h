/* SPDX-License-Identifier: Apache-2.0 */
/* Active runs, which their owner can list and end by id, and for a while the results that nobody waited for.
 * May be used from any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "common/config.h"
#include "store/store.h"

struct runs;
struct run_log;

/* CONFIG bounds it, and STORE has the results where the daemons of a cluster share them; both must outlive
 * it: it belongs to an engine (library.h). */
struct runs *runs_new (const struct config *config, struct store *store);
/* Cancels those that run in the background, and waits for them. */
void runs_close (struct runs *runs);
/* After runs_close, when no run is active. NULL is allowed. */
void runs_free (struct runs *runs);

/* The owner of a run and where it came from; each may be NULL, OWNER only for runs outside the background. */
struct run_note {
  const char *owner, *conversation, *session, *front_end;
  gboolean background; /* keep its result when it ends */
  struct run_log *log; /* receives its events, referenced; NULL: nobody can follow them */
};

/* Reserves room for a background run before it is started: runs_add must follow. ADDER_ERROR_BUSY: OWNER is
 * at the limit, or the end has come. */
gboolean runs_reserve (struct runs *runs, const char *owner, GError **error);
/* Adds RUN, which was started and must live until runs_remove. */
void runs_add (struct runs *runs, AdderRun *run, const struct run_note *note);
/* RUN has ended. RESULT may be NULL unless it runs in the background. */
void runs_remove (struct runs *runs, AdderRun *run, const AdderResult *result);

/* {"runs": [...]}: the active runs of OWNER (NULL: everybody's), oldest first. The caller's. */
json_t *runs_list (struct runs *runs, const char *owner);
/* {"run_id", "state": "running" or "ended", "started", "owner", "conversation", "session", "front_end",
 * "code": its beginning or null, "can_follow": whether runs_log has its events, "result": object or null}.
 * The caller's. ADDER_ERROR_NOT_FOUND when it is not active and no result of it is held for OWNER (NULL:
 * anybody). */
json_t *runs_show (struct runs *runs, const char *owner, const char *run_id, GError **error);
/* The log of RUN_ID's events, the caller's reference. NULL with ADDER_ERROR_NOT_FOUND as above, or with
 * ADDER_ERROR_UNSUPPORTED if they are not kept. */
struct run_log *runs_log (struct runs *runs, const char *owner, const char *run_id, GError **error);
/* Cancels it; a run that has ended is no error. ADDER_ERROR_NOT_FOUND. */
gboolean runs_cancel (struct runs *runs, const char *owner, const char *run_id, GError **error);
/* Cancels a run from the queue of a cluster that another node has now. It leaves no record if it may be
 * executed again. */
void runs_hand_back (struct runs *runs, const char *run_id);
/* Returns whether it was cancelled this way, or found no room, and so leaves no record; if so, forgets it. */
gboolean runs_take_back (struct runs *runs, const char *run_id);
/* Waits until it is no longer active, at most WAIT_MS, or until the peer of the socket WATCH_FD (-1: none)
 * hangs up. With WAIT_MS 0 it waits for no run that goes on: whoever heard of a run's end finds it ended. */
void runs_wait (struct runs *runs, const char *owner, const char *run_id, guint64 wait_ms, int watch_fd);

/* Background runs and held results: what would be lost with the process. */
guint runs_held (struct runs *runs);
