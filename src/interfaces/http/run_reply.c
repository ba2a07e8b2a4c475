/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as replies. Each counts as the daemon's work, and is in the table of active runs, from its start to
 * its result. */
#include "interfaces/http/run_reply.h"

#include "common/json.h"
#include "engine/engine.h"
#include "engine/host/id.h"
#include "engine/run/run.h"
#include "engine/session/sessions.h"
#include "interfaces/service/quota.h"
#include "library/library.h"
#include "library/run_log.h"
#include "library/runs.h"
#include "store/departed.h"

static gboolean
is_asked (const json_t *body, const char *name)
{
  return json_is_true (json_object_get (body, name));
}

/* A run with its context; all of it is owned. */
struct running {
  struct service *service;
  AdderRun *run;
  struct reservation *reservation; /* of the body, of which the run has copies */
  char *owner, *conversation, *session;
  gboolean background;
  gboolean listed;     /* in the table of runs */
  struct run_log *log; /* of one in the background: receives its events */
  AdderResult *result; /* of one that was replied whole */
  gboolean over;       /* it no longer counts as the daemon's work */
};

/* Ends everything that others can see of it. */
static void
running_end (struct running *running)
{
  if (running->listed)
    runs_remove (running->service->engine->runs, running->run, NULL);
  running->listed = FALSE;
  g_clear_pointer (&running->reservation, reservation_unref);
  if (!running->over)
    service_end (running->service);
  running->over = TRUE;
}

static void
running_free (gpointer data)
{
  struct running *running = data;
  running_end (running);
  adder_run_free (running->run);
  adder_result_free (running->result);
  run_log_unref (running->log);
  g_free (running->owner);
  g_free (running->conversation);
  g_free (running->session);
  g_free (running);
}

/* A client that gets its answer before the cell runs cannot be sent to another node afterwards. */
static gboolean
run_reply_check_session (struct service *service, const char *owner, const json_t *body, GError **error)
{
  const char *session = json_string_value (json_object_get (body, "session"));
  gboolean at_once = is_asked (body, "stream") || is_asked (body, "background");
  return !session || !at_once ||
         sessions_check_stays (service->engine->engine->sessions, owner, session, error);
}

/* Whether it may begin, decided before any side effect. */
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
  /* A detached run is in the background, and its caller follows it. */
  gboolean background = is_asked (body, "background") || is_asked (body, "detach");
  struct running *running = NULL;
  if (run_reply_check_session (service, owner, body, error) &&
      run_reply_begin (service, owner, background, error)) {
    running = g_new0 (struct running, 1);
    running->service = service;
    running->reservation = reservation_ref (http_reservation (request));
    running->owner = g_strdup (owner);
    running->conversation = g_strdup (json_string_value (json_object_get (body, "conversation")));
    running->session = g_strdup (json_string_value (json_object_get (body, "session")));
    running->background = background;
    if (background) {
      adder_request_set_watch (asked, -1);
      running->log = run_log_new (service->config->http_event_bytes);
    }
    http_set_queued (request, asked);
    running->run = adder_run_start (service->engine, asked);
    const struct run_note note = {running->owner, running->conversation, running->session, "http",
                                  background,     running->log};
    runs_add (service->engine->runs, running->run, &note);
    running->listed = TRUE;
  }
  adder_request_free (asked);
  return running;
}

/* Pulls the run to its end. EVENTS NULL: they are dropped. The caller's. */
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
  /* The table keeps no result of a run with a waiting caller. */
  runs_remove (running->service->engine->runs, running->run, running->background ? event.result : NULL);
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
  running->result = run_reply_pull (running, NULL);
  if (adder_result_outcome (running->result) == ADDER_OUTCOME_BUSY)
    reply_busy (request, running->result);
  else
    http_reply_text (request, 200, g_strdup (adder_result_json (running->result)), NULL);
  running_end (running);
  /* Nobody need wait for freeing it. */
  http_free_after (request, running, running_free);
}

/* ---- a stream ---- */

static void
run_reply_produce (struct http_stream *stream, gpointer data)
{
  struct running *running = data;
  struct run_events *events = run_events_new (stream, TRUE, NULL);
  g_autoptr (AdderResult) result = run_reply_pull (running, events);
  run_events_end (events, result);
  run_events_free (events);
}

/* ---- the background ---- */

static gpointer
run_reply_go_on (gpointer data)
{
  struct running *running = data;
  struct run_events *events = run_events_new (NULL, TRUE, running->log);
  g_autoptr (AdderResult) result = run_reply_pull (running, events);
  /* What goes back to the queue of the cluster has no result yet. */
  if (request_is_handed_on (run_request (running->run), adder_result_outcome (result)))
    (void)run_events_flush (events);
  else
    run_events_end (events, result);
  run_log_end (running->log);
  run_events_free (events);
  running_free (running);
  return NULL;
}

/* Moves RUNNING, which is taken, to a thread of its own. FALSE with a reply, and it was cancelled. */
static gboolean
run_reply_let_go (struct http_request *request, struct running *running)
{
  g_autoptr (GError) problem = NULL;
  GThread *thread = g_thread_try_new ("adder-http-run", run_reply_go_on, running, &problem);
  if (thread) {
    g_thread_unref (thread);
    return TRUE;
  }
  adder_run_cancel (running->run);
  run_reply_go_on (running);
  http_reply_problem (request, problem);
  return FALSE;
}

static void
reply_background (struct http_request *request, struct running *running)
{
  struct service *service = running->service;
  g_autofree char *id = g_strdup (adder_run_id (running->run));
  g_autofree char *place = g_strdup_printf ("/v1/runs/%s", id);
  json_t *shown = runs_show (service->engine->runs, running->owner, id, NULL);
  /* What is accepted leaves a record, whatever happens to this node. */
  if (!id_is_queued (id))
    departed_settle (store_departed (service->engine->store));
  if (!run_reply_let_go (request, running)) {
    json_decref (shown);
    return;
  }
  json_object_set_new (shown, "record", json_null ());
  http_set_header (request, "Location", place);
  http_reply_json (request, 202, shown);
}

/* ---- followers ---- */

struct following {
  struct run_log *log;
  guint64 after;
};

static void
following_free (gpointer data)
{
  struct following *following = data;
  run_log_unref (following->log);
  g_free (following);
}

static gboolean
follow_event (struct http_stream *stream, struct run_logged *event)
{
  char id[24];
  g_snprintf (id, sizeof id, "%" G_GUINT64_FORMAT, event->number);
  gboolean sent = http_stream_send (stream, event->name, id, event->text);
  run_logged_unref (event);
  return sent;
}

static void
follow_produce (struct http_stream *stream, gpointer data)
{
  struct following *following = data;
  int watch_fd = http_stream_watch_fd (stream);
  for (gboolean sent = TRUE; sent;) {
    struct run_logged *event;
    guint64 missed;
    switch (run_log_next (following->log, following->after, watch_fd, &event, &missed)) {
    case RUN_LOG_EVENT:
      following->after = event->number;
      sent = follow_event (stream, event);
      break;
    case RUN_LOG_MISSED:
      following->after += missed;
      sent = run_events_tell (stream, "missed", json_pack ("{s:I}", "events", (json_int_t)missed));
      break;
    case RUN_LOG_ENDED:
    case RUN_LOG_GONE:
    default:
      return;
    }
  }
}

void
run_follow (struct http_request *request, struct run_log *log, guint64 after)
{
  struct following *following = g_new (struct following, 1);
  *following = (struct following){log, after};
  http_reply_produced (request, follow_produce, following, following_free);
}

static void
reply_detached (struct http_request *request, struct running *running)
{
  struct run_log *log = run_log_ref (running->log);
  if (run_reply_let_go (request, running))
    run_follow (request, log, 0);
  else
    run_log_unref (log);
}

/* ---- each way of replying ---- */

static void
reply_streamed (struct http_request *request, struct running *running)
{
  http_reply_produced (request, run_reply_produce, running, running_free);
}

/* Which of these the body may combine. */
static const struct {
  gboolean stream, background, detach;
  void (*reply) (struct http_request *request, struct running *running);
} ways[] = {
    {FALSE, FALSE, FALSE, reply_result},
    {TRUE, FALSE, FALSE, reply_streamed},
    {TRUE, FALSE, TRUE, reply_detached},
    {FALSE, TRUE, FALSE, reply_background},
};

void
run_reply (struct http_request *request, AdderRequest *asked, const json_t *body)
{
  g_autoptr (GError) problem = NULL;
  gsize way = 0;
  while (way < G_N_ELEMENTS (ways) && (ways[way].stream != is_asked (body, "stream") ||
                                       ways[way].background != is_asked (body, "background") ||
                                       ways[way].detach != is_asked (body, "detach")))
    way++;
  struct running *running = NULL;
  if (way < G_N_ELEMENTS (ways))
    running = run_reply_start (request, asked, body, &problem);
  else {
    adder_request_free (asked);
    g_set_error (
        &problem, ADDER_ERROR, ADDER_ERROR_INVALID,
        "a run is streamed or goes on in the background, not both, and only one that is streamed can "
        "be detached");
  }
  if (running)
    ways[way].reply (request, running);
  else
    http_reply_problem (request, problem);
}
