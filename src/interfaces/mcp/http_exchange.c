/* SPDX-License-Identifier: Apache-2.0 */
/* The connection's thread, whose handler alone may write to the connection, and the worker, which must not
 * wait for it, meet in `state`.
 *
 * In the modern era a client that leaves has cancelled: the worker watches a second descriptor of the
 * client's socket, which stays open when the connection closes its own. In the legacy era it has not: the
 * worker continues, and its messages are kept for the client (http_stream.c). */
#include "interfaces/mcp/http_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/log.h"
#include "interfaces/service/quota.h"

#define HTTP_OK       200
#define HTTP_ACCEPTED 202
#define HTTP_GONE     499 /* nobody reads it */
#define HTTP_FAILED   500

enum exchange_state {
  EXCHANGE_RUNS,    /* nothing was said yet */
  EXCHANGE_WANTS,   /* the worker wants a stream */
  EXCHANGE_STREAMS, /* there is one; the connection's thread has left */
  EXCHANGE_LEFT,    /* the client has left, the worker continues */
  EXCHANGE_DONE,    /* the reply is there */
};

LOCK_CLASS (mcp_workers);

struct mcp_workers {
  GThreadPool *pool;
  MUTEX (mcp_workers) lock;
  GCond idle;
  GUARDED_BY (mcp_workers) guint working;
};

LOCK_CLASS (mcp_exchange);

struct mcp_exchange {
  gint references;
  struct mcp_exchange_terms terms; /* with a reference of the session */
  struct reservation *reservation; /* of the body that holds the requests */
  GPtrArray *requests;
  int watch_fd;              /* of the client, modern; -1 */
  int wake_fd;               /* wakes the connection's thread to check `state` */
  struct mcp_stream *stream; /* of the legacy era */
  guint64 after;             /* where it resumes: no requests */
  MUTEX (mcp_exchange) lock;
  GCond opened;
  GUARDED_BY (mcp_exchange) enum exchange_state state;
  struct http_stream *out; /* the worker's, once available */
  GUARDED_BY (mcp_exchange) json_t *reply;
  GUARDED_BY (mcp_exchange) int status;
};

static void
exchange_unref (struct mcp_exchange *exchange)
{
  if (!g_atomic_int_dec_and_test (&exchange->references))
    return;
  g_clear_pointer (&exchange->requests, g_ptr_array_unref);
  reservation_unref (exchange->reservation);
  mcp_http_session_unref (exchange->terms.session);
  mcp_stream_unref (exchange->stream);
  g_clear_pointer (&exchange->out, http_stream_unref);
  UNSHARED (mcp_exchange);
  json_decref (exchange->reply);
  fd_close (&exchange->watch_fd);
  fd_close (&exchange->wake_fd);
  g_mutex_clear (&exchange->lock);
  g_cond_clear (&exchange->opened);
  g_free (exchange);
}

/* ---- the worker ---- */

static void
http_exchange_wake (struct mcp_exchange *exchange)
{
  const guint64 one = 1;
  G_GNUC_UNUSED ssize_t written = write (exchange->wake_fd, &one, sizeof one);
}

/* Whether there is a stream now; FALSE: the client has left. */
static gboolean
want_stream (struct mcp_exchange *exchange)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&exchange->lock);

  if (exchange->state == EXCHANGE_RUNS) {
    exchange->state = EXCHANGE_WANTS;
    http_exchange_wake (exchange);
  }
  while (exchange->state == EXCHANGE_WANTS)
    g_cond_wait (&exchange->opened, &exchange->lock);
  return exchange->state == EXCHANGE_STREAMS;
}

static gboolean
http_exchange_say (struct mcp_exchange *exchange, const json_t *message)
{
  if (exchange->stream != NULL) {
    mcp_stream_send (exchange->stream, message, TRUE);
    return TRUE;
  }
  g_autofree char *text = json_to_text (message);
  return http_stream_send (exchange->out, NULL, NULL, text);
}

static gboolean
send_before (struct mcp_request *request, const json_t *message)
{
  struct mcp_exchange *exchange = request->link_data;

  return want_stream (exchange) && http_exchange_say (exchange, message);
}

static const struct mcp_link link_of_streams = {send_before};

/* A reply that is the whole answer, for the connection's thread. FALSE: it goes to a stream. */
static gboolean
http_exchange_hand_over (struct mcp_exchange *exchange, json_t *reply, int status)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&exchange->lock);

  if (exchange->state == EXCHANGE_STREAMS)
    return FALSE;
  if (exchange->state != EXCHANGE_LEFT)
    exchange->state = EXCHANGE_DONE;
  exchange->reply = json_incref (reply);
  exchange->status = status;
  http_exchange_wake (exchange);
  return TRUE;
}

static void
http_exchange_carry_out (struct mcp_exchange *exchange)
{
  struct mcp_http_session *session = exchange->terms.session;
  g_autoptr (json_t) replies = json_array ();
  int status = HTTP_ACCEPTED;

  for (guint i = 0; i < exchange->requests->len; i++) {
    struct mcp_request *request = g_ptr_array_index (exchange->requests, i);
    struct mcp_reply reply = {NULL, HTTP_ACCEPTED};
    mcp_request_run (request, &reply);
    if (session != NULL)
      mcp_inflight_remove (session->inflight, request->id);
    status = reply.status;
    if (reply.message != NULL && exchange->stream != NULL)
      mcp_stream_send (exchange->stream, reply.message, TRUE);
    else if (reply.message != NULL)
      json_array_append (replies, reply.message);
    mcp_reply_clear (&reply);
  }
  if (exchange->stream != NULL) {
    mcp_stream_done (exchange->stream);
    return;
  }
  json_t *reply = exchange->terms.is_batch ? replies : json_array_get (replies, 0);
  if (!http_exchange_hand_over (exchange, reply, exchange->terms.is_batch ? HTTP_OK : status)) {
    if (reply != NULL)
      http_exchange_say (exchange, reply);
    http_stream_end (exchange->out);
  }
}

static void
http_exchange_work (gpointer data, gpointer user_data)
{
  struct mcp_exchange *exchange = data;
  struct mcp_workers *workers = user_data;
  struct mcp_http_session *session = exchange->terms.session;

  if (exchange->stream != NULL && exchange->out != NULL)
    mcp_stream_attach (exchange->stream, g_steal_pointer (&exchange->out), exchange->after);
  if (exchange->requests != NULL) {
    http_exchange_carry_out (exchange);
    /* They hold the exchange's descriptors. */
    g_clear_pointer (&exchange->requests, g_ptr_array_unref);
  }
  if (session != NULL)
    mcp_http_session_leave (exchange->terms.sessions, session);
  exchange_unref (exchange);

  g_mutex_lock (&workers->lock);
  if (--workers->working == 0)
    g_cond_broadcast (&workers->idle);
  g_mutex_unlock (&workers->lock);
}

struct mcp_workers *
mcp_workers_new (void)
{
  struct mcp_workers *workers = g_new0 (struct mcp_workers, 1);

  g_mutex_init (&workers->lock);
  g_cond_init (&workers->idle);
  /* Without a bound of its own: each belongs to a connection, or is one of a session's permitted active
   * requests. */
  workers->pool = g_thread_pool_new (http_exchange_work, workers, -1, FALSE, NULL);
  return workers;
}

void
mcp_workers_free (struct mcp_workers *workers)
{
  if (workers == NULL)
    return;
  g_mutex_lock (&workers->lock);
  while (workers->working > 0)
    g_cond_wait (&workers->idle, &workers->lock);
  g_mutex_unlock (&workers->lock);
  g_thread_pool_free (workers->pool, FALSE, TRUE);
  g_mutex_clear (&workers->lock);
  g_cond_clear (&workers->idle);
  g_free (workers);
}

/* It gets EXCHANGE's own reference. */
static void
set_to_work (struct mcp_exchange *exchange)
{
  struct mcp_workers *workers = exchange->terms.workers;
  g_autoptr (GError) problem = NULL;

  if (exchange->terms.session != NULL)
    mcp_http_session_enter (exchange->terms.session);
  g_mutex_lock (&workers->lock);
  workers->working++;
  g_mutex_unlock (&workers->lock);
  /* If no thread can be made it waits for an existing one. */
  if (!g_thread_pool_push (workers->pool, exchange, &problem))
    log_warning ("a request of MCP waits for a thread: %s", problem->message);
}

/* ---- the connection's thread ---- */

static struct mcp_exchange *
exchange_new (const struct mcp_exchange_terms *terms)
{
  struct mcp_exchange *exchange = g_new0 (struct mcp_exchange, 1);

  exchange->references = 1;
  exchange->terms = *terms;
  if (terms->session != NULL)
    mcp_http_session_ref (terms->session);
  exchange->watch_fd = exchange->wake_fd = -1;
  g_mutex_init (&exchange->lock);
  g_cond_init (&exchange->opened);
  return exchange;
}

/* Gives the worker a stream, or in the modern era one to send keep-alives. */
REQUIRES (mcp_exchange)
static void
open_stream (struct mcp_exchange *exchange, struct http_request *request)
{
  exchange->out = http_reply_stream (request);
  exchange->state = EXCHANGE_STREAMS;
  g_cond_broadcast (&exchange->opened);
}

/* Replies if the reply is known. */
static gboolean
try_reply (struct mcp_exchange *exchange, struct http_request *request, gboolean is_late)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&exchange->lock);

  if (exchange->state == EXCHANGE_WANTS ||
      (exchange->state == EXCHANGE_RUNS && is_late && exchange->terms.may_stream)) {
    open_stream (exchange, request);
    return TRUE;
  }
  if (exchange->state != EXCHANGE_DONE)
    return FALSE;
  if (exchange->reply != NULL)
    http_reply_json (request, exchange->status, json_incref (exchange->reply));
  else
    http_reply_status (request, exchange->status);
  return TRUE;
}

/* The client is gone. TRUE: the worker continues alone. */
static gboolean
http_exchange_leave (struct mcp_exchange *exchange, struct http_request *request)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&exchange->lock);

  if (exchange->terms.session == NULL || exchange->state != EXCHANGE_RUNS)
    return FALSE;
  exchange->state = EXCHANGE_LEFT;
  http_reply_status (request, HTTP_GONE);
  return TRUE;
}

static void
wait_for_reply (struct mcp_exchange *exchange, struct http_request *request)
{
  gint64 late_us = g_get_monotonic_time () + (gint64)exchange->terms.stream_after_ms * 1000;
  gboolean is_gone = FALSE;

  for (;;) {
    gint64 left_us = late_us - g_get_monotonic_time ();
    if (try_reply (exchange, request, left_us <= 0 && !is_gone))
      return;
    struct pollfd ready[] = {
        {.fd = exchange->wake_fd, .events = POLLIN},
        {.fd = is_gone ? -1 : http_watch_fd (request), .events = POLLRDHUP},
    };
    gboolean can_be_late = exchange->terms.may_stream && left_us > 0;
    if (poll (ready, G_N_ELEMENTS (ready), can_be_late ? (int)(left_us / 1000) + 1 : -1) < 0 &&
        errno != EINTR)
      log_error ("cannot wait for a request of MCP: %s", g_strerror (errno));
    if (ready[0].revents != 0) {
      guint64 count;
      G_GNUC_UNUSED ssize_t got = read (exchange->wake_fd, &count, sizeof count);
    }
    if (ready[1].revents != 0) {
      is_gone = TRUE;
      if (http_exchange_leave (exchange, request))
        return;
    }
  }
}

void
mcp_exchange_serve (const struct mcp_exchange_terms *terms, GPtrArray *requests, struct http_request *request)
{
  struct mcp_exchange *exchange = exchange_new (terms);
  gboolean is_legacy = terms->session != NULL;

  exchange->requests = requests;
  exchange->reservation = reservation_ref (http_reservation (request));
  exchange->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!is_legacy && http_watch_fd (request) >= 0)
    exchange->watch_fd = fcntl (http_watch_fd (request), F_DUPFD_CLOEXEC, 0);
  if (exchange->wake_fd < 0 || (!is_legacy && exchange->watch_fd < 0 && http_watch_fd (request) >= 0)) {
    log_error ("no descriptor for a request of MCP: %s", g_strerror (errno));
    http_reply_status (request, HTTP_FAILED);
    if (is_legacy)
      for (guint i = 0; i < requests->len; i++)
        mcp_inflight_remove (terms->session->inflight, ((struct mcp_request *)requests->pdata[i])->id);
    exchange_unref (exchange);
    return;
  }
  for (guint i = 0; i < requests->len; i++) {
    struct mcp_request *each = g_ptr_array_index (requests, i);
    each->link = terms->may_stream ? &link_of_streams : NULL;
    each->link_data = exchange;
    each->reservation = exchange->reservation;
    if (!is_legacy)
      each->watch_fd = exchange->watch_fd;
  }
  if (is_legacy && terms->may_stream) {
    /* At once, so that a client that loses the connection before the first message can resume. */
    exchange->stream = mcp_stream_new (terms->session->streams);
    UNSHARED (mcp_exchange); /* until the worker begins */
    open_stream (exchange, request);
    set_to_work (exchange);
    return;
  }
  g_atomic_int_inc (&exchange->references);
  set_to_work (exchange);
  wait_for_reply (exchange, request);
  exchange_unref (exchange);
}

void
mcp_exchange_resume (const struct mcp_exchange_terms *terms, struct mcp_stream *stream, guint64 after,
                     struct http_request *request)
{
  struct mcp_exchange *exchange = exchange_new (terms);

  exchange->stream = stream;
  exchange->after = after;
  UNSHARED (mcp_exchange); /* until the worker begins */
  open_stream (exchange, request);
  set_to_work (exchange);
}

gboolean
mcp_http_pause (struct mcp_request *request)
{
  struct mcp_exchange *exchange = request->link == &link_of_streams ? request->link_data : NULL;

  if (exchange == NULL || exchange->stream == NULL)
    return FALSE;
  mcp_stream_pause (exchange->stream);
  return TRUE;
}
