/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/http/replay_reply.h"

#include "common/json.h"
#include "interfaces/http/run_reply.h"
#include "library/library.h"
#include "library/runs.h"

struct replaying {
  struct service *service;
  AdderReplay *replay;
  json_t *plan; /* from adder_replay_json */
  struct http_stream *stream;
  char *owner;
  const char *session; /* the new one; the plan's */
};

static void
replaying_free (gpointer data)
{
  struct replaying *replaying = data;
  adder_replay_free (replaying->replay);
  json_decref (replaying->plan);
  service_end (replaying->service);
  g_free (replaying->owner);
  g_free (replaying);
}

/* Pulls RUN to its end. If the client leaves, the run and the replay are cancelled. */
static void
replay_reply_pull (struct replaying *replaying, AdderRun *run)
{
  AdderEvent event;
  gboolean gone = FALSE;
  const struct run_note note = {
      .owner = replaying->owner, .session = replaying->session, .front_end = "http"};
  runs_add (replaying->service->engine->runs, run, &note);
  struct run_events *events = run_events_new (replaying->stream, FALSE, NULL);
  while (adder_run_next (run, &event) && event.kind != ADDER_EVENT_RESULT)
    if (!gone && !run_events_send (events, run, &event)) {
      gone = TRUE;
      adder_run_cancel (run);
    }
  runs_remove (replaying->service->engine->runs, run, NULL);
  if (!gone)
    run_events_end (events, event.result);
  run_events_free (events);
  adder_result_free (event.result);
}

/* Runs all cells. The result, the caller's, or NULL with ERROR. */
static json_t *
run_all (struct replaying *replaying, GError **error)
{
  const json_t *cells = json_object_get (replaying->plan, "cells");
  gsize index = 0;
  for (AdderRun *run; (run = adder_replay_next (replaying->replay)); adder_run_free (run)) {
    json_t *number = json_object_get (json_array_get (cells, index++), "cell");
    if (!run_events_tell (replaying->stream, "cell", json_pack ("{s:O}", "cell", number)))
      adder_run_cancel (run);
    replay_reply_pull (replaying, run);
  }
  return library_replay_finish (replaying->replay, error);
}

static void
replay_reply_produce (struct http_stream *stream, gpointer data)
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

void
replay_reply (struct http_request *request, AdderReplay *replay)
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
  http_reply_produced (request, replay_reply_produce, replaying, replaying_free);
}
