/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as replies. Each counts as work of the daemon, and is in the table of runs under way, from its start
 * to its result. */
#include "interfaces/http/run_reply.h"

#include "common/json.h"
#include "interfaces/service/quota.h"
#include "library/library.h"
#include "library/runs.h"

/* A run with what is known of it; all of it is owned. */
struct running {
  struct service *service;
  AdderRun *run;
  struct reservation *reservation; /* of the body, of which the run has copies */
  char *owner, *conversation, *session;
  gboolean background;
  gboolean listed; /* in the table of runs */
};

static void
running_free (gpointer data)
{
  struct running *running = data;
  if (running->listed)
    runs_remove (running->service->engine->runs, running->run, NULL);
  adder_run_free (running->run);
  reservation_unref (running->reservation);
  service_end (running->service);
  g_free (running->owner);
  g_free (running->conversation);
  g_free (running->session);
  g_free (running);
}

/* Whether it may begin, which is known before anything of it is done. */
static gboolean
run_reply_begin (struct service *service, const char *owner, gboolean background, GError **error)
{
  if (!service_begin (service, error))
    return FALSE;
  if (!background || runs_reserve (service->engine->runs, owner, error))
    return TRUE;
  service_end (service);
  return FALSE;
}

/* Takes ASKED. NULL with ERROR. */
static struct running *
run_reply_start (struct http_request *request, AdderRequest *asked, const json_t *body, GError **error)
{
  struct service *service = http_service (request);
  const char *owner = http_who (request)->owner;
  gboolean background = json_is_true (json_object_get (body, "background"));
  struct running *running = NULL;
  if (run_reply_begin (service, owner, background, error)) {
    running = g_new0 (struct running, 1);
    running->service = service;
    running->reservation = reservation_ref (http_reservation (request));
    running->owner = g_strdup (owner);
    running->conversation = g_strdup (json_string_value (json_object_get (body, "conversation")));
    running->session = g_strdup (json_string_value (json_object_get (body, "session")));
    running->background = background;
    if (background)
      adder_request_set_watch (asked, -1);
    running->run = adder_run_start (service->engine, asked);
    const struct run_note note = {running->owner, running->conversation, running->session, "http",
                                  background};
    runs_add (service->engine->runs, running->run, &note);
    running->listed = TRUE;
  }
  adder_request_free (asked);
  return running;
}

/* Pulls the run to its end. EVENTS NULL: nobody hears of it. The caller's. */
static AdderResult *
run_reply_pull (struct running *running, struct run_events *events)
{
  AdderEvent event;
  gboolean gone = FALSE;
  while (adder_run_next (running->run, &event) && event.kind != ADDER_EVENT_RESULT)
    if (events && !gone && !run_events_send (events, running->run, &event)) {
      gone = TRUE;
      adder_run_cancel (running->run);
    }
  runs_remove (running->service->engine->runs, running->run, event.result);
  running->listed = FALSE;
  return event.result;
}

/* ---- a result ---- */

static void
reply_busy (struct http_request *request, const AdderResult *result)
{
  g_autoptr (json_t) value = library_result (result);
  g_autoptr (GError) problem = g_error_new_literal (
      ADDER_ERROR, ADDER_ERROR_BUSY, json_member_text (json_object_get (value, "error"), "message"));
  http_reply_problem (request, problem);
}

static void
reply_result (struct http_request *request, struct running *running)
{
  g_autoptr (AdderResult) result = run_reply_pull (running, NULL);
  if (adder_result_outcome (result) == ADDER_OUTCOME_BUSY)
    reply_busy (request, result);
  else
    http_reply_text (request, 200, g_strdup (adder_result_json (result)), NULL);
  running_free (running);
}

/* ---- a stream ---- */

static void
run_reply_produce (struct http_stream *stream, gpointer data)
{
  struct running *running = data;
  struct run_events *events = run_events_new (stream);
  g_autoptr (AdderResult) result = run_reply_pull (running, events);
  if (run_events_flush (events))
    http_stream_send (stream, "result", NULL, adder_result_json (result));
  run_events_free (events);
}

/* ---- the background ---- */

static gpointer
run_reply_go_on (gpointer data)
{
  struct running *running = data;
  adder_result_free (run_reply_pull (running, NULL));
  running_free (running);
  return NULL;
}

static void
reply_background (struct http_request *request, struct running *running)
{
  struct service *service = running->service;
  g_autofree char *id = g_strdup (adder_run_id (running->run));
  g_autofree char *place = g_strdup_printf ("/v1/runs/%s", id);
  g_autoptr (GError) problem = NULL;
  json_t *shown = runs_show (service->engine->runs, running->owner, id, NULL);
  GThread *thread = g_thread_try_new ("adder-http-run", run_reply_go_on, running, &problem);
  if (!thread) {
    json_decref (shown);
    adder_run_cancel (running->run);
    adder_result_free (run_reply_pull (running, NULL));
    running_free (running);
    http_reply_problem (request, problem);
    return;
  }
  g_thread_unref (thread);
  json_object_set_new (shown, "record", json_null ());
  http_set_header (request, "Location", place);
  http_reply_json (request, 202, shown);
}

void
run_reply (struct http_request *request, AdderRequest *asked, const json_t *body)
{
  g_autoptr (GError) problem = NULL;
  gboolean stream = json_is_true (json_object_get (body, "stream"));
  if (stream && json_is_true (json_object_get (body, "background"))) {
    adder_request_free (asked);
    g_set_error (&problem, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "a run is streamed or goes on in the background, not both");
    http_reply_problem (request, problem);
    return;
  }
  struct running *running = run_reply_start (request, asked, body, &problem);
  if (!running)
    http_reply_problem (request, problem);
  else if (running->background)
    reply_background (request, running);
  else if (stream)
    http_reply_produced (request, run_reply_produce, running, running_free);
  else
    reply_result (request, running);
}
