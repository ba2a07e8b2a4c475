/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of the local socket.
 *
 * Theory of operation. The main thread accepts, and waits on four descriptors: the listening socket, a
 * signalfd, an eventfd by which a connection's thread says that it ended or that STOP was asked for, and an
 * inotify instance that tells when files of the socket's directory are removed, when the file of tokens
 * changes, and when the program is replaced. A connection's thread reads a request, carries it out by the
 * library's blocking calls, writes what comes of it, and reads the next one.
 *
 * Who may connect: the socket is 0600 in a directory that is 0700, and the kernel's word for the peer's user
 * id is compared on top of it, because a socket given with --socket may lie in a directory that others can
 * enter. It must live in our namespaces, too: code in a sandbox has our user id, and should the socket ever
 * come into its reach, it is not answered.
 *
 * The end: the listener closes first; then the reading half of each connection is shut down, which the engine
 * sees as a client's hang-up, so runs end as cancelled while their results can still be written; then the
 * threads are waited for. */
#include "interfaces/socket/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/peer.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/notifications.h"
#include "interfaces/http/http_server.h"
#include "interfaces/socket/server_private.h"
#include "library/library.h"
#include "policy/tokens_file.h"

#define LOCK_WAIT_S     10
#define END_WAIT_US     (15 * G_USEC_PER_SEC)
#define REQUEST_WAIT_MS (5 * 60 * 1000) /* a connection that asks nothing for so long is closed */
#define TELL_US         G_USEC_PER_SEC
#define DRAIN_LOOK_MS   100 /* how often it is looked whether a drain is over */
#define SELF            "/proc/self/exe"
#define PROGRAM_EVENTS  (IN_MOVED_TO | IN_CREATE)
#define TOKENS_EVENTS   (IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ATTRIB)

/* ---- start ---- */

/* Told when something in the socket's directory is removed or renamed: whoever cleans up there may take the
 * socket as well. */
static gboolean
watch_directory (struct server *server, GError **error)
{
  g_autofree char *directory = g_path_get_dirname (server->socket.path);
  server->removed_fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  return (server->removed_fd >= 0 &&
          inotify_add_watch (server->removed_fd, directory, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) >= 0) ||
         error_from_errno (error, errno, "cannot watch %s", directory);
}

/* Without it, what is under way for a token that is revoked goes on. The file is replaced; the rest is for
 * manual edits. */
static void
watch_tokens (struct server *server)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *path = tokens_file (server->service->config, &problem);
  g_autofree char *directory = path ? g_path_get_dirname (path) : NULL;
  if (directory && server->removed_fd >= 0)
    server->tokens_watch =
        inotify_add_watch (server->removed_fd, directory, TOKENS_EVENTS | IN_MASK_ADD | IN_ONLYDIR);
  if (server->tokens_watch < 0)
    log_warning ("what is under way for a token goes on when that is revoked: cannot watch %s",
                 directory ? directory : problem->message);
  server->tokens_name = path ? g_path_get_basename (path) : NULL;
}

/* So that clients can save what their sessions hold before somebody restarts the daemon. */
static void
watch_program (struct server *server)
{
  server->program = g_file_read_link (SELF, NULL);
  g_autofree char *directory = server->program ? g_path_get_dirname (server->program) : NULL;
  if (directory && server->removed_fd >= 0)
    server->program_watch =
        inotify_add_watch (server->removed_fd, directory, PROGRAM_EVENTS | IN_MASK_ADD | IN_ONLYDIR);
}

/* Whether the process belongs to a terminal. */
static gboolean
has_terminal (void)
{
  autoclose int fd = open ("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  return fd >= 0;
}

static gboolean
server_start (struct server *server, const struct server_options *options, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (!local_socket_open (options->socket, options->wait_for_lock ? LOCK_WAIT_S : 0, &server->socket, error))
    return FALSE;
  if ((server->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
    return error_from_errno (error, errno, "cannot make an eventfd");
  if (!watch_directory (server, &problem))
    log_warning ("a socket that is removed is not made again: %s", problem->message);
  return TRUE;
}

struct server *
server_new (const struct server_options *options, GError **error)
{
  struct server *server = g_new0 (struct server, 1);
  server->wake_fd = server->removed_fd = server->tokens_watch = server->program_watch = -1;
  server->socket = LOCAL_SOCKET_CLOSED;
  server->max_connections = options->max_connections;
  server->log_code = options->log_code;
  server->started_us = g_get_monotonic_time ();
  g_mutex_init (&server->reloading);
  g_mutex_init (&server->lock);
  server->idle_exit_ms = options->idle_exit_ms;
  server->connections = g_hash_table_new (NULL, NULL);
  g_cond_init (&server->ended);
  server->had_terminal = has_terminal ();
  server->logged_to_terminal = isatty (STDERR_FILENO);
  protocol_hello_own (&server->hello);
  server->hello.pid = getpid ();
  server->hello.started_by_command = options->started_by_command;
  if (!server_start (server, options, error))
    g_clear_pointer (&server, server_free);
  return server;
}

void
server_free (struct server *server)
{
  if (!server)
    return;
  fd_close (&server->wake_fd);
  fd_close (&server->removed_fd);
  g_free (server->tokens_name);
  g_free (server->program);
  local_socket_close (&server->socket);
  UNSHARED (server);
  g_hash_table_destroy (server->connections);
  g_mutex_clear (&server->lock);
  g_mutex_clear (&server->reloading);
  g_cond_clear (&server->ended);
  g_free (server);
}

void
server_wake (struct server *server)
{
  guint64 one = 1;
  /* Full means that it is awake already. */
  G_GNUC_UNUSED ssize_t put = write (server->wake_fd, &one, sizeof one);
}

void
server_look (gpointer data)
{
  server_wake (data);
}

void
server_set_service (struct server *server, struct service *service)
{
  server->service = service;
  service->engine->daemon = (struct daemon){
      .describe = server_status,
      .listen = server_listen,
      .reload = server_reload,
      .open = server_open,
      .drain = server_drain,
      .data = server,
  };
}

void
server_set_http (struct server *server, struct http_server *http)
{
  g_mutex_lock (&server->lock);
  server->http = http;
  g_mutex_unlock (&server->lock);
}

/* ---- one connection ---- */

static gboolean
server_greet (struct connection *connection, gboolean *ret_same_protocol, GError **error)
{
  struct protocol_message message;
  struct protocol_hello client, own;
  if (!protocol_receive (connection->fd, PROTOCOL_AWAIT_HELLO, PROTOCOL_FRAME_MS, &message, error))
    return FALSE;
  gboolean ok = message.kind == PROTOCOL_HELLO && protocol_hello_from_message (&message, &client, error);
  protocol_message_clear (&message);
  if (!ok)
    return FALSE;
  struct server *server = connection->server;
  g_mutex_lock (&server->lock);
  own = server->hello;
  g_mutex_unlock (&server->lock);
  struct service *service = server->service;
  g_mutex_lock (&service->lock);
  own.running = service->running;
  g_mutex_unlock (&service->lock);
  g_autoptr (json_t) answer = protocol_hello_to_json (&own);
  *ret_same_protocol = client.protocol == own.protocol;
  return protocol_send_json (connection->fd, PROTOCOL_HELLO, answer, error);
}

static gboolean
server_serve_request (struct connection *connection, gboolean same_protocol, GError **error)
{
  struct pollfd ready = {.fd = connection->fd, .events = POLLIN};
  struct protocol_message message;
  int n = poll (&ready, 1, REQUEST_WAIT_MS);
  if (n < 0 && errno != EINTR)
    return error_from_errno (error, errno, "cannot wait for a request");
  if (n == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "nothing was asked for");
    return FALSE;
  }
  if (!protocol_receive (connection->fd, PROTOCOL_AWAIT_REQUEST, PROTOCOL_FRAME_MS, &message, error))
    return FALSE;
  gboolean ok = server_answer (connection, &message, same_protocol, error);
  protocol_message_clear (&message);
  return ok;
}

/* Users are counted apart: who connects a thousand times keeps nobody else out. */
static guint *
connected (struct server *server, uid_t uid)
{
  return &server->connected[uid == geteuid () ? 0 : 1];
}

REQUIRES (server)
static void
server_forget (struct connection *connection)
{
  g_hash_table_remove (connection->server->connections, connection);
  --*connected (connection->server, connection->uid);
}

static gpointer
server_connection_thread (gpointer data)
{
  struct connection *connection = data;
  struct server *server = connection->server;
  g_autoptr (GError) problem = NULL;
  gboolean same_protocol;

  if (server_greet (connection, &same_protocol, &problem))
    while (server_serve_request (connection, same_protocol, &problem))
      ;
  if (problem && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_CANCELLED)) {
    log_warning ("connection closed: %s", problem->message);
    protocol_send_refused (connection->fd, problem, NULL);
  }

  g_mutex_lock (&server->lock);
  server_forget (connection);
  fd_close (&connection->fd);
  g_cond_signal (&server->ended);
  server_wake (server);
  g_mutex_unlock (&server->lock);
  g_free (connection);
  return NULL;
}

/* Why the process at the other end of FD may not connect; NULL: it may. */
static const char *
why_refused (int fd, uid_t *ret_uid, AdderError *ret_code)
{
  struct peer peer;
  int r = peer_look (fd, &peer);
  *ret_code = r == -EMFILE || r == -ENFILE ? ADDER_ERROR_BUSY : ADDER_ERROR_INVALID;
  if (*ret_code == ADDER_ERROR_BUSY)
    return "the daemon has as many files open as it may (its limit of descriptors)";
  if (r < 0 || !peer.trusted)
    return "this daemon belongs to another user";
  *ret_uid = peer.uid;
  return peer.near
             ? NULL
             : "the caller has ended, or lives in another user or pid namespace, as in a container: there, "
               "use HTTP ([http] listen) with a token";
}

static void
server_turn_away (struct server *server, int fd, AdderError code, const char *why)
{
  g_autoptr (GError) refusal = g_error_new_literal (ADDER_ERROR, code, why);
  protocol_send_refused (fd, refusal, NULL);
  server->turned_away++;
  /* A line for each would let who connects in a loop fill the disk. */
  gint64 now = g_get_monotonic_time ();
  if (server->told_us != 0 && now - server->told_us < TELL_US)
    return;
  log_warning ("%u connection%s refused: %s", server->turned_away, server->turned_away == 1 ? "" : "s", why);
  server->told_us = now;
  server->turned_away = 0;
}

static void
server_accept_one (struct server *server)
{
  autoclose int fd = accept4 (server->socket.fd, NULL, NULL, SOCK_CLOEXEC);
  uid_t uid = 0;
  if (fd < 0) {
    /* Descriptors are used up: the connection stays in the queue, and accepting again at once would spin. */
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      log_error ("cannot accept a connection: %s", g_strerror (errno));
      g_usleep (100 * 1000);
    }
    return;
  }
  AdderError code;
  const char *why = why_refused (fd, &uid, &code);
  if (why) {
    server_turn_away (server, fd, code, why);
    return;
  }
  struct connection *connection = g_new0 (struct connection, 1);
  *connection = (struct connection){server, fd, uid};
  g_mutex_lock (&server->lock);
  gboolean full = *connected (server, uid) >= server->max_connections;
  if (!full) {
    g_hash_table_add (server->connections, connection);
    ++*connected (server, uid);
  }
  g_mutex_unlock (&server->lock);
  if (full) {
    g_free (connection);
    server_turn_away (server, fd, ADDER_ERROR_BUSY,
                      "the daemon has as many connections of this user as it takes");
    return;
  }
  g_autoptr (GError) problem = NULL;
  GThread *thread = g_thread_try_new ("connection", server_connection_thread, connection, &problem);
  if (thread) {
    fd_steal (&fd);
    g_thread_unref (thread);
    return;
  }
  g_mutex_lock (&server->lock);
  server_forget (connection);
  g_mutex_unlock (&server->lock);
  g_free (connection);
  server_turn_away (server, fd, ADDER_ERROR_BUSY, problem->message);
}

/* ---- the loop ---- */

/* Milliseconds until the idle time is over, -1 when it does not run; *IDLE_SINCE_US is kept from call to
 * call. Sessions, states of conversations and approvals keep a daemon, and end by themselves without a word
 * to us: they are counted once in an idle time. */
static int
idle_left_ms (struct server *server, gint64 *idle_since_us)
{
  g_mutex_lock (&server->lock);
  gboolean connected = g_hash_table_size (server->connections) > 0;
  guint64 idle_exit_ms = server->idle_exit_ms;
  g_mutex_unlock (&server->lock);
  connected = connected || (server->http && http_server_connections (server->http) > 0);
  if (connected || idle_exit_ms == 0) {
    *idle_since_us = 0;
    return -1;
  }
  gint64 now = g_get_monotonic_time ();
  if (*idle_since_us == 0)
    *idle_since_us = now;
  gint64 left = (gint64)idle_exit_ms - (now - *idle_since_us) / 1000;
  if (left <= 0 && service_is_kept (server->service)) {
    *idle_since_us = now;
    left = (gint64)idle_exit_ms;
  }
  return (int)CLAMP (left, 0, G_MAXINT);
}

/* Whether STOP was asked for; empties the eventfd. */
static gboolean
stop_asked (struct server *server)
{
  guint64 count;
  G_GNUC_UNUSED ssize_t got = read (server->wake_fd, &count, sizeof count);
  g_mutex_lock (&server->service->lock);
  gboolean ending = server->service->ending;
  g_mutex_unlock (&server->service->lock);
  return ending;
}

/* Makes the sockets again whose files are gone. */
static void
renew_sockets (struct server *server)
{
  g_autoptr (GError) problem = NULL;
  if (local_socket_is_lost (&server->socket)) {
    log_warning ("%s was removed; it is made again", server->socket.path);
    local_socket_renew (&server->socket, &problem);
  }
  if (!problem && server->http)
    http_server_renew_sockets (server->http, &problem);
  if (problem)
    log_error ("%s", problem->message);
}

/* If events were lost, it may have been among them. */
static gboolean
is_of_tokens (const struct server *server, const struct inotify_event *event)
{
  if (event->mask & IN_Q_OVERFLOW)
    return TRUE;
  return event->wd == server->tokens_watch && event->len > 0 &&
         strcmp (event->name, server->tokens_name) == 0;
}

/* A new file with the program's name. Files of others come and go beside it. */
static gboolean
is_of_program (const struct server *server, const struct inotify_event *event)
{
  return event->wd == server->program_watch && event->len > 0 &&
         strcmp (event->name, strrchr (server->program, '/') + 1) == 0;
}

static void
note_program (struct server *server)
{
  struct stat own, now;
  if (g_atomic_int_get (&server->program_replaced) || stat (SELF, &own) < 0 ||
      stat (server->program, &now) < 0 || (own.st_dev == now.st_dev && own.st_ino == now.st_ino))
    return;
  g_atomic_int_set (&server->program_replaced, TRUE);
  log_warning ("the program %s was replaced: a restart changes to the new one, and ends sessions",
               server->program);
  notifications_send (server->service->engine->engine->notifications, NOTIFICATION_DAEMON,
                      NOTIFICATION_CHANGED, NULL, "daemon");
}

/* Empties the inotify instance. TRUE: the file of tokens has changed. */
static gboolean
take_changes (struct server *server)
{
  char buffer[4096] __attribute__ ((aligned (__alignof__(struct inotify_event))));
  gboolean found = FALSE;
  ssize_t got;
  while ((got = read (server->removed_fd, buffer, sizeof buffer)) > 0)
    for (ssize_t at = 0; at < got;) {
      const struct inotify_event *event = (const struct inotify_event *)(gconstpointer)(buffer + at);
      found |= is_of_tokens (server, event);
      if (is_of_program (server, event))
        note_program (server);
      at += (ssize_t)(sizeof *event + event->len);
    }
  return found;
}

/* A terminal that is closed sends SIGHUP as well: a daemon that was started there ends with it. */
static gboolean
lost_terminal (const struct server *server)
{
  return (server->had_terminal && !has_terminal ()) ||
         (server->logged_to_terminal && !isatty (STDERR_FILENO));
}

/* FALSE: it is one to end by. A supervisor's SIGTERM has a node of a cluster drain first, and the next ends
 * it. */
static gboolean
take_signal (struct server *server, int signal_fd)
{
  struct signalfd_siginfo info = {0};
  G_GNUC_UNUSED ssize_t got = read (signal_fd, &info, sizeof info);
  if (info.ssi_signo == SIGTERM && server->service->engine->cluster &&
      !service_is_draining (server->service)) {
    server_drain (server, server->service->config->cluster_drain_ms);
    return TRUE;
  }
  if (info.ssi_signo != SIGHUP || lost_terminal (server)) {
    log_info ("ending: signal %u", info.ssi_signo);
    return FALSE;
  }
  g_autoptr (GError) problem = NULL;
  g_autoptr (json_t) done = server_reload (server, &problem);
  if (!done)
    log_error ("the configuration is unchanged: %s", problem->message);
  return TRUE;
}

static gboolean
accept_until_end (struct server *server, int signal_fd, GError **error)
{
  gint64 idle_since_us = 0;
  for (;;) {
    struct pollfd ready[] = {
        {.fd = server->socket.fd, .events = POLLIN},
        {.fd = server->wake_fd, .events = POLLIN},
        {.fd = signal_fd, .events = POLLIN},
        {.fd = server->removed_fd, .events = POLLIN},
    };
    gboolean drains = service_is_draining (server->service);
    int left = drains ? DRAIN_LOOK_MS : idle_left_ms (server, &idle_since_us);
    int n = poll (ready, G_N_ELEMENTS (ready), left);
    if (n < 0 && errno != EINTR)
      return error_from_errno (error, errno, "cannot wait for connections");
    if (n < 0)
      continue;
    if (ready[2].revents && !take_signal (server, signal_fd))
      return TRUE;
    if (drains && service_drain_is_over (server->service)) {
      log_info ("ending: drained");
      return TRUE;
    }
    if (ready[1].revents && stop_asked (server)) {
      log_info ("ending: stop was asked for");
      return TRUE;
    }
    if (ready[3].revents) {
      if (take_changes (server) && server->http)
        http_server_check_tokens (server->http);
      renew_sockets (server);
    }
    if (ready[0].revents)
      server_accept_one (server);
    else if (n == 0 && left == 0 && !drains) {
      log_info ("ending: idle");
      return TRUE;
    }
  }
}

static void
end_connections (struct server *server)
{
  gint64 deadline = g_get_monotonic_time () + END_WAIT_US;
  local_socket_mute (&server->socket);
  service_set_ending (server->service);
  /* Both interfaces close before anybody is waited for. */
  if (server->http)
    http_server_close (server->http);
  g_mutex_lock (&server->lock);
  GHashTableIter iter;
  gpointer connection;
  g_hash_table_iter_init (&iter, server->connections);
  while (g_hash_table_iter_next (&iter, &connection, NULL))
    shutdown (((struct connection *)connection)->fd, SHUT_RD);
  while (g_hash_table_size (server->connections) > 0 &&
         g_cond_wait_until (&server->ended, &server->lock, deadline))
    ;
  /* A client that takes nothing is not waited for any longer. */
  g_hash_table_iter_init (&iter, server->connections);
  while (g_hash_table_iter_next (&iter, &connection, NULL))
    shutdown (((struct connection *)connection)->fd, SHUT_RDWR);
  while (g_hash_table_size (server->connections) > 0)
    g_cond_wait (&server->ended, &server->lock);
  g_mutex_unlock (&server->lock);
}

gboolean
server_loop (struct server *server, GError **error)
{
  sigset_t ending;
  sigemptyset (&ending);
  sigaddset (&ending, SIGTERM);
  sigaddset (&ending, SIGINT);
  sigaddset (&ending, SIGHUP);
  autoclose int signal_fd = signalfd (-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signal_fd < 0)
    return error_from_errno (error, errno, "cannot make a signalfd");
  watch_tokens (server);
  watch_program (server);
  gboolean ok = accept_until_end (server, signal_fd, error);
  end_connections (server);
  return ok;
}
