/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of events: writers put bytes into a buffer of bounded size, and the connection's thread takes them
 * out. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/guarded.h"
#include "common/log.h"
#include "interfaces/http/http_private.h"

#define BUFFER_BYTES   (256 * 1024) /* pending for a slow client; one write may exceed it once */
#define PRODUCER_STACK (2 * 1024 * 1024)

LOCK_CLASS (http_stream);

struct http_stream {
  gint references;
  struct http_server *server;
  struct http_socket *socket;
  struct reservation *reservation; /* of the request's body, which the stream may use */
  gboolean events;                 /* text/event-stream: comments keep it alive */
  gboolean mute;                   /* HEAD: nothing is sent */
  int wake_fd;                     /* an eventfd: something was written, or the end */
  guint64 alive_ms, stall_ms;

  MUTEX (http_stream) lock;
  GCond drained;
  GUARDED_BY (http_stream) GString *buffer;
  GUARDED_BY (http_stream) gboolean ended, gone;
};

struct http_stream *
http_stream_ref (struct http_stream *stream)
{
  g_atomic_int_inc (&stream->references);
  return stream;
}

void
http_stream_unref (struct http_stream *stream)
{
  if (!stream || !g_atomic_int_dec_and_test (&stream->references))
    return;
  http_socket_unref (stream->socket);
  reservation_unref (stream->reservation);
  fd_close (&stream->wake_fd);
  UNSHARED (http_stream);
  g_string_free (stream->buffer, TRUE);
  g_mutex_clear (&stream->lock);
  g_cond_clear (&stream->drained);
  g_free (stream);
}

static void
http_stream_wake (struct http_stream *stream)
{
  guint64 one = 1;
  /* If full, it is already awake. */
  G_GNUC_UNUSED ssize_t put = write (stream->wake_fd, &one, sizeof one);
}

void
http_stream_cut (struct http_stream *stream)
{
  g_mutex_lock (&stream->lock);
  stream->gone = TRUE;
  g_cond_broadcast (&stream->drained);
  g_mutex_unlock (&stream->lock);
}

/* ---- the connection's thread ---- */

/* Whether the client hung up, and not we, by shutting down the reading half when the daemon ends. */
static gboolean
is_hung_up (struct http_stream *stream, short seen)
{
  if (seen & (POLLHUP | POLLERR))
    return TRUE;
  if (!(seen & POLLRDHUP))
    return FALSE;
  g_mutex_lock (&stream->server->lock);
  gboolean ending = stream->server->ending;
  g_mutex_unlock (&stream->server->lock);
  return !ending;
}

/* Waits for something to send. FALSE: the client is gone. *RET_COMMENT: a sign of life is due after
 * silence. */
static gboolean
wait_for_bytes (struct http_stream *stream, gboolean *ret_comment)
{
  struct pollfd ready[] = {
      {.fd = stream->wake_fd, .events = POLLIN},
      {.fd = stream->socket->fd, .events = POLLRDHUP},
  };
  gboolean hung_up_by_us = FALSE;
  gint64 due = g_get_monotonic_time () + (gint64)stream->alive_ms * 1000;
  *ret_comment = FALSE;
  for (;;) {
    gint64 left_us = MAX (0, due - g_get_monotonic_time ());
    int n = poll (ready, hung_up_by_us ? 1 : 2, (int)(left_us / 1000 + 1));
    if (n < 0 && errno != EINTR)
      return FALSE;
    if (n == 0 && stream->events) {
      *ret_comment = TRUE;
      return TRUE;
    }
    if (n == 0)
      due += (gint64)stream->alive_ms * 1000;
    if (n > 0 && !hung_up_by_us && ready[1].revents) {
      if (is_hung_up (stream, ready[1].revents))
        return FALSE;
      hung_up_by_us = TRUE;
    }
    if (n > 0 && ready[0].revents) {
      guint64 count;
      G_GNUC_UNUSED ssize_t got = read (stream->wake_fd, &count, sizeof count);
      return TRUE;
    }
  }
}

REQUIRES (http_stream)
static gsize
http_stream_take (struct http_stream *stream, char *buffer, gsize size)
{
  gsize n = MIN (size, stream->buffer->len);
  memcpy (buffer, stream->buffer->str, n);
  g_string_erase (stream->buffer, 0, (gssize)n);
  if (n > 0)
    g_cond_broadcast (&stream->drained);
  return n;
}

static gssize
http_stream_read_stream (gpointer data, char *buffer, gsize size)
{
  static const char comment[] = ":\n\n";
  struct http_stream *stream = data;
  gboolean due;
  for (;;) {
    g_mutex_lock (&stream->lock);
    gsize n = http_stream_take (stream, buffer, size);
    gboolean ended = stream->ended;
    g_mutex_unlock (&stream->lock);
    if (n > 0 || ended)
      return (gssize)n;
    if (!wait_for_bytes (stream, &due)) {
      http_stream_cut (stream);
      return -1;
    }
    if (due && size >= sizeof comment) {
      memcpy (buffer, comment, sizeof comment - 1);
      return sizeof comment - 1;
    }
  }
}

/* ---- writers ---- */

gboolean
http_stream_write (struct http_stream *stream, const void *data, gsize length)
{
  gint64 deadline = g_get_monotonic_time () + (gint64)stream->stall_ms * 1000;
  g_mutex_lock (&stream->lock);
  while (!stream->gone && !stream->mute && stream->buffer->len >= BUFFER_BYTES)
    if (!g_cond_wait_until (&stream->drained, &stream->lock, deadline)) {
      /* The client reads nothing: the rest of the reply would wait forever. */
      stream->gone = TRUE;
      shutdown (stream->socket->fd, SHUT_RDWR);
    }
  gboolean ok = !stream->gone && !stream->ended;
  if (ok && !stream->mute) {
    gboolean asleep = stream->buffer->len == 0;
    g_string_append_len (stream->buffer, data, (gssize)length);
    if (asleep)
      http_stream_wake (stream);
  }
  g_mutex_unlock (&stream->lock);
  return ok;
}

static void
http_stream_add_line (GString *event, const char *name, const char *text, gsize length)
{
  g_string_append (event, name);
  g_string_append (event, ": ");
  g_string_append_len (event, text, (gssize)length);
  g_string_append_c (event, '\n');
}

gboolean
http_stream_send (struct http_stream *stream, const char *name, const char *id, const char *data)
{
  g_autoptr (GString) event = g_string_sized_new (strlen (data) + 64);
  if (name)
    http_stream_add_line (event, "event", name, strcspn (name, "\r\n"));
  if (id)
    http_stream_add_line (event, "id", id, strcspn (id, "\r\n"));
  for (const char *at = data;;) {
    gsize length = strcspn (at, "\r\n");
    http_stream_add_line (event, "data", at, length);
    if (at[length] == '\0')
      break;
    at += length + (at[length] == '\r' && at[length + 1] == '\n' ? 2 : 1);
  }
  g_string_append_c (event, '\n');
  return http_stream_write (stream, event->str, event->len);
}

gboolean
http_stream_prime (struct http_stream *stream, const char *id, guint retry_ms)
{
  g_autoptr (GString) event = g_string_new (NULL);
  if (id)
    http_stream_add_line (event, "id", id, strcspn (id, "\r\n"));
  if (retry_ms > 0)
    g_string_append_printf (event, "retry: %u\n", retry_ms);
  g_string_append (event, "data:\n\n");
  return http_stream_write (stream, event->str, event->len);
}

gboolean
http_stream_is_full (struct http_stream *stream)
{
  g_mutex_lock (&stream->lock);
  gboolean full = stream->buffer->len >= BUFFER_BYTES;
  g_mutex_unlock (&stream->lock);
  return full;
}

int
http_stream_watch_fd (struct http_stream *stream)
{
  return stream->socket->fd;
}

gboolean
http_stream_is_gone (struct http_stream *stream)
{
  g_mutex_lock (&stream->lock);
  gboolean gone = stream->gone;
  g_mutex_unlock (&stream->lock);
  return gone;
}

void
http_stream_end (struct http_stream *stream)
{
  g_mutex_lock (&stream->lock);
  stream->ended = TRUE;
  http_stream_wake (stream);
  g_mutex_unlock (&stream->lock);
}

/* ---- replies ---- */

static struct http_stream *
reply_with (struct http_request *request, int status, const char *type, gboolean events)
{
  const struct config *config = request->server->config;
  struct http_stream *stream = g_new0 (struct http_stream, 1);
  stream->references = 2; /* the request's, and the caller's */
  stream->server = request->server;
  stream->socket = http_socket_ref (request->connection->socket);
  stream->reservation = reservation_ref (http_reservation (request));
  stream->events = events;
  stream->mute = request->head_only;
  stream->alive_ms = config->http_alive_ms;
  stream->stall_ms = config->http_stall_ms;
  g_mutex_init (&stream->lock);
  stream->buffer = g_string_new (NULL);
  g_cond_init (&stream->drained);
  stream->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  request->stream = stream;
  if (events) {
    /* Tells buffering proxies (nginx) to pass the reply on at once. */
    http_set_header (request, "X-Accel-Buffering", "no");
    /* The first bytes go at once, to confirm the request to the client. */
    g_string_append (stream->buffer, ":\n\n");
  }
  struct wire_reply reply = {.fd = -1, .read = http_stream_read_stream, .read_data = stream};
  http_reply_send (request, status, type, &reply);
  return stream;
}

struct http_stream *
http_reply_stream (struct http_request *request)
{
  return reply_with (request, 200, "text/event-stream", TRUE);
}

struct http_stream *
http_reply_chunks (struct http_request *request, int status, const char *type)
{
  return reply_with (request, status, type, FALSE);
}

struct producer {
  struct http_stream *stream;
  void (*produce) (struct http_stream *stream, gpointer data);
  gpointer data;
  GDestroyNotify release;
};

static void
producer_free (struct producer *producer)
{
  struct http_server *server = producer->stream->server;
  http_stream_end (producer->stream);
  if (producer->release)
    producer->release (producer->data);
  http_stream_unref (producer->stream);
  g_free (producer);
  g_mutex_lock (&server->lock);
  server->producers--;
  g_cond_broadcast (&server->ended);
  g_mutex_unlock (&server->lock);
}

static void *
producer_thread (void *data)
{
  struct producer *producer = data;
  pthread_setname_np (pthread_self (), "http-stream");
  producer->produce (producer->stream, producer->data);
  producer_free (producer);
  return NULL;
}

/* STREAM's reference is taken. */
static void
start_producer (struct http_request *request, struct http_stream *stream,
                void (*produce) (struct http_stream *stream, gpointer data), gpointer data,
                GDestroyNotify release)
{
  struct producer *producer = g_new (struct producer, 1);
  pthread_t thread;
  pthread_attr_t attributes;
  *producer = (struct producer){stream, produce, data, release};
  g_mutex_lock (&request->server->lock);
  request->server->producers++;
  g_mutex_unlock (&request->server->lock);
  pthread_attr_init (&attributes);
  pthread_attr_setstacksize (&attributes, PRODUCER_STACK);
  pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  if (pthread_create (&thread, &attributes, producer_thread, producer) != 0) {
    log_error ("http: no thread can be started for a stream");
    http_stream_cut (producer->stream);
    producer_free (producer);
  }
  pthread_attr_destroy (&attributes);
}

void
http_reply_produced (struct http_request *request,
                     void (*produce) (struct http_stream *stream, gpointer data), gpointer data,
                     GDestroyNotify release)
{
  start_producer (request, http_reply_stream (request), produce, data, release);
}

void
http_reply_produced_chunks (struct http_request *request, int status, const char *type,
                            void (*produce) (struct http_stream *stream, gpointer data), gpointer data,
                            GDestroyNotify release)
{
  start_producer (request, http_reply_chunks (request, status, type), produce, data, release);
}
