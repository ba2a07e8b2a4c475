/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/http/replay_reply.h"

#include "common/json.h"
#include "frontends/http/run_reply.h"
#include "frontends/http/shapes.h"
#include "frontends/protocol.h"

static const struct field replay_cell_fields[] = {
    WHOLE ("cell", "Its number."),
    PART ("result", result_fields, "What came of it."),
    {0},
};
const struct field replay_fields[] = {
    PART ("session", session_fields, "The new session, as it was made."),
    LIST ("cells", replay_cell_fields, "Those that were run."),
    {.name = "left_out", .types = FIELD_LIST, .items = FIELD_INTEGER, .text = "Those that were not."},
    {0},
};

struct replaying {
  struct service *service;
  AdderReplay *replay;
  json_t *plan; /* {"session", "cells": [{"cell", "code"}]} */
  json_t *done; /* [{"cell", "result"}]; NULL: events are sent */
  json_t *left_out;
  struct http_stream *stream; /* or NULL */
  gboolean keep_going;
};

static void
replaying_free (gpointer data)
{
  struct replaying *replaying = data;
  adder_replay_free (replaying->replay);
  json_decref (replaying->plan);
  json_decref (replaying->done);
  json_decref (replaying->left_out);
  service_end (replaying->service);
  g_free (replaying);
}

/* Pulls RUN to its end. The caller's. */
static AdderResult *
pull (struct replaying *replaying, AdderRun *run)
{
  AdderEvent event;
  gboolean gone = FALSE;
  struct run_events *events = replaying->stream ? run_events_new (replaying->stream) : NULL;
  while (adder_run_next (run, &event) && event.kind != ADDER_EVENT_RESULT)
    if (events && !gone && !run_events_send (events, run, &event)) {
      gone = TRUE;
      adder_run_cancel (run);
    }
  if (events) {
    if (!gone && run_events_flush (events))
      http_stream_send (replaying->stream, "result", NULL, adder_result_json (event.result));
    run_events_free (events);
  }
  return event.result;
}

/* Runs the cell NUMBER (json), which is next. */
static AdderOutcome
run_cell (struct replaying *replaying, json_t *number)
{
  g_autoptr (AdderRun) run = adder_replay_next (replaying->replay);
  if (!run)
    return ADDER_OUTCOME_FAILED;
  if (replaying->stream)
    run_events_tell (replaying->stream, "cell", json_pack ("{s:O}", "cell", number));
  g_autoptr (AdderResult) result = pull (replaying, run);
  if (replaying->done)
    json_array_append_new (replaying->done, json_pack ("{s:O, s:o}", "cell", number, "result",
                                                       json_loads (adder_result_json (result), 0, NULL)));
  return adder_result_outcome (result);
}

static void
run_all (struct replaying *replaying)
{
  gsize index;
  json_t *cell;
  AdderOutcome outcome = ADDER_OUTCOME_OK;
  gboolean goes_on = TRUE;
  json_array_foreach (json_object_get (replaying->plan, "cells"), index, cell)
  {
    json_t *number = json_object_get (cell, "cell");
    goes_on = goes_on && protocol_replay_goes_on (outcome, replaying->keep_going) &&
              !(replaying->stream && http_stream_is_gone (replaying->stream));
    if (goes_on)
      outcome = run_cell (replaying, number);
    else
      json_array_append (replaying->left_out, number);
  }
}

static void
produce (struct http_stream *stream, gpointer data)
{
  struct replaying *replaying = data;
  replaying->stream = stream;
  if (run_events_tell (stream, "replay", json_incref (replaying->plan)))
    run_all (replaying);
  run_events_tell (stream, "end", json_pack ("{s:O}", "left_out", replaying->left_out));
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
  replaying->plan = json_loads (adder_replay_json (replay), 0, NULL);
  replaying->left_out = json_array ();
  replaying->keep_going = json_is_true (json_object_get (body, "keep_going"));
  if (json_is_true (json_object_get (body, "stream"))) {
    http_reply_produced (request, produce, replaying, replaying_free);
    return;
  }
  replaying->done = json_array ();
  run_all (replaying);
  http_reply_json (request, 200,
                   json_pack ("{s:O, s:O, s:O}", "session", json_object_get (replaying->plan, "session"),
                              "cells", replaying->done, "left_out", replaying->left_out));
  replaying_free (replaying);
}
