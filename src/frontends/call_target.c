/* SPDX-License-Identifier: Apache-2.0 */
/* The two places where calls of tools go. */
#include "frontends/call_target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "frontends/client.h"
#include "frontends/server_approval.h"
#include "frontends/server_store.h"
#include "frontends/server_tools.h"

struct call_target {
  GMutex lock; /* of the two below */
  int calling; /* hanging up here cancels the call under way; -1: there is none */
  gboolean cancelled;
  char *socket; /* of the daemon; NULL: the engine */
  char *owner;
  AdderEngine *engine;
  struct tools *tools;
  void (*saw) (gpointer data, const struct tool_progress *progress); /* or NULL */
  gpointer saw_data;
};

struct call_target *
call_target_new (gboolean no_daemon, GError **error)
{
  struct call_target *target = g_new0 (struct call_target, 1);
  g_mutex_init (&target->lock);
  target->calling = -1;
  if (no_daemon && (target->engine = adder_engine_new (NULL, error))) {
    target->tools = tools_new (target->engine);
    target->owner = g_strdup_printf ("uid:%u", (unsigned)geteuid ());
  } else if (!no_daemon)
    target->socket = client_socket (error);
  if (!target->engine && !target->socket)
    g_clear_pointer (&target, call_target_free);
  return target;
}

void
call_target_free (struct call_target *target)
{
  if (!target)
    return;
  tools_free (target->tools);
  adder_engine_free (target->engine);
  g_free (target->socket);
  g_free (target->owner);
  g_mutex_clear (&target->lock);
  g_free (target);
}

/* ---- cancelling ---- */

void
call_target_cancel (struct call_target *target)
{
  g_mutex_lock (&target->lock);
  target->cancelled = TRUE;
  if (target->calling >= 0)
    (void)shutdown (target->calling, SHUT_RDWR);
  g_mutex_unlock (&target->lock);
}

void
call_target_resume (struct call_target *target)
{
  g_mutex_lock (&target->lock);
  target->cancelled = FALSE;
  g_mutex_unlock (&target->lock);
}

void
call_target_interrupt (struct call_target *target)
{
  g_mutex_lock (&target->lock);
  if (target->calling >= 0)
    (void)shutdown (target->calling, SHUT_WR);
  else
    target->cancelled = TRUE; /* it has nothing yet */
  g_mutex_unlock (&target->lock);
}

/* FALSE: no call may begin. */
static gboolean
calling_begin (struct call_target *target, int fd, GError **error)
{
  g_mutex_lock (&target->lock);
  gboolean may = !target->cancelled;
  if (may)
    target->calling = fd;
  g_mutex_unlock (&target->lock);
  if (!may)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the call was cancelled");
  return may;
}

/* What a call that was cancelled failed with is no news. */
static void
calling_end (struct call_target *target, GError **error)
{
  g_mutex_lock (&target->lock);
  target->calling = -1;
  gboolean cancelled = target->cancelled;
  g_mutex_unlock (&target->lock);
  if (cancelled && error && *error) {
    g_clear_error (error);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the call was cancelled");
  }
}

/* ---- calls ---- */

void
call_target_watch (struct call_target *target,
                   void (*saw) (gpointer data, const struct tool_progress *progress), gpointer data)
{
  target->saw = saw;
  target->saw_data = data;
}

static json_t *
call_once (struct call_target *target, const json_t *question, int directory_fd, GError **error)
{
  struct client client;
  json_t *answer = NULL;
  if (!client_open (target->socket, &client, error))
    return NULL;
  client.progressed = target->saw;
  client.progressed_data = target->saw_data;
  if (calling_begin (target, client.fd, error)) {
    answer = client_ask (&client, PROTOCOL_CALL, question, &directory_fd, directory_fd >= 0 ? 1 : 0, error);
    calling_end (target, error);
  }
  client_close (&client);
  return answer;
}

static json_t *
call_daemon (struct call_target *target, const json_t *question, int directory_fd, GError **error)
{
  g_autoptr (GError) problem = NULL;
  json_t *answer = call_once (target, question, directory_fd, &problem);
  /* A daemon that is about to end has begun nothing: the next one is asked, once. */
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY))
    return call_once (target, question, directory_fd, error);
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return answer;
}

/* The engine watches one end of a pair, as a daemon does its client's connection. */
static json_t *
call_engine (struct call_target *target, const json_t *question, int directory_fd, GError **error)
{
  int pair[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
    error_from_errno (error, errno, "cannot make a pair of sockets");
    return NULL;
  }
  autoclose int watched = pair[0], held = pair[1];
  const struct tool_caller caller = {
      .owner = target->owner,
      .front_end = "cli",
      .watch_fd = watched,
      .directory_fd = directory_fd,
      .progressed = target->saw,
      .saw_data = target->saw_data,
  };
  if (!calling_begin (target, held, error))
    return NULL;
  json_t *answer = server_tools_call (target->tools, &caller, question, error);
  calling_end (target, error);
  return answer;
}

json_t *
call_target_call (struct call_target *target, const json_t *question, int directory_fd, GError **error)
{
  g_autoptr (json_t) asked = json_copy ((json_t *)(guintptr)question);
  if (target->saw)
    json_object_set_new (asked, "progress", json_true ());
  return target->socket ? call_daemon (target, asked, directory_fd, error)
                        : call_engine (target, asked, directory_fd, error);
}

/* ---- approvals ---- */

json_t *
call_target_ask (gpointer data, const json_t *question, GError **error)
{
  struct call_target *target = data;
  if (target->socket)
    return client_ask_approval (target->socket, question, error);
  g_autofree char *text = server_approval_answer (target->engine, target->owner, -1, question, error);
  return text ? json_loads (text, 0, NULL) : NULL;
}

/* ---- what is kept ---- */

/* The engine may keep what it is given, and the caller has his own still. */
static gboolean
copy_fds (const int *fds, gsize count, GArray *copies, GError **error)
{
  for (gsize i = 0; i < count; i++) {
    int fd = fcntl (fds[i], F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
      return error_from_errno (error, errno, "cannot pass a descriptor on");
    g_array_append_val (copies, fd);
  }
  return TRUE;
}

static json_t *
ask_engine (struct call_target *target, const json_t *question, const int *fds, gsize count, int *ret_fd,
            GError **error)
{
  g_autoptr (GArray) copies = g_array_new (FALSE, FALSE, sizeof (int));
  g_autofree char *text = NULL;
  if (copy_fds (fds, count, copies, error))
    text = server_store_ask (target->engine, target->owner, -1, question, (int *)(void *)copies->data,
                             copies->len, ret_fd, error);
  for (guint i = 0; i < copies->len; i++)
    fd_close (&g_array_index (copies, int, i));
  return text ? json_loads (text, 0, NULL) : NULL;
}

json_t *
call_target_ask_store (struct call_target *target, const json_t *question, const int *fds, gsize count,
                       int *ret_fd, GError **error)
{
  autoclose int fd = -1;
  json_t *answer = target->socket ? client_ask_store (target->socket, question, fds, count, &fd, error)
                                  : ask_engine (target, question, fds, count, &fd, error);
  if (answer && ret_fd)
    *ret_fd = fd_steal (&fd);
  return answer;
}
