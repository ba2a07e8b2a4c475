/* SPDX-License-Identifier: Apache-2.0 */
/* The two places where calls of tools go. */
#include "interfaces/socket/call_backend.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "interfaces/remote/remote.h"
#include "interfaces/socket/client.h"
#include "interfaces/socket/server_tools.h"
#include "operations/operation.h"

LOCK_CLASS (call_backend);

struct call_backend {
  MUTEX (call_backend) lock;
  GUARDED_BY (call_backend) int calling; /* hanging up here cancels the call under way; -1: there is none */
  GUARDED_BY (call_backend) gboolean cancelled;
  gboolean remote; /* the daemon is another machine's (interfaces/remote/) */
  char *socket;    /* of the daemon here; NULL: it is that one, or there is the engine */
  char *owner;
  AdderEngine *engine;
  struct tools *tools;
  void (*saw) (gpointer data, const struct tool_progress *progress); /* or NULL */
  gpointer saw_data;
};

struct call_backend *
call_backend_new (gboolean no_daemon, GError **error)
{
  struct call_backend *backend = g_new0 (struct call_backend, 1);
  g_mutex_init (&backend->lock);
  backend->calling = -1;
  backend->remote = remote_is_set ();
  if (no_daemon && backend->remote)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, REMOTE_OR_NO_DAEMON);
  else if (no_daemon && (backend->engine = adder_engine_new (NULL, error))) {
    backend->tools = tools_new (backend->engine);
    backend->owner = g_strdup_printf ("uid:%u", (unsigned)geteuid ());
  } else if (!no_daemon && !backend->remote)
    backend->socket = client_socket (error);
  if (!backend->engine && !backend->socket && (no_daemon || !backend->remote))
    g_clear_pointer (&backend, call_backend_free);
  return backend;
}

void
call_backend_free (struct call_backend *backend)
{
  if (!backend)
    return;
  tools_free (backend->tools);
  adder_engine_free (backend->engine);
  g_free (backend->socket);
  g_free (backend->owner);
  g_mutex_clear (&backend->lock);
  g_free (backend);
}

/* ---- cancelling ---- */

void
call_backend_cancel (struct call_backend *backend)
{
  g_mutex_lock (&backend->lock);
  backend->cancelled = TRUE;
  if (backend->calling >= 0)
    (void)shutdown (backend->calling, SHUT_RDWR);
  g_mutex_unlock (&backend->lock);
}

void
call_backend_resume (struct call_backend *backend)
{
  g_mutex_lock (&backend->lock);
  backend->cancelled = FALSE;
  g_mutex_unlock (&backend->lock);
}

void
call_backend_interrupt (struct call_backend *backend)
{
  g_mutex_lock (&backend->lock);
  if (backend->calling >= 0)
    (void)shutdown (backend->calling, SHUT_WR);
  else
    backend->cancelled = TRUE; /* it has nothing yet */
  g_mutex_unlock (&backend->lock);
}

/* FALSE: no call may begin. */
static gboolean
calling_begin (struct call_backend *backend, int fd, GError **error)
{
  g_mutex_lock (&backend->lock);
  gboolean may = !backend->cancelled;
  if (may)
    backend->calling = fd;
  g_mutex_unlock (&backend->lock);
  if (!may)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the call was cancelled");
  return may;
}

/* What a call that was cancelled failed with is not told. */
static void
calling_end (struct call_backend *backend, GError **error)
{
  g_mutex_lock (&backend->lock);
  backend->calling = -1;
  gboolean cancelled = backend->cancelled;
  g_mutex_unlock (&backend->lock);
  if (cancelled && error && *error) {
    g_clear_error (error);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the call was cancelled");
  }
}

/* ---- calls ---- */

void
call_backend_watch (struct call_backend *backend,
                    void (*saw) (gpointer data, const struct tool_progress *progress), gpointer data)
{
  backend->saw = saw;
  backend->saw_data = data;
}

static json_t *
call_once (struct call_backend *backend, const json_t *question, int directory_fd, GError **error)
{
  struct client client;
  json_t *answer = NULL;
  if (!client_open (backend->socket, &client, error))
    return NULL;
  client.progressed = backend->saw;
  client.progressed_data = backend->saw_data;
  if (calling_begin (backend, client.fd, error)) {
    answer = client_ask (&client, PROTOCOL_CALL, question, &directory_fd, directory_fd >= 0 ? 1 : 0, error);
    calling_end (backend, error);
  }
  client_close (&client);
  return answer;
}

/* A connection that is no descriptor of ours: one end of a pair stands for it. */
static json_t *
call_remote (struct call_backend *backend, const json_t *question, GError **error)
{
  int pair[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
    error_from_errno (error, errno, "cannot make a pair of sockets");
    return NULL;
  }
  autoclose int watched = pair[0], held = pair[1];
  if (!calling_begin (backend, held, error))
    return NULL;
  json_t *answer = remote_tool (question, backend->saw, backend->saw_data, watched, error);
  calling_end (backend, error);
  return answer;
}

static json_t *
call_daemon (struct call_backend *backend, const json_t *question, int directory_fd, GError **error)
{
  g_autoptr (GError) problem = NULL;
  json_t *answer = call_once (backend, question, directory_fd, &problem);
  /* A daemon that is about to end has begun nothing: the next one is asked, once. */
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY))
    return call_once (backend, question, directory_fd, error);
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return answer;
}

/* The engine watches one end of a pair, as a daemon does its client's connection. */
static json_t *
call_backend_call_engine (struct call_backend *backend, const json_t *question, int directory_fd,
                          GError **error)
{
  int pair[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
    error_from_errno (error, errno, "cannot make a pair of sockets");
    return NULL;
  }
  autoclose int watched = pair[0], held = pair[1];
  const struct tool_caller caller = {
      .owner = backend->owner,
      .front_end = "cli",
      .at_terminal = TRUE,
      .watch_fd = watched,
      .directory_fd = directory_fd,
      .progressed = backend->saw,
      .saw_data = backend->saw_data,
  };
  if (!calling_begin (backend, held, error))
    return NULL;
  json_t *answer = server_tools_call (backend->tools, &caller, question, error);
  calling_end (backend, error);
  return answer;
}

json_t *
call_backend_call (struct call_backend *backend, const json_t *question, int directory_fd, GError **error)
{
  if (backend->remote)
    return call_remote (backend, question, error);
  g_autoptr (json_t) asked = json_copy ((json_t *)(guintptr)question);
  if (backend->saw)
    json_object_set_new (asked, "progress", json_true ());
  return backend->socket ? call_daemon (backend, asked, directory_fd, error)
                         : call_backend_call_engine (backend, asked, directory_fd, error);
}

/* ---- operations ---- */

json_t *
call_backend_operation_with (struct call_backend *backend, const char *operation, json_t *params, int fd,
                             int *ret_fd, GError **error)
{
  autoclose int unwanted_fd = -1;
  if (!backend->engine)
    return client_call_with (backend->socket, operation, params, fd, ret_fd, error);
  struct operation_caller caller = OPERATION_CALLER (backend->engine, backend->owner, ROLE_ADMIN);
  caller.fd = fd;
  caller.ret_fd = ret_fd ? ret_fd : &unwanted_fd;
  return operation_call (&caller, operation, params, error);
}

json_t *
call_backend_operation (gpointer data, const char *operation, json_t *params, GError **error)
{
  return call_backend_operation_with (data, operation, params, -1, NULL, error);
}
