/* SPDX-License-Identifier: Apache-2.0 */
/* A connection: its thread, and the time that each phase of a request may take.
 *
 * Theory of operation. The thread polls and lets the wire work, which calls back (http_calls); so does a
 * handler, which may block for as long as its run does. A phase that reads has one deadline, set when it
 * begins: a byte now and then does not extend it. Only the body's deadline moves with the bytes received, so
 * that large files may take their time at a rate that is worth a thread. A reply may take as long as the
 * client keeps reading it.
 *
 * We keep the socket open while the wire has a copy of it: others shut it down and streams hold it, and its
 * number must not be reused meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/log.h"
#include "interfaces/http/http_private.h"

#define STACK_BYTES   (2 * 1024 * 1024) /* of address space: only touched pages take memory */
#define LINGER_MS     1000              /* how long to read what a client still sends after a last reply */
#define LINGER_BYTES  (4 * 1024 * 1024)
#define LINGER_BUFFER 4096
#define TLS_HANDSHAKE 0x16 /* the first byte of a client who speaks TLS (RFC 8446, section 5.1) */

struct http_socket *
http_socket_ref (struct http_socket *socket)
{
  g_atomic_int_inc (&socket->references);
  return socket;
}

void
http_socket_unref (struct http_socket *socket)
{
  if (!socket || !g_atomic_int_dec_and_test (&socket->references))
    return;
  fd_close (&socket->fd);
  g_free (socket);
}

/* ---- what the wire tells ---- */

static void
http_connection_set_deadline (struct http_connection *connection, enum http_phase phase, guint64 ms)
{
  connection->phase = phase;
  connection->deadline_us = g_get_monotonic_time () + (gint64)ms * 1000;
}

static void
http_connection_see_line (gpointer data, const char *target)
{
  struct http_connection *connection = data;
  http_request_free (connection->request);
  connection->request = http_request_new (connection, target);
  if (connection->phase != PHASE_HEAD)
    http_connection_set_deadline (connection, PHASE_HEAD, connection->server->config->http_head_ms);
}

static void
see_head (gpointer data, const char *method, const char *version)
{
  struct http_connection *connection = data;
  struct http_request *request = connection->request;
  http_connection_set_deadline (connection, PHASE_BODY, connection->server->config->http_body_ms);
  request->body_begun_us = g_get_monotonic_time ();
  http_head_check (request, method, version);
  trace_begin (&request->span, http_header (request, "traceparent"), 0);
}

static void
see_body (gpointer data, const char *bytes, gsize length)
{
  struct http_connection *connection = data;
  struct http_request *request = connection->request;
  const struct config *config = connection->server->config;
  http_body_add (request, bytes, length);
  connection->deadline_us = request->body_begun_us + (gint64)config->http_body_ms * 1000 +
                            (gint64)(request->body_read * G_USEC_PER_SEC / MAX (config->http_body_rate, 1));
}

static void
see_whole (gpointer data)
{
  struct http_connection *connection = data;
  struct http_request *request = connection->request;
  connection->phase = PHASE_REPLY;
  char parent[TRACE_PARENT_BYTES];
  trace_parent_of (&request->span, parent);
  trace_set_current (parent);
  if (http_body_check (request)) {
    if (!http_forward (request))
      request->route->handle (request);
    if (request->status == 0)
      http_reply_fault (request, 500, "the handler did not answer");
    /* Before the reply leaves: its reader may send an equally large request. What still runs has its own
     * reservation. */
    http_body_release (request);
  }
  trace_set_current ("");
  http_connection_set_deadline (connection, PHASE_REPLY, connection->server->config->http_stall_ms);
}

static void
http_connection_trace (const struct http_request *request)
{
  if (!request->span.sampled || !request->route)
    return;
  g_autofree char *name = g_strdup_printf ("%s %s", request->route->method, request->route->path);
  /* As the semantic conventions of OpenTelemetry for HTTP name them. */
  trace_end (&request->span, name, TRACE_SERVER, 0,
             json_pack ("{s:s, s:s, s:i}", "http.request.method", request->route->method, "http.route",
                        request->route->path, "http.response.status_code", request->status),
             request->status >= 500 ? "the request failed" : NULL);
}

static void
see_done (gpointer data)
{
  struct http_connection *connection = data;
  struct http_request *request = g_steal_pointer (&connection->request);
  connection->requests++;
  if (request && request->status != 0)
    metrics_count_http (connection->server->service->metrics, request->route ? request->route->method : NULL,
                        request->route ? request->route->path : NULL, request->status,
                        g_get_monotonic_time () - request->begun_us);
  if (request && request->status != 0)
    http_connection_trace (request);
  if (request && request->close_after)
    connection->phase = PHASE_OVER;
  else
    http_connection_set_deadline (connection, PHASE_IDLE, connection->server->config->http_keep_ms);
  http_request_free (request);
}

/* A whole reply; the caller's. */
static char *
plain_reply (int status, const char *detail)
{
  g_autoptr (json_t) document = http_problem_document (status, NULL, detail, NULL);
  g_autofree char *body = json_to_text (document);
  return g_strdup_printf ("HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
                          "Cache-Control: no-store\r\nContent-Length: %zu\r\n%sConnection: close\r\n\r\n%s",
                          status, http_status_words (status), strlen (body),
                          status == 503 ? "Retry-After: 1\r\n" : "", body);
}

/* Before the wire exists. */
static void
say_raw (int fd, int status, const char *detail)
{
  g_autofree char *reply = plain_reply (status, detail);
  (void)send (fd, reply, strlen (reply), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown (fd, SHUT_WR);
}

/* Bypasses the wire, which must have nothing pending. */
static void
http_connection_say (struct http_connection *connection, int status, const char *detail)
{
  g_autofree char *reply = plain_reply (status, detail);
  connection->server->wire->say (connection->wire, reply, strlen (reply));
}

/* Sent before the library sends its own HTML, which then finds the socket shut. */
static void
see_bad (gpointer data, int status)
{
  struct http_connection *connection = data;
  const char *detail = status == 431 || status == 413 || status == 414
                           ? "the request's first line and headers are longer than this server takes"
                       : status == 505 ? "only HTTP/1.0 and HTTP/1.1 are spoken here"
                       : status >= 500 ? "the request could not be taken"
                                       : "this is no request that HTTP/1.1 allows";
  connection->phase = PHASE_OVER;
  http_connection_say (connection, status == 413 ? 431 : status, detail);
}

static const struct wire_calls http_calls = {
    .line = http_connection_see_line,
    .head = see_head,
    .body = see_body,
    .whole = see_whole,
    .done = see_done,
    .bad = see_bad,
};

/* ---- waiting ---- */

static gboolean
is_ready (int fd, short what)
{
  struct pollfd ready = {.fd = fd, .events = what};
  return poll (&ready, 1, 0) > 0 && (ready.revents & what);
}

static gboolean
has_bytes (int fd)
{
  char byte;
  return recv (fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* FALSE: the phase has timed out. */
static gboolean
http_connection_wait_for (const struct http_connection *connection, int fd)
{
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  for (;;) {
    gint64 left_us = connection->deadline_us - g_get_monotonic_time ();
    if (left_us <= 0)
      return FALSE;
    int n = poll (&ready, 1, (int)MIN (left_us / 1000 + 1, G_MAXINT));
    if (n > 0)
      return TRUE;
    if (n < 0 && errno != EINTR)
      return FALSE;
  }
}

/* Does this event move the deadline? */
static void
note_progress (struct http_connection *connection)
{
  const struct config *config = connection->server->config;
  int fd = connection->socket->fd;
  if (connection->phase == PHASE_IDLE && has_bytes (fd)) {
    /* The first request's time starts when the client connects. */
    if (connection->requests > 0)
      http_connection_set_deadline (connection, PHASE_HEAD, config->http_head_ms);
    connection->phase = PHASE_HEAD;
  } else if (connection->phase == PHASE_REPLY && is_ready (fd, POLLOUT))
    /* Not moved by what the client sends: it must read its reply. */
    http_connection_set_deadline (connection, PHASE_REPLY, config->http_stall_ms);
}

static void
be_late (struct http_connection *connection)
{
  if (connection->phase == PHASE_HEAD || connection->phase == PHASE_BODY)
    http_connection_say (connection, 408,
                         connection->phase == PHASE_HEAD ? "the request's headers did not come in time"
                                                         : "the request's body did not come in time");
  else
    shutdown (connection->socket->fd, SHUT_RDWR);
}

/* The client has finished sending, and everything it sent was processed: an incomplete request stays
 * incomplete. The library misses an end that arrives together with the last bytes of a request, since it
 * checks the socket only when something arrives. */
static gboolean
http_connection_has_ended (const struct http_connection *connection)
{
  char byte;
  return connection->phase != PHASE_REPLY &&
         recv (connection->socket->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* A plain HTTP client on a TLS port gets an explanation. */
static gboolean
speaks_tls (struct http_connection *connection)
{
  unsigned char first = 0;
  int fd = connection->socket->fd;
  if (!http_connection_wait_for (connection, fd) || recv (fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
    return FALSE;
  if (first == TLS_HANDSHAKE)
    return TRUE;
  say_raw (fd, 400, "this port uses HTTPS: use https:// instead of http://");
  return FALSE;
}

/* NULL: there is no certificate. */
static struct wire_tls *
http_connection_key (const struct http_connection *connection)
{
  struct http_server *server = connection->server;
  g_mutex_lock (&server->lock);
  struct wire_tls *key = server->tls;
  g_mutex_unlock (&server->lock);
  return key;
}

static void
http_connection_serve (struct http_connection *connection)
{
  struct http_server *server = connection->server;
  g_autoptr (GError) problem = NULL;
  http_connection_set_deadline (connection, PHASE_IDLE, server->config->http_head_ms);
  struct wire_tls *key = http_connection_key (connection);
  /* Never in clear text where TLS was promised: the certificate may have gone meanwhile. */
  if (connection->listener->tls && (!key || !speaks_tls (connection)))
    return;
  int copy = fcntl (connection->socket->fd, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0)
    connection->wire =
        server->wire->open (copy, server->config->http_head_bytes, connection->listener->tls ? key : NULL,
                            &http_calls, connection, &problem);
  if (!connection->wire) {
    log_warning ("http: a connection cannot be served: %s", problem ? problem->message : g_strerror (errno));
    return;
  }
  int event_fd = server->wire->event_fd (connection->wire);
  note_progress (connection);
  while (server->wire->work (connection->wire) && !http_connection_has_ended (connection)) {
    if (!http_connection_wait_for (connection, event_fd)) {
      be_late (connection);
      break;
    }
    note_progress (connection);
  }
  server->wire->free (g_steal_pointer (&connection->wire));
}

/* Closing a socket while the client still sends resets it, and loses the reply. */
static void
linger (int fd)
{
  char buffer[LINGER_BUFFER];
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  gint64 end = g_get_monotonic_time () + LINGER_MS * 1000;
  shutdown (fd, SHUT_WR);
  for (gsize taken = 0; taken < LINGER_BYTES;) {
    gint64 left_us = end - g_get_monotonic_time ();
    if (left_us <= 0 || poll (&ready, 1, (int)(left_us / 1000) + 1) <= 0)
      return;
    ssize_t n = recv (fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n <= 0)
      return;
    taken += (gsize)n;
  }
}

/* ---- life ---- */

REQUIRES (http_server)
static void
count_peer (struct http_server *server, const char *peer, int change)
{
  guint now = GPOINTER_TO_UINT (g_hash_table_lookup (server->peers, peer)) + (guint)change;
  if (now == 0)
    g_hash_table_remove (server->peers, peer);
  else
    g_hash_table_insert (server->peers, g_strdup (peer), GUINT_TO_POINTER (now));
}

static void
connection_free (struct http_connection *connection)
{
  struct http_server *server = connection->server;
  void (*changed) (gpointer) = server->changed;
  gpointer data = server->data;
  http_request_free (connection->request);
  g_mutex_lock (&server->lock);
  if (g_hash_table_remove (server->connections, connection))
    count_peer (server, connection->peer, -1);
  if (changed)
    changed (data);
  http_socket_unref (connection->socket);
  http_listener_unref (connection->listener);
  principal_unref (connection->vouched);
  g_free (connection->peer);
  g_free (connection);
  /* The last use of the server: a waiter for this may free it. */
  g_cond_broadcast (&server->ended);
  g_mutex_unlock (&server->lock);
}

static void *
http_connection_thread (void *data)
{
  struct http_connection *connection = data;
  pthread_setname_np (pthread_self (), "http");
  http_connection_serve (connection);
  if (connection->phase != PHASE_REPLY)
    linger (connection->socket->fd);
  shutdown (connection->socket->fd, SHUT_RDWR);
  connection_free (connection);
  return NULL;
}

static gboolean
http_connection_start_thread (struct http_connection *connection)
{
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t pipe, before;
  sigemptyset (&pipe);
  sigaddset (&pipe, SIGPIPE);
  if (pthread_attr_init (&attributes) != 0)
    return FALSE;
  pthread_attr_setstacksize (&attributes, STACK_BYTES);
  pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  /* sendfile has no flag against SIGPIPE; the thread inherits this. */
  pthread_sigmask (SIG_BLOCK, &pipe, &before);
  int r = pthread_create (&thread, &attributes, http_connection_thread, connection);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  pthread_attr_destroy (&attributes);
  return r == 0;
}

static void
http_connection_turn_away (struct http_server *server, const struct http_listener *listener, int fd,
                           const char *why)
{
  if (!listener->tls)
    say_raw (fd, 503, why);
  server->turned_away++;
  /* One line per refusal would let a client that reconnects in a loop fill the disk. */
  gint64 now = g_get_monotonic_time ();
  if (server->told_us != 0 && now - server->told_us < G_USEC_PER_SEC)
    return;
  log_warning ("http: %u connection%s refused: %s", server->turned_away, server->turned_away == 1 ? "" : "s",
               why);
  server->told_us = now;
  server->turned_away = 0;
}

/* CONNECTION is taken, with its listener, its peer and its socket. */
static void
http_connection_begin (struct http_connection *connection)
{
  struct http_server *server = connection->server;
  const char *why = NULL;

  g_mutex_lock (&server->lock);
  guint of_peer = GPOINTER_TO_UINT (g_hash_table_lookup (server->peers, connection->peer));
  if (g_hash_table_size (server->connections) >= server->max_connections)
    why = "the server has as many connections as it takes";
  else if (!connection->vouched && of_peer >= server->config->http_peer_connections)
    why = "the server has as many connections of this client as it takes";
  else {
    g_hash_table_add (server->connections, connection);
    count_peer (server, connection->peer, 1);
  }
  g_mutex_unlock (&server->lock);

  if (!why && http_connection_start_thread (connection)) {
    if (server->changed)
      server->changed (server->data);
    return;
  }
  http_connection_turn_away (server, connection->listener, connection->socket->fd,
                             why ? why : "no thread can be started for it");
  connection_free (connection);
}

static struct http_connection *
http_connection_new (struct http_server *server, struct http_listener *listener, int fd, char *peer)
{
  struct http_connection *connection = g_new0 (struct http_connection, 1);
  connection->server = server;
  connection->listener = listener;
  connection->peer = peer;
  connection->socket = g_new0 (struct http_socket, 1);
  *connection->socket = (struct http_socket){1, fd};
  return connection;
}

void
http_connection_start (struct http_server *server, struct http_listener *listener, int fd, char *peer)
{
  http_connection_begin (http_connection_new (server, http_listener_ref (listener), fd, peer));
}

void
http_connection_start_vouched (struct http_server *server, int fd, const struct http_vouched *vouched)
{
  struct http_connection *connection =
      http_connection_new (server, http_listener_of_nodes (), fd, g_strdup ("other nodes"));
  connection->vouched = vouched->who;
  connection->vouched_exposed = vouched->exposed;
  g_strlcpy (connection->run_id, vouched->run_id ? vouched->run_id : "", sizeof connection->run_id);
  connection->run_again = vouched->run_again;
  http_connection_begin (connection);
}
