/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are under way, so that their owner can see and end them by their ids, and for a while the results
 * of those that nobody waited for. May be used from any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "common/config.h"

struct runs;
struct run_log;

/* Its bounds are CONFIG's, which must outlive it: of an engine, which has it (library.h). */
struct runs *runs_new (const struct config *config);
/* Cancels those that run in the background, and waits for them. */
void runs_close (struct runs *runs);
/* After runs_close, when no run is under way. NULL is allowed. */
void runs_free (struct runs *runs);

/* Whose a run is and whence it came; each may be NULL, OWNER of those alone that do not run in the
 * background. */
struct run_note {
  const char *owner, *conversation, *session, *front_end;
  gboolean background; /* its result is held when it ends */
  struct run_log *log; /* what its events go to, which is referenced; NULL: nobody can follow them */
};

/* Room for one in the background, before it is started: runs_add must follow. ADDER_ERROR_BUSY: OWNER has as
 * many as they may, or the end has come. */
gboolean runs_reserve (struct runs *runs, const char *owner, GError **error);
/* RUN, which was started and must live until runs_remove, is there from now on. */
void runs_add (struct runs *runs, AdderRun *run, const struct run_note *note);
/* RUN has ended. RESULT may be NULL where it does not run in the background. */
void runs_remove (struct runs *runs, AdderRun *run, const AdderResult *result);

/* {"runs": [...]}: those of OWNER (NULL: everybody's) that are under way, the oldest first. The caller's. */
json_t *runs_list (struct runs *runs, const char *owner);
/* {"run_id", "state": "running" or "ended", "started", "owner", "conversation", "session", "front_end",
 * "result": object or null}. The caller's. ADDER_ERROR_NOT_FOUND when it is not under way, and no result of
 * it is held for OWNER (NULL: anybody). */
json_t *runs_show (struct runs *runs, const char *owner, const char *run_id, GError **error);
/* What the events of RUN_ID go to, the caller's reference. NULL with ADDER_ERROR_NOT_FOUND as above, or with
 * ADDER_ERROR_UNSUPPORTED where they are not held. */
struct run_log *runs_log (struct runs *runs, const char *owner, const char *run_id, GError **error);
/* Cancels it; one that has ended is no error. ADDER_ERROR_NOT_FOUND. */
gboolean runs_cancel (struct runs *runs, const char *owner, const char *run_id, GError **error);
/* Waits until it is not under way any more, at most WAIT_MS, or until the peer of the socket WATCH_FD (-1:
 * none) hangs up. */
void runs_wait (struct runs *runs, const char *owner, const char *run_id, guint64 wait_ms, int watch_fd);

/* Those that run in the background, and results that are held: what would be lost with the process. */
guint runs_held (struct runs *runs);
