/* SPDX-License-Identifier: Apache-2.0 */
/* Following runs: their events as a stream. The other routes of runs are operations. */
#include "common/json.h"
#include "interfaces/http/http_private.h"
#include "interfaces/http/owner.h"
#include "interfaces/http/run_reply.h"
#include "interfaces/http/shapes.h"
#include "library/library.h"
#include "library/run_log.h"
#include "library/runs.h"
#include "store/records.h"

/* The last event that the client has; 0: none. FALSE with a reply. */
static gboolean
last_event_of (struct http_request *request, guint64 *ret_after)
{
  const char *last = http_header (request, "Last-Event-ID");
  *ret_after = 0;
  if (!last || *last == '\0' || g_ascii_string_to_unsigned (last, 10, 0, G_MAXINT64, ret_after, NULL))
    return TRUE;
  http_reply_fault (request, 400, "Last-Event-ID must be the id of an event of this run");
  return FALSE;
}

/* The events of RUN; or *ERROR, a different one if only its record is left. */
static struct run_log *
find_events (AdderEngine *engine, const char *owner, const char *run, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct run_log *log = runs_log (engine->runs, owner, run, &problem);
  if (log)
    return log;
  json_t *record = g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)
                       ? records_show (engine->store, owner, run, NULL)
                       : NULL;
  if (record) {
    g_clear_error (&problem);
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_ENDED,
                 "the run has ended, and its events are not held any more: /v1/runs/%s has its record",
                 json_member_text (record, "run_id"));
    json_decref (record);
  }
  g_propagate_error (error, g_steal_pointer (&problem));
  return NULL;
}

static void
follow_run (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *owner;
  guint64 after;
  if (!last_event_of (request, &after) || !owner_asked_for (request, &owner))
    return;
  struct run_log *log =
      find_events (http_service (request)->engine, owner, http_parameter (request, "run"), &problem);
  if (!log)
    http_reply_problem (request, problem);
  else if (!request->head_only)
    run_follow (request, log, after);
  else {
    /* Nobody would read a stream, nor end it. */
    run_log_unref (log);
    http_reply_bytes (request, 200, "text/event-stream", "", 0);
  }
}

static const struct field run_parameters[] = {FIELD_ID ("run", "The run's id."), {0}};
static const struct field follow_query[] = {ASK_OWNER, {0}};

const struct http_route http_routes_runs[] = {
    {
        .method = "GET",
        .path = "/v1/runs/{run}/events",
        .operation = "followRun",
        .tag = "runs",
        .title = "Follow a run",
        .text =
            "The events of a run in the background, or of one with `detach`, as `stream` has them: from the "
            "first, or from the one after `Last-Event-ID`, and on until its `result`. `missed` says how many "
            "are not held any more; of a run of which nothing but the record is held, the answer is 410.",
        .role = ROLE_GUEST,
        .flags = HTTP_STREAMS,
        .parameters = run_parameters,
        .query = follow_query,
        .status = 200,
        .reply_type = "text/event-stream",
        .handle = follow_run,
    },
    {0},
};
