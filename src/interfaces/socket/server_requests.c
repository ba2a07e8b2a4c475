/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the daemon on the local socket: one table from the kind of frame to the library's calls.
 */
#include <poll.h>
#include <string.h>

#include "base/fd.h"
#include "common/field_rows.h"
#include "common/json.h"
#include "common/log.h"
#include "engine/run/run.h"
#include "interfaces/http/http_server.h"
#include "interfaces/mcp/stdio.h"
#include "interfaces/service/submission.h"
#include "interfaces/socket/server_mcp.h"
#include "interfaces/socket/server_private.h"
#include "interfaces/socket/server_session.h"
#include "interfaces/socket/server_tools.h"
#include "library/library.h"
#include "library/runs.h"
#include "operations/operation.h"

#define OUTPUT_FRAME_BYTES (256 * 1024)
#define LOGGED_CODE_BYTES  4096

/* ---- runs ---- */

static const enum protocol_kind output_kinds[] = {
    [ADDER_EVENT_STARTED] = PROTOCOL_STARTED,
    [ADDER_EVENT_STDOUT] = PROTOCOL_STDOUT,
    [ADDER_EVENT_STDERR] = PROTOCOL_STDERR,
    [ADDER_EVENT_DISPLAY] = PROTOCOL_DISPLAY,
};

static gboolean
send_event (int fd, const AdderEvent *event, GError **error)
{
  if (event->kind == ADDER_EVENT_PROGRESS) {
    const struct tool_progress progress = {event->data ? event->data : "", (gint64)event->done,
                                           (gint64)event->of};
    g_autoptr (json_t) told = tool_progress_to_json (&progress);
    return protocol_send_json (fd, PROTOCOL_PROGRESS, told, error);
  }
  enum protocol_kind kind = output_kinds[event->kind];
  gboolean stream = event->kind == ADDER_EVENT_STDOUT || event->kind == ADDER_EVENT_STDERR;
  const char *at = event->data;
  gsize left = event->length;
  while (stream && left > OUTPUT_FRAME_BYTES) {
    if (!protocol_send (fd, kind, at, OUTPUT_FRAME_BYTES, NULL, 0, error))
      return FALSE;
    at += OUTPUT_FRAME_BYTES;
    left -= OUTPUT_FRAME_BYTES;
  }
  return protocol_send (fd, kind, at, left, NULL, 0, error);
}

static gboolean
send_result (int fd, const AdderResult *result, struct submission *request, GError **error)
{
  if (request && submission_directory (request) >= 0) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (json_t) saved = submission_save (request, result, &problem);
    json_object_set_new (saved, "error", json_text_or_null (problem ? problem->message : NULL));
    /* Who has the answer may unmount it at once. */
    fd_close (&request->fds[request->fd_count - 1]);
    if (!protocol_send_json (fd, PROTOCOL_SAVED, saved, error))
      return FALSE;
  }
  struct protocol_result head = {adder_result_exit_code (result), adder_result_outcome (result)};
  g_autoptr (GByteArray) frame = g_byte_array_new ();
  const char *text = adder_result_json (result);
  g_byte_array_append (frame, (const guint8 *)&head, sizeof head);
  g_byte_array_append (frame, (const guint8 *)text, (guint)strlen (text));
  return protocol_send (fd, PROTOCOL_RESULT, frame->data, frame->len, NULL, 0, error);
}

/* Pulls the run's events and passes them on; REQUEST may be NULL. It is in the table of runs meanwhile. A
 * client that takes no more ends it: the rest is pulled and dropped. service_end when its result was told:
 * its sandbox may take longer, and whoever has the answer may replace the daemon. */
static gboolean
relay_run (const struct connection *connection, AdderRun *run, struct submission *request, GError **error)
{
  struct service *service = connection->server->service;
  struct runs *runs = service->engine->runs;
  const struct run_request *asked = run_request (run);
  const struct run_note note = {
      .owner = asked->owner,
      .conversation = asked->conversation,
      .session = asked->session,
      .front_end = "cli",
  };
  int fd = connection->fd;
  AdderEvent event;
  gboolean ok = TRUE;
  runs_add (runs, run, &note);
  while (adder_run_next (run, &event)) {
    if (event.kind == ADDER_EVENT_RESULT) {
      g_autoptr (AdderResult) result = event.result;
      runs_remove (runs, run, NULL);
      ok = ok && send_result (fd, result, request, error);
      service_end (service);
    } else if (ok && !send_event (fd, &event, error)) {
      ok = FALSE;
      adder_run_cancel (run);
    }
  }
  return ok;
}

/* Runs and sessions belong to the user at the other end; g_free. */
static char *
server_requests_owner_of (const struct connection *connection)
{
  return g_strdup_printf ("uid:%u", (unsigned)connection->uid);
}

/* Only where the configuration asks for it: code can hold secrets. */
static void
log_code (const struct connection *connection, const char *owner, const char *code, gsize length)
{
  if (connection->server->log_code)
    log_info ("%s runs: %.*s", owner, (int)MIN (length, LOGGED_CODE_BYTES), code);
}

/* REFUSAL is set, and nothing was sent, when the request is bad or the daemon is ending. */
static gboolean
server_requests_carry_out (struct connection *connection, struct submission *request, GError **refusal,
                           GError **error)
{
  g_autofree char *owner = server_requests_owner_of (connection);
  g_autoptr (AdderRequest) asked = submission_build (request, owner, refusal);
  if (!asked || !service_begin (connection->server->service, refusal))
    return FALSE;
  log_code (connection, owner, request->code, request->code_length);
  adder_request_set_watch (asked, connection->fd);
  AdderEngine *engine = connection->server->service->engine;
  g_autoptr (AdderRun) run = adder_run_start (engine, asked);
  return relay_run (connection, run, request, error);
}

static gboolean
server_requests_handle_run (struct connection *connection, struct protocol_message *message, GError **error)
{
  struct protocol_message code;
  if (!protocol_receive (connection->fd, PROTOCOL_AWAIT_CODE, PROTOCOL_FRAME_MS, &code, error))
    return FALSE;

  g_autoptr (GError) refusal = NULL;
  gboolean ok = FALSE;
  struct submission request = {.code = code.data, .code_length = code.length, .fd_count = message->fd_count};
  for (gsize i = 0; i < message->fd_count; i++)
    request.fds[i] = fd_steal (&message->fds[i]);
  request.body = json_parse_object (message->data, message->length, "the request", &refusal);
  if (request.body)
    ok = server_requests_carry_out (connection, &request, &refusal, error);
  if (refusal)
    ok = protocol_send_refused (connection->fd, refusal, error);
  request.code = NULL; /* it stays the message's */
  submission_clear (&request);
  protocol_message_clear (&code);
  return ok;
}

/* ---- the other requests ---- */

/* Each cell of REPLAY counts as a run. */
static gboolean
relay_replay (struct connection *connection, AdderReplay *replay, GError **error)
{
  g_autoptr (GError) refusal = NULL;
  AdderRun *run;
  while ((run = adder_replay_next (replay))) {
    gboolean ok =
        service_begin (connection->server->service, error) && relay_run (connection, run, NULL, error);
    adder_run_free (run);
    if (!ok)
      return FALSE;
  }
  g_autoptr (json_t) report = library_replay_finish (replay, &refusal);
  return report ? protocol_send_json (connection->fd, PROTOCOL_ANSWER, report, error)
                : protocol_send_refused (connection->fd, refusal, error);
}

/* What the socket has no room for is left out: somebody who does not read must not hold up the work. */
static void
server_requests_tell_progress (gpointer data, const struct tool_progress *progress)
{
  const struct connection *connection = data;
  struct pollfd room = {.fd = connection->fd, .events = POLLOUT};
  if (poll (&room, 1, 0) != 1 || !(room.revents & POLLOUT))
    return;
  g_autoptr (json_t) told = tool_progress_to_json (progress);
  /* Who is gone is seen by what watches the socket. */
  (void)protocol_send_json (connection->fd, PROTOCOL_PROGRESS, told, NULL);
}

static gboolean
server_requests_handle_call (struct connection *connection, struct protocol_message *message, GError **error)
{
  struct server *server = connection->server;
  g_autoptr (GError) refusal = NULL;
  g_autoptr (json_t) answer = NULL;
  g_autoptr (json_t) question = json_parse_object (message->data, message->length, "the request", &refusal);
  g_autofree char *owner = server_requests_owner_of (connection);
  const struct tool_caller caller = {
      .owner = owner,
      .front_end = "cli",
      .at_terminal = TRUE,
      .watch_fd = connection->fd,
      .directory_fd = message->fd_count > 0 ? message->fds[0] : -1,
      .progressed = server_requests_tell_progress,
      .saw_data = connection,
  };
  if (question && service_begin (server->service, &refusal)) {
    answer = server_tools_call (server->service->tools, &caller, question, &refusal);
    service_end (server->service);
  }
  return answer ? protocol_send_json (connection->fd, PROTOCOL_ANSWER, answer, error)
                : protocol_send_refused (connection->fd, refusal, error);
}

static gboolean
handle_session (struct connection *connection, struct protocol_message *message, GError **error)
{
  g_autoptr (GError) refusal = NULL;
  g_autofree char *owner = server_requests_owner_of (connection);
  AdderReplay *replay = NULL;
  const struct session_caller caller = {
      .engine = connection->server->service->engine,
      .owner = owner,
      .watch_fd = connection->fd,
      .fds = message->fds,
      .fd_count = message->fd_count,
  };
  g_autoptr (json_t) body = json_parse_object (message->data, message->length, "the request", &refusal);
  g_autoptr (json_t) answer = body ? server_session_answer (&caller, body, &replay, &refusal) : NULL;
  if (!answer)
    return protocol_send_refused (connection->fd, refusal, error);
  gboolean ok = protocol_send_json (connection->fd, PROTOCOL_ANSWER, answer, error) &&
                (!replay || relay_replay (connection, replay, error));
  adder_replay_free (replay);
  return ok;
}

static gboolean
server_requests_handle_operation (struct connection *connection, struct protocol_message *message,
                                  GError **error)
{
  static const struct field fields[] = {MUST_TEXT ("operation"), MAY_OBJECT ("params"), {0}};
  g_autoptr (GError) refusal = NULL;
  g_autoptr (json_t) answer = NULL;
  g_autofree char *owner = server_requests_owner_of (connection);
  autoclose int fd = -1;
  struct service *service = connection->server->service;
  const struct operation_caller caller = {
      .engine = service->engine,
      .owner = owner,
      .front_end = "cli",
      .role = ROLE_ADMIN, /* the local user is an admin of their own daemon */
      .watch_fd = connection->fd,
      .fd = message->fd_count > 0 ? message->fds[0] : -1,
      .ret_fd = &fd,
  };
  g_autoptr (json_t) body = json_parse_object (message->data, message->length, "the request", &refusal);
  g_autoptr (json_t) asked = body ? field_check (fields, "the request", body, &refusal) : NULL;
  json_t *params = json_object_get (asked, "params");
  const struct operation *operation =
      asked ? operation_find (json_member_text (asked, "operation"), &refusal) : NULL;
  const char *code = json_string_value (json_object_get (params, "code"));
  if (operation && (operation->flags & OPERATION_RUNS) && code)
    log_code (connection, owner, code, strlen (code));
  if (operation && service_begin_operation (service, operation, &refusal)) {
    answer = operation_call (&caller, operation->name,
                             json_is_object (params) ? json_incref (params) : json_object (), &refusal);
    service_end_operation (service, operation);
  }
  if (!answer)
    return protocol_send_refused (connection->fd, refusal, error);
  g_autofree char *text = json_to_text (answer);
  return protocol_send (connection->fd, PROTOCOL_ANSWER, text, strlen (text), &fd, fd >= 0 ? 1 : 0, error);
}

/* The connection is MCP's until its client is done, and then nobody's. */
static gboolean
handle_mcp (struct connection *connection, struct protocol_message *message, GError **error)
{
  struct service *service = connection->server->service;
  g_autoptr (GError) refusal = NULL;
  g_autofree char *owner = server_requests_owner_of (connection);
  g_autoptr (json_t) question = json_parse_object (message->data, message->length, "the request", &refusal);
  struct mcp_caller *caller = question ? server_mcp_caller (service->config, owner, question, message->fds,
                                                            message->fd_count, &refusal)
                                       : NULL;
  if (!caller)
    return protocol_send_refused (connection->fd, refusal, error);
  g_autoptr (json_t) answer = json_object ();
  if (protocol_send_json (connection->fd, PROTOCOL_ANSWER, answer, error)) {
    mcp_stdio_serve (service->mcp, caller, connection->fd, connection->fd);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the client is done");
  }
  mcp_caller_unref (caller);
  return FALSE;
}

/* Without the one at WATCH_FD. */
REQUIRES (server)
static guint
count_connections (struct server *server, int watch_fd)
{
  guint count = 0;
  GHashTableIter iter;
  gpointer connection;
  g_hash_table_iter_init (&iter, server->connections);
  while (g_hash_table_iter_next (&iter, &connection, NULL))
    count += ((struct connection *)connection)->fd != watch_fd;
  return count;
}

json_t *
server_status (gpointer data, int watch_fd)
{
  struct server *server = data;
  g_mutex_lock (&server->lock);
  guint connections = count_connections (server, watch_fd);
  struct http_server *http = server->http;
  struct protocol_hello hello = server->hello;
  guint64 idle_exit_ms = server->idle_exit_ms;
  g_mutex_unlock (&server->lock);
  g_mutex_lock (&server->service->lock);
  guint running = server->service->running;
  guint64 runs = server->service->works;
  g_mutex_unlock (&server->service->lock);
  json_t *status =
      json_pack ("{s:b, s:s, s:I, s:s, s:I, s:I, s:i, s:i, s:I}", "daemon", 1, "version", hello.version,
                 "pid", (json_int_t)hello.pid, "socket", server->socket.path, "uptime_ms",
                 (json_int_t)((g_get_monotonic_time () - server->started_us) / 1000), "idle_exit_ms",
                 (json_int_t)idle_exit_ms, "connections", (int)connections, "running", (int)running, "runs",
                 (json_int_t)runs);
  json_object_set_new (status, "config_changed", json_boolean (server_is_stale (server)));
  json_object_set_new (status, "program_replaced",
                       json_boolean (g_atomic_int_get (&server->program_replaced)));
  if (http) {
    json_t *addresses = json_array ();
    g_auto (GStrv) urls = http_server_addresses (http);
    for (gsize i = 0; urls[i]; i++)
      json_array_append_new (addresses, json_string (urls[i]));
    json_object_set_new (status, "http", addresses);
    json_object_set_new (status, "http_connections", json_integer (http_server_connections (http)));
  }
  return status;
}

static gboolean
handle_stop (struct connection *connection, struct protocol_message *message, GError **error)
{
  struct server *server = connection->server;
  int only_idle = 0, keep_sessions = 0;
  g_autoptr (json_t) value = json_parse_object (message->data, message->length, "the request", error);
  if (!value ||
      json_unpack (value, "{s?b, s?b}", "only_idle", &only_idle, "keep_sessions", &keep_sessions) < 0)
    return FALSE;
  struct service *service = server->service;
  struct service_holding holding = service_holding (service);
  gboolean holds = holding.sessions > 0 || (only_idle && holding.approvals > 0);
  g_mutex_lock (&service->lock);
  guint running = service->running;
  gboolean stopping = !(only_idle && running > 0) && !((only_idle || keep_sessions) && holds);
  service->ending = service->ending || stopping;
  g_mutex_unlock (&service->lock);
  g_autoptr (json_t) answer =
      json_pack ("{s:b, s:i, s:i, s:i}", "stopping", stopping, "running", (int)running, "sessions",
                 (int)holding.sessions, "approvals", (int)holding.approvals);
  gboolean ok = protocol_send_json (connection->fd, PROTOCOL_STOPPING, answer, error);
  server_wake (server);
  return ok;
}

struct request_row {
  enum protocol_kind kind;
  gboolean any_version; /* legal also when the client speaks another version of the protocol */
  gboolean (*handle) (struct connection *connection, struct protocol_message *message, GError **error);
};

static const struct request_row request_table[] = {
    {PROTOCOL_RUN, FALSE, server_requests_handle_run},
    {PROTOCOL_SESSION, FALSE, handle_session},
    {PROTOCOL_CALL, FALSE, server_requests_handle_call},
    {PROTOCOL_STOP, TRUE, handle_stop},
    {PROTOCOL_MCP, FALSE, handle_mcp},
    {PROTOCOL_OPERATION, FALSE, server_requests_handle_operation},
};

gboolean
server_answer (struct connection *connection, struct protocol_message *message, gboolean same_protocol,
               GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (request_table); i++) {
    if (request_table[i].kind != message->kind)
      continue;
    if (same_protocol || request_table[i].any_version)
      return request_table[i].handle (connection, message, error);
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
        "this daemon (adder %s) speaks another version of the local protocol; end it with adder serve stop",
        adder_version ());
  }
  return FALSE;
}
