/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/replay_reply.h"

#include "common/json.h"
#include "interfaces/http/run_reply.h"
#include "interfaces/http/shapes.h"
#include "interfaces/service/runs.h"
#include "library/library.h"

static const struct field replay_error_fields[] = {
    TEXT_0 ("type", "The exception's."),
    TEXT_0 ("message", "Its text."),
    {0},
};
static const struct field replay_cell_fields[] = {
    WHOLE ("cell", "Its number."),
    TEXT ("outcome", "How it ended."),
    TEXT ("before", "How it had ended, as is on record."),
    PART_0 ("error", replay_error_fields, "Why it failed."),
    TEXTS ("differs",
           "What of the result is not as it was: outcome, stdout, stderr, value, displays or error."),
    PART ("result", result_fields, "What came of it."),
    {0},
};
const struct field replay_fields[] = {
    PART ("session", session_whole_fields, "The new session."),
    LIST ("cells", replay_cell_fields, "Those that were run."),
    {.name = "left_out",
     .types = FIELD_LIST,
     .items = FIELD_INTEGER,
     .text = "Those that were not, since they ended the session."},
    {0},
};

struct replaying {
  struct service *service;
  AdderReplay *replay;
  json_t *plan;               /* what adder_replay_json gives */
  json_t *results;            /* of each cell; NULL: events are sent */
  struct http_stream *stream; /* or NULL */
  char *owner;
  const char *session; /* the new one; the plan's */
};

static void
replaying_free (gpointer data)
{
  struct replaying *replaying = data;
  adder_replay_free (replaying->replay);
  json_decref (replaying->plan);
  json_decref (replaying->results);
  service_end (replaying->service);
  g_free (replaying->owner);
  g_free (replaying);
}

/* Pulls RUN to its end. The caller's. A client that is gone cancels it, and with it the replay. */
static AdderResult *
pull (struct replaying *replaying, AdderRun *run)
{
  AdderEvent event;
  gboolean gone = FALSE;
  const struct run_note note = {
      .owner = replaying->owner, .session = replaying->session, .front_end = "http"};
  runs_add (replaying->service->runs, run, &note);
  struct run_events *events = replaying->stream ? run_events_new (replaying->stream) : NULL;
  while (adder_run_next (run, &event) && event.kind != ADDER_EVENT_RESULT)
    if (events && !gone && !run_events_send (events, run, &event)) {
      gone = TRUE;
      adder_run_cancel (run);
    }
  runs_remove (replaying->service->runs, run, NULL);
  if (events) {
    if (!gone && run_events_flush (events))
      http_stream_send (replaying->stream, "result", NULL, adder_result_json (event.result));
    run_events_free (events);
  }
  return event.result;
}

/* Runs all cells. What came of them, the caller's, or NULL with ERROR. */
static json_t *
run_all (struct replaying *replaying, GError **error)
{
  const json_t *cells = json_object_get (replaying->plan, "cells");
  gsize index = 0;
  for (AdderRun *run; (run = adder_replay_next (replaying->replay)); adder_run_free (run)) {
    json_t *number = json_object_get (json_array_get (cells, index++), "cell");
    if (replaying->stream &&
        !run_events_tell (replaying->stream, "cell", json_pack ("{s:O}", "cell", number)))
      adder_run_cancel (run);
    g_autoptr (AdderResult) result = pull (replaying, run);
    if (replaying->results)
      json_array_append_new (replaying->results, library_result (result));
  }
  return library_replay_finish (replaying->replay, error);
}

static void
produce (struct http_stream *stream, gpointer data)
{
  struct replaying *replaying = data;
  g_autoptr (GError) problem = NULL;
  replaying->stream = stream;
  if (!run_events_tell (stream, "replay", json_incref (replaying->plan)))
    return;
  json_t *report = run_all (replaying, &problem);
  if (!report)
    report = json_pack ("{s:n, s:[], s:O}", "session", "cells", "left_out",
                        json_object_get (replaying->plan, "left_out"));
  json_object_set_new (report, "problem", json_text_or_null (problem ? problem->message : NULL));
  run_events_tell (stream, "end", report);
}

static void
reply_whole (struct http_request *request, struct replaying *replaying)
{
  g_autoptr (GError) problem = NULL;
  replaying->results = json_array ();
  json_t *report = run_all (replaying, &problem);
  if (!report) {
    http_reply_problem (request, problem);
    return;
  }
  gsize index;
  json_t *cell;
  json_array_foreach (json_object_get (report, "cells"), index, cell)
      json_object_set (cell, "result", json_array_get (replaying->results, index));
  http_reply_json (request, 200, report);
}

void
replay_reply (struct http_request *request, AdderReplay *replay, const json_t *body)
{
  g_autoptr (GError) problem = NULL;
  struct service *service = http_service (request);
  if (!service_begin (service, &problem)) {
    adder_replay_free (replay);
    http_reply_problem (request, problem);
    return;
  }
  struct replaying *replaying = g_new0 (struct replaying, 1);
  replaying->service = service;
  replaying->replay = replay;
  replaying->plan = library_replay_plan (replay);
  replaying->owner = g_strdup (http_who (request)->owner);
  replaying->session = json_member_text (json_object_get (replaying->plan, "session"), "session_id");
  if (json_is_true (json_object_get (body, "stream"))) {
    http_reply_produced (request, produce, replaying, replaying_free);
    return;
  }
  reply_whole (request, replaying);
  replaying_free (replaying);
}
