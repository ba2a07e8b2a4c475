/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's descriptors and end. */
#include "engine/box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/weaken.h"
#include "common/error.h"
#include "common/log.h"
#include "engine/process.h"

/* The exit pipe carries one small struct; a page is enough of what a user may have in pipes
 * (pipe-user-pages-soft). */
#define EXIT_PIPE_BYTES 4096

static void
clear_info (gpointer data)
{
  struct zygote_info *info = data;
  g_free (info->version);
  g_strfreev (info->warnings);
}

struct zygote_info *
zygote_info_ref (struct zygote_info *info)
{
  return g_atomic_rc_box_acquire (info);
}

void
zygote_info_unref (struct zygote_info *info)
{
  if (info)
    g_atomic_rc_box_release_full (info, clear_info);
}

gboolean
limits_same_shape (const struct limits *a, const struct limits *b, gboolean inside)
{
  for (int i = 0; i < LIMIT_COUNT; i++)
    if ((limit_table[i].shape || (inside && limit_table[i].inside)) && a->value[i] != b->value[i])
      return FALSE;
  return TRUE;
}

/* ---- making ---- */

static gboolean
make_pipe (int *ret_read, int *ret_write, const char *what, GError **error)
{
  int ends[2];
  /* Our end does not wait: code that runs as the daemon's user can open its stream again through /proc, and
   * take away what poll saw there. */
  if (pipe2 (ends, O_CLOEXEC) < 0 || fcntl (ends[0], F_SETFL, O_NONBLOCK) < 0)
    return error_from_errno (error, errno, "cannot make the %s pipe of a sandbox", what);
  *ret_read = ends[0];
  *ret_write = ends[1];
  return TRUE;
}

static gboolean
make_socket (int *ret_ours, int *ret_theirs, GError **error)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return error_from_errno (error, errno, "cannot make the socket of a sandbox");
  *ret_ours = ends[0];
  *ret_theirs = ends[1];
  return TRUE;
}

struct box *
box_new (struct pool *pool, const struct limits *limits, struct scratch *scratch,
         int ret_spawn[WIRE_SPAWN_FDS], GError **error)
{
  static gint64 boxes;
  struct box *box = g_new0 (struct box, 1);
  box->pool = pool;
  box->limits = *limits;
  box->number = (guint64)__atomic_add_fetch (&boxes, 1, __ATOMIC_RELAXED);
  box->socket_fd = box->stdout_fd = box->stderr_fd = box->exit_fd = -1;
  box->worker_fd = box->init_fd = box->workspace_fd = box->memory_fd = -1;
  box->link.data = box;
  channel_init (&box->channel, -1);

  int spawn[WIRE_SPAWN_FDS] = {-1, -1, -1, -1, -1};
  if (!make_socket (&box->socket_fd, &spawn[WIRE_SPAWN_SOCKET], error) ||
      !make_pipe (&box->stdout_fd, &spawn[WIRE_SPAWN_STDOUT], "stdout", error) ||
      !make_pipe (&box->stderr_fd, &spawn[WIRE_SPAWN_STDERR], "stderr", error) ||
      !make_pipe (&box->exit_fd, &spawn[WIRE_SPAWN_EXIT], "exit", error) ||
      (scratch && !(box->place = scratch_make (scratch, &spawn[WIRE_SPAWN_WORKSPACE], error)))) {
    for (int i = 0; i < WIRE_SPAWN_FDS; i++)
      fd_close (&spawn[i]);
    box_free (box);
    return NULL;
  }
  (void)fcntl (box->exit_fd, F_SETPIPE_SZ, EXIT_PIPE_BYTES);
  channel_init (&box->channel, box->socket_fd);
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    ret_spawn[i] = spawn[i];
  return box;
}

/* One that has ended already has no id any more, and nobody needs it: its socket says why it ended. */
static gboolean
look_at (int process_fd, pid_t *ret_pid)
{
  *ret_pid = process_id (process_fd);
  return *ret_pid > 0 || errno == ESRCH;
}

gboolean
box_adopt (struct box *box, const int fds[WIRE_SPAWNED_FDS], GError **error)
{
  box->worker_fd = fds[WIRE_SPAWNED_WORKER];
  box->init_fd = fds[WIRE_SPAWNED_INIT];
  box->workspace_fd = fds[WIRE_SPAWNED_WORKSPACE];
  gboolean known = look_at (box->worker_fd, &box->worker_pid) && look_at (box->init_fd, &box->init_pid);
  if (box->init_pid == box->worker_pid)
    box->init_pid = 0;
  if (known)
    return TRUE;
  return error_from_errno (error, errno, "cannot look at the processes of a sandbox");
}

/* ---- ending ---- */

void
box_kill (struct box *box)
{
  /* No init's end is the end of all here. As long as the zygote has not reported it, the worker's number is
   * its group's still, even should the zygote be dead. */
  if (box->place && box->worker_pid > 0 && !box->has_exit && !weakened (LAYER_CLEANUP))
    (void)kill (-box->worker_pid, SIGKILL);
  int fd = weakened (LAYER_CLEANUP) ? box->worker_fd : box->init_fd;
  if (fd >= 0)
    (void)pidfd_send_signal (fd, SIGKILL, NULL, 0);
}

gboolean
box_has_died (const struct box *box)
{
  /* A process that was killed shows at once; the zygote's report of it comes later. */
  struct pollfd ends[] = {
      {.fd = box->worker_fd, .events = POLLIN},
      {.fd = box->init_fd, .events = POLLIN},
      {.fd = box->exit_fd, .events = POLLIN},
  };
  return poll (ends, G_N_ELEMENTS (ends), 0) > 0;
}

gboolean
box_read_exit (struct box *box)
{
  if (box->ended)
    return TRUE;
  struct wire_exit report;
  gssize got = read (box->exit_fd, &report, sizeof report);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return FALSE;
  /* It is smaller than PIPE_BUF, so it comes whole or not at all. */
  if (got == (gssize)sizeof report) {
    box->exit = report;
    box->has_exit = TRUE;
  }
  box->ended = TRUE;
  return TRUE;
}

void
box_free (struct box *box)
{
  if (!box)
    return;
  struct fault fault;
  if (box->cgroup && !weakened (LAYER_CLEANUP) && cgroup_remove (box->cgroup, &fault) < 0)
    log_warning ("%s: %s", fault.step, g_strerror (fault.err));
  channel_clear (&box->channel);
  int *const fds[] = {&box->socket_fd, &box->stdout_fd, &box->stderr_fd,    &box->exit_fd,
                      &box->worker_fd, &box->init_fd,   &box->workspace_fd, &box->memory_fd};
  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    fd_close (fds[i]);
  scratch_place_free (box->place);
  zygote_info_unref (box->info);
  g_free (box);
}
