/* SPDX-License-Identifier: Apache-2.0 */
/* The two places where calls of tools go. */
#include "frontends/call_target.h"

#include <errno.h>
#include <fcntl.h>
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
  char *socket; /* of the daemon; NULL: the engine */
  char *owner;
  AdderEngine *engine;
  struct tools *tools;
};

struct call_target *
call_target_new (gboolean no_daemon, GError **error)
{
  struct call_target *target = g_new0 (struct call_target, 1);
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
  g_free (target);
}

/* ---- calls ---- */

static json_t *
call_once (const char *socket, const json_t *question, int directory_fd, GError **error)
{
  struct client client;
  if (!client_open (socket, &client, error))
    return NULL;
  json_t *answer =
      client_ask (&client, PROTOCOL_CALL, question, &directory_fd, directory_fd >= 0 ? 1 : 0, error);
  client_close (&client);
  return answer;
}

static json_t *
call_daemon (const char *socket, const json_t *question, int directory_fd, GError **error)
{
  g_autoptr (GError) problem = NULL;
  json_t *answer = call_once (socket, question, directory_fd, &problem);
  /* A daemon that is about to end has begun nothing: the next one is asked, once. */
  if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_BUSY))
    return call_once (socket, question, directory_fd, error);
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return answer;
}

json_t *
call_target_call (struct call_target *target, const json_t *question, int directory_fd, GError **error)
{
  if (target->socket)
    return call_daemon (target->socket, question, directory_fd, error);
  const struct tool_caller caller = {
      .owner = target->owner, .front_end = "cli", .watch_fd = -1, .directory_fd = directory_fd};
  return server_tools_call (target->tools, &caller, question, error);
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
