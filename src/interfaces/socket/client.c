/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's side of the local socket.
 *
 * Any number of command lines may find no daemon at the same moment. Each takes the start lock (SOCKET.start,
 * by flock), looks again, and only who still finds none starts one, which holds the serve lock (SOCKET.lock)
 * while it lives. So one daemon is started, the others wait for the lock and then connect, and nobody sleeps
 * or guesses. A command line that dies on the way gives its lock back by dying. */
#include "interfaces/socket/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "base/peer.h"
#include "base/syscalls.h"
#include "common/config.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "interfaces/remote/remote.h"
#include "interfaces/socket/scope.h"
#include "operations/operation.h"

#define START_MS       30000
#define START_TRIES    5
#define STOP_MS        90000
#define SETTLE_US      (1 * G_USEC_PER_SEC) /* how long runs are waited for before a daemon counts as busy */
#define SETTLE_LOOK_US 20000
#define READY_FD       3
#define LOG_MAX_BYTES  (1 << 20)

char *
client_socket (GError **error)
{
  struct config *config = config_load (NULL, error);
  char *socket = config ? config_socket (config, error) : NULL;
  config_free (config);
  return socket;
}

/* ---- connecting ---- */

static gboolean
client_not_there (const char *socket, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "no daemon answers on %s", socket);
  return FALSE;
}

static gboolean
client_connect_to (const char *path, int *ret_fd, GError **error)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen (path) >= sizeof address.sun_path) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the socket's path %s is longer than %zu bytes: set ADDER_RUNTIME_DIR to a shorter one",
                 path, sizeof address.sun_path - 1);
    return FALSE;
  }
  memcpy (address.sun_path, path, strlen (path));
  autoclose int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot make a socket");
  if (connect (fd, (struct sockaddr *)&address, sizeof address) < 0) {
    if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
      return client_not_there (path, error);
    return error_from_errno (error, errno, "cannot connect to the daemon at %s", path);
  }
  *ret_fd = fd_steal (&fd);
  return TRUE;
}

static gboolean
client_greet (int fd, struct protocol_hello *ret_daemon, GError **error)
{
  struct protocol_hello own;
  struct protocol_message message;
  protocol_hello_own (&own);
  g_autoptr (json_t) hello = protocol_hello_to_json (&own);
  /* A daemon that turns us away may have closed before it read our greeting: its reason is still there to be
   * read. */
  g_autoptr (GError) unsent = NULL;
  protocol_send_json (fd, PROTOCOL_HELLO, hello, &unsent);
  if (!protocol_receive (fd, PROTOCOL_AWAIT_HELLO, PROTOCOL_FRAME_MS, &message, error))
    return FALSE;
  gboolean ok = message.kind == PROTOCOL_HELLO && protocol_hello_from_message (&message, ret_daemon, error);
  if (message.kind == PROTOCOL_REFUSED)
    protocol_take_refusal (&message, error);
  protocol_message_clear (&message);
  return ok;
}

gboolean
client_connect (const char *socket, struct client *ret_client, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct client client = {.fd = -1};
  if (!client_connect_to (socket, &client.fd, error))
    return FALSE;
  if (!client_greet (client.fd, &client.daemon, &problem)) {
    fd_close (&client.fd);
    /* It ended between our connecting and its accepting. */
    if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_CANCELLED))
      return client_not_there (socket, error);
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  *ret_client = client;
  return TRUE;
}

void
client_close (struct client *client)
{
  fd_close (&client->fd);
  g_clear_pointer (&client->note, g_free);
}

/* ---- stopping ---- */

static gboolean
client_stop_now (struct client *client, enum client_stop how, struct client_stopped *ret_stopped,
                 GError **error)
{
  struct protocol_message message;
  int stopping = 0, running = 0, sessions = 0, approvals = 0;
  autoclose int pidfd = peer_open (client->fd);
  g_autoptr (json_t) request = json_pack ("{s:b, s:b}", "only_idle", how == CLIENT_STOP_IDLE, "keep_sessions",
                                          how == CLIENT_STOP_KEEP_SESSIONS);
  if (!protocol_send_json (client->fd, PROTOCOL_STOP, request, error) ||
      !protocol_receive (client->fd, PROTOCOL_AWAIT_ANSWER, PROTOCOL_FRAME_MS, &message, error))
    return FALSE;
  if (message.kind == PROTOCOL_STOPPING) {
    g_autoptr (json_t) answer = json_parse_object (message.data, message.length, "the daemon's answer", NULL);
    if (answer)
      (void)json_unpack (answer, "{s:b, s:i, s?i, s?i}", "stopping", &stopping, "running", &running,
                         "sessions", &sessions, "approvals", &approvals);
  } else
    protocol_take_refusal (&message, error);
  gboolean refused = message.kind != PROTOCOL_STOPPING;
  protocol_message_clear (&message);
  if (refused)
    return FALSE;

  struct pollfd ended = {.fd = pidfd, .events = POLLIN};
  if (stopping && pidfd >= 0 && poll (&ended, 1, STOP_MS) == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "the daemon (process %" G_GINT64_FORMAT ") has not ended after %d s", client->daemon.pid,
                 STOP_MS / 1000);
    return FALSE;
  }
  *ret_stopped = (struct client_stopped){stopping != 0, (guint)running, (guint)sessions, (guint)approvals};
  return TRUE;
}

/* A run whose result was told a moment ago may still count. */
gboolean
client_stop (struct client *client, enum client_stop how, struct client_stopped *ret_stopped, GError **error)
{
  gint64 end_us = g_get_monotonic_time () + SETTLE_US;
  for (;;) {
    if (!client_stop_now (client, how, ret_stopped, error))
      return FALSE;
    gboolean only_runs =
        ret_stopped->running > 0 && ret_stopped->sessions == 0 && ret_stopped->approvals == 0;
    if (ret_stopped->stopped || how != CLIENT_STOP_IDLE || !only_runs || g_get_monotonic_time () >= end_us)
      return TRUE;
    g_usleep (SETTLE_LOOK_US);
  }
}

/* ---- starting ---- */

char *
client_log_path (GError **error)
{
  g_autofree char *directory = paths_runtime_dir (error);
  return directory ? g_build_filename (directory, "adder.log", NULL) : NULL;
}

static int
open_log (GError **error)
{
  g_autofree char *path = client_log_path (error);
  if (!path)
    return -1;
  int fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot open the log %s", path);
    return -1;
  }
  struct stat st;
  if (fstat (fd, &st) == 0 && st.st_size > LOG_MAX_BYTES)
    (void)!ftruncate (fd, 0);
  return fd;
}

#define SELF    "/proc/self/exe"
#define DELETED " (deleted)"

/* The program to start as a daemon: this one, or the one that was put in its place since it was started. The
 * caller's. */
static char *
client_program (void)
{
  g_autofree char *path = g_file_read_link (SELF, NULL);
  if (path && g_str_has_suffix (path, DELETED))
    path[strlen (path) - strlen (DELETED)] = '\0';
  return path && access (path, X_OK) == 0 ? g_steal_pointer (&path) : g_strdup (SELF);
}

/* In the child: becomes the daemon's grandparent. Only async-signal-safe calls, since the caller may have
 * threads. The daemon keeps nothing of ours: not the pipe that a shell reads our output from, not the
 * terminal, not the directory. */
G_GNUC_NORETURN static void
exec_daemon (const char *program, char *const *arguments, int null_fd, int log_fd, int ready_fd)
{
  sigset_t none;
  if (setsid () < 0 || fork () != 0)
    sys_exit (0);
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  signal (SIGPIPE, SIG_DFL);
  if (chdir ("/") == 0 && dup2 (null_fd, STDIN_FILENO) >= 0 && dup2 (log_fd, STDOUT_FILENO) >= 0 &&
      dup2 (log_fd, STDERR_FILENO) >= 0 &&
      (ready_fd == READY_FD ? fcntl (READY_FD, F_SETFD, 0) : dup2 (ready_fd, READY_FD)) >= 0) {
    syscall (SYS_close_range, READY_FD + 1, ~0U, 0);
    execv (program, arguments);
  }
  sys_exit (127);
}

/* The daemon writes one R when it listens, or a sentence why it does not, and closes. */
static gboolean
wait_ready (int fd, GError **error)
{
  char text[1024];
  gsize length = 0;
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  while (length < sizeof text - 1) {
    int n = poll (&ready, 1, START_MS);
    if (n < 0 && errno == EINTR)
      continue;
    if (n == 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT, "the daemon did not listen within %d s",
                   START_MS / 1000);
      return FALSE;
    }
    ssize_t got = read (fd, text + length, sizeof text - 1 - length);
    if (got <= 0)
      break;
    length += (gsize)got;
    if (text[0] == 'R')
      return TRUE;
  }
  text[length] = '\0';
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot start the daemon: %s",
               length > 0 ? text : "it ended at once (adder serve logs may say why)");
  return FALSE;
}

/* FOR_COMMAND: nobody asked for a daemon, but a command needs one. */
static gboolean
start_daemon (const char *socket, const char *idle_exit, gboolean http_off, gboolean for_command,
              GError **error)
{
  int ready[2];
  autoclose int null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
  autoclose int log_fd = open_log (error);
  if (log_fd < 0)
    return FALSE;
  if (null_fd < 0 || pipe2 (ready, O_CLOEXEC) < 0)
    return error_from_errno (error, errno, "cannot start the daemon");
  autoclose int ready_read = ready[0], ready_write = ready[1];

  g_autofree char *ready_option = g_strdup_printf ("--ready-fd=%d", READY_FD);
  g_autofree char *socket_option = g_strdup_printf ("--socket=%s", socket);
  g_autofree char *idle_option = idle_exit ? g_strdup_printf ("--idle-exit=%s", idle_exit) : NULL;
  char *arguments[9] = {(char *)"adder", (char *)"serve", (char *)"--background", ready_option,
                        socket_option};
  gsize count = 5;
  if (idle_option)
    arguments[count++] = idle_option;
  if (http_off)
    arguments[count++] = (char *)"--http=off";
  if (for_command)
    arguments[count++] = (char *)"--for-command";

  g_autofree char *program = client_program ();
  g_auto (GStrv) scoped =
      g_str_equal (program, SELF) ? NULL : scope_command (program, (const char *const *)arguments + 1);
  pid_t child = fork ();
  if (child < 0)
    return error_from_errno (error, errno, "cannot start the daemon");
  if (child == 0)
    exec_daemon (scoped ? scoped[0] : program, scoped ? scoped : arguments, null_fd, log_fd, ready_write);
  while (waitpid (child, NULL, 0) < 0 && errno == EINTR)
    ;
  fd_close (&ready_write);
  return wait_ready (ready_read, error);
}

gboolean
client_start_daemon (const char *socket, const char *idle_exit, gboolean http_off, GError **error)
{
  return start_daemon (socket, idle_exit, http_off, FALSE, error);
}

/* ---- connecting, starting or replacing as needed ---- */

gboolean
client_lock_start (const char *socket, int *ret_fd, GError **error)
{
  g_autofree char *path = g_strconcat (socket, ".start.lock", NULL);
  autoclose int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open the lock %s", path);
  /* Its holder waits for a daemon, START_MS at the most. */
  while (flock (fd, LOCK_EX) < 0)
    if (errno != EINTR)
      return error_from_errno (error, errno, "cannot lock %s", path);
  *ret_fd = fd_steal (&fd);
  return TRUE;
}

/* One that somebody asked for is never replaced. */
static gboolean
may_replace (const struct client *client)
{
  struct protocol_hello own;
  protocol_hello_own (&own);
  return client->daemon.started_by_command && protocol_hello_compare (&client->daemon, &own) < 0;
}

/* "3 runs and 1 session"; the caller's. */
static char *
held_text (const struct client_stopped *held)
{
  const struct {
    guint count;
    const char *what;
  } rows[] = {{held->running, "run"}, {held->sessions, "session"}, {held->approvals, "approval"}};
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].count > 0)
      g_string_append_printf (text, "%s%u %s%s", text->len > 0 ? " and " : "", rows[i].count, rows[i].what,
                              rows[i].count == 1 ? "" : "s");
  return g_string_free (text, FALSE);
}

/* "the daemon (adder 1.2, process 7, protocol 10) is older than this command line (adder 1.3, protocol 11)";
 * the caller's. */
static char *
other_version (const struct client *client)
{
  return g_strdup_printf (
      "the daemon (adder %s, process %" G_GINT64_FORMAT ", protocol %u) is %s than this command line (adder "
      "%s, protocol %u)",
      client->daemon.version, client->daemon.pid, client->daemon.protocol,
      client->daemon.protocol > PROTOCOL_VERSION ? "newer" : "older", adder_version (), PROTOCOL_VERSION);
}

/* HELD: what keeps a daemon that a command started; NULL: it is not for a command to end. */
static gboolean
check_protocol (struct client *client, const struct client_stopped *held, GError **error)
{
  if (client->daemon.protocol == PROTOCOL_VERSION)
    return TRUE;
  g_autofree char *versions = other_version (client), *what = held ? held_text (held) : NULL;
  if (client->daemon.protocol > PROTOCOL_VERSION)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s: use the newer command line, or end the daemon with adder serve stop", versions);
  else if (what)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "%s and has %s: wait for them, or end it with adder serve stop --force", versions, what);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                 "%s, and was started by hand: restart it, or use the command line of its version", versions);
  client_close (client);
  return FALSE;
}

/* CLIENT's daemon is older, and a command started it. *RET_GONE: it ended, and CLIENT is closed. */
static gboolean
client_replace (struct client *client, gboolean *ret_gone, GError **error)
{
  struct client_stopped held;
  if (!client_stop (client, CLIENT_STOP_IDLE, &held, error)) {
    client_close (client);
    return FALSE;
  }
  *ret_gone = held.stopped;
  if (held.stopped) {
    client_close (client);
    return TRUE;
  }
  if (!check_protocol (client, &held, error))
    return FALSE;
  g_autofree char *what = held_text (&held);
  client->note = g_strdup_printf ("the daemon (adder %s, process %" G_GINT64_FORMAT
                                  ") is older than this command line and has %s; it is used as it is",
                                  client->daemon.version, client->daemon.pid, what);
  return TRUE;
}

/* A daemon with a short idle time may end before a slow machine lets us connect: then another is started. */
static gboolean
start_and_connect (const char *socket, struct client *ret_client, GError **error)
{
  for (int left = START_TRIES;; left--) {
    g_autoptr (GError) problem = NULL;
    if (!start_daemon (socket, NULL, FALSE, TRUE, error))
      return FALSE;
    if (client_connect (socket, ret_client, &problem))
      return TRUE;
    if (left == 1 || !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  }
}

gboolean
client_open (const char *socket, struct client *ret_client, GError **error)
{
  g_autoptr (GError) problem = NULL;
  struct client client;
  if (client_connect (socket, &client, &problem)) {
    if (!may_replace (&client)) {
      if (!check_protocol (&client, NULL, error))
        return FALSE;
      *ret_client = client;
      return TRUE;
    }
    client_close (&client);
  } else if (!g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  g_clear_error (&problem);

  /* Look again under the lock: somebody else may have started or replaced it meanwhile. */
  autoclose int lock_fd = -1;
  if (!client_lock_start (socket, &lock_fd, error))
    return FALSE;
  gboolean absent = !client_connect (socket, &client, &problem);
  if (absent && !g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  if (!absent && may_replace (&client) && !client_replace (&client, &absent, error))
    return FALSE;
  if (absent && !start_and_connect (socket, &client, error))
    return FALSE;
  if (!check_protocol (&client, NULL, error))
    return FALSE;
  *ret_client = client;
  return TRUE;
}

/* ---- sessions ---- */

/* Connects to a daemon that is there; without one ADDER_ERROR_NOT_FOUND says in MISSING what there is none
 * of. */
static gboolean
connect_running (const char *socket, const char *missing, struct client *ret_client, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (client_connect (socket, ret_client, &problem))
    return TRUE;
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND))
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, missing);
  else
    g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

gboolean
client_find (const char *socket, struct client *ret_client, GError **error)
{
  return connect_running (socket,
                          "there are no sessions, since no daemon is running (adder session new starts one)",
                          ret_client, error);
}

static void
client_take_progress (const struct client *client, const struct protocol_message *message)
{
  g_autoptr (json_t) told = json_parse_object (message->data, message->length, "the daemon's progress", NULL);
  const struct tool_progress progress = tool_progress_from_json (told);
  if (told && client->progressed)
    client->progressed (client->progressed_data, &progress);
}

/* What comes before it tells how far it is. */
static gboolean
receive_answer (const struct client *client, struct protocol_message *ret_message, GError **error)
{
  int most_ms = client->answer_ms > 0 ? client->answer_ms : -1;
  while (protocol_receive (client->fd, PROTOCOL_AWAIT_ANSWER, most_ms, ret_message, error)) {
    if (ret_message->kind != PROTOCOL_PROGRESS)
      return TRUE;
    client_take_progress (client, ret_message);
    protocol_message_clear (ret_message);
  }
  return FALSE;
}

/* *RET_FD as client_ask_for. */
static json_t *
take_answer (const struct client *client, int *ret_fd, GError **error)
{
  struct protocol_message message;
  if (!receive_answer (client, &message, error))
    return NULL;
  json_t *answer = NULL;
  if (message.kind == PROTOCOL_ANSWER)
    answer = json_parse_object (message.data, message.length, "the daemon's answer", error);
  else
    protocol_take_refusal (&message, error);
  if (answer)
    *ret_fd = message.fd_count > 0 ? fd_steal (&message.fds[0]) : -1;
  protocol_message_clear (&message);
  return answer;
}

json_t *
client_ask_for (struct client *client, enum protocol_kind kind, const json_t *question, const int *fds,
                gsize count, int *ret_fd, GError **error)
{
  g_autofree char *text = json_to_text (question);
  return protocol_send (client->fd, kind, text, strlen (text), fds, count, error)
             ? take_answer (client, ret_fd, error)
             : NULL;
}

json_t *
client_take_answer (struct client *client, GError **error)
{
  autoclose int unwanted_fd = -1;
  return take_answer (client, &unwanted_fd, error);
}

json_t *
client_ask (struct client *client, enum protocol_kind kind, const json_t *question, const int *fds,
            gsize count, GError **error)
{
  autoclose int unwanted_fd = -1;
  return client_ask_for (client, kind, question, fds, count, &unwanted_fd, error);
}

static gboolean
is_in_cluster (void)
{
  struct config *config = config_load_anyway (NULL);
  gboolean is_in = config && config->cluster_nats;
  config_free (config);
  return is_in;
}

static gboolean
connect_for (const char *socket, const char *name, struct client *ret_client, GError **error)
{
  const struct operation *operation = operation_find (name, error);
  if (!operation)
    return FALSE;
  if (g_str_has_prefix (name, "node.") && !is_in_cluster ())
    return connect_running (socket,
                            "this machine is in no cluster: [cluster] nats in adder.conf names its servers",
                            ret_client, error);
  if (operation->flags & OPERATION_KEPT)
    return client_open (socket, ret_client, error);
  if (g_str_has_prefix (name, "approval."))
    return connect_running (socket, "nothing waits for an approval, since no daemon is running", ret_client,
                            error);
  if (g_str_has_prefix (name, "status.") || g_str_has_prefix (name, "daemon."))
    return connect_running (socket, "no daemon is running", ret_client, error);
  return client_find (socket, ret_client, error);
}

/* In this process, where OPERATION needs no more. */
static gboolean
is_own_files (const char *name)
{
  const struct operation *operation = operation_find (name, NULL);
  return operation && operation->flags & OPERATION_OWN_FILES;
}

/* They are answered at once. The status may be asked for because nothing answers, and the others while
 * somebody types. */
static const char *const prompt_operations[] = {"status.show", "session.complete", NULL};

json_t *
client_call_with (const char *socket, const char *operation, json_t *params, int fd, int *ret_fd,
                  GError **error)
{
  autoclose int unwanted_fd = -1;
  if (remote_is_set ())
    return remote_call (operation, params, fd, ret_fd, error);
  if (ret_fd)
    *ret_fd = -1;
  if (is_own_files (operation)) {
    const struct operation_caller self = OPERATION_CALLER (NULL, NULL, ROLE_ADMIN);
    return operation_call (&self, operation, params, error);
  }
  g_autoptr (json_t) question = json_pack ("{s:s, s:o}", "operation", operation, "params", params);
  g_autofree char *usual = socket ? NULL : client_socket (error);
  struct client client;
  if (!socket && !usual)
    return NULL;
  if (!question) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "an argument is not UTF-8");
    return NULL;
  }
  if (!connect_for (socket ? socket : usual, operation, &client, error))
    return NULL;
  client.answer_ms = g_strv_contains (prompt_operations, operation) ? PROTOCOL_FRAME_MS : 0;
  json_t *answer = client_ask_for (&client, PROTOCOL_OPERATION, question, &fd, fd >= 0 ? 1 : 0,
                                   ret_fd ? ret_fd : &unwanted_fd, error);
  client_close (&client);
  return answer;
}

json_t *
client_call (const char *socket, const char *operation, json_t *params, GError **error)
{
  return client_call_with (socket, operation, params, -1, NULL, error);
}

json_t *
client_ask_session (const char *socket, const json_t *question, const int *fds, gsize count, GError **error)
{
  struct client client;
  if (!client_open (socket, &client, error))
    return NULL;
  json_t *answer = client_ask (&client, PROTOCOL_SESSION, question, fds, count, error);
  client_close (&client);
  return answer;
}
