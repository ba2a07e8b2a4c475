/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's descriptors and end. */
#include "engine/box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "base/weaken.h"
#include "common/error.h"
#include "common/log.h"
#include "engine/launcher.h"
#include "engine/process.h"
#include "engine/proxy.h"

/* How long a dead process may stay unreaped by its init, before nobody waits to know how it ended. */
#define REAP_WAIT_MS 200

/* The exit pipe carries one small struct; a page is enough of what a user may have in pipes
 * (pipe-user-pages-soft). */
#define EXIT_PIPE_BYTES 4096

static void
clear_info (gpointer data)
{
  struct zygote_info *info = data;
  g_free (info->version);
  g_strfreev (info->warnings);
  container_facts_free (info->container);
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

/* ---- making ---- */

/* The ends are the caller's to close, also where this fails. */
static gboolean
make_pipe (int *ret_read, int *ret_write, const char *what, GError **error)
{
  int ends[2];
  if (pipe2 (ends, O_CLOEXEC) < 0)
    return error_from_errno (error, errno, "cannot make the %s pipe of a sandbox", what);
  *ret_read = ends[0];
  *ret_write = ends[1];
  /* Our end does not wait: code that runs as the daemon's user can open its stream again through /proc, and
   * take away what poll saw there. */
  if (fcntl (ends[0], F_SETFL, O_NONBLOCK) < 0)
    return error_from_errno (error, errno, "cannot read the %s pipe of a sandbox without waiting", what);
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

guint64
box_next_number (void)
{
  static gint64 boxes;
  return (guint64)__atomic_add_fetch (&boxes, 1, __ATOMIC_RELAXED);
}

static struct box *
new_box (struct pool *pool, const struct shape *shape, guint64 number)
{
  struct box *box = g_new0 (struct box, 1);
  box->pool = pool;
  box->shape = *shape;
  shape_init_lent (&box->shape);
  box->shape.files = NULL;
  box->shape.own_path = NULL;
  box->number = number;
  box->socket_fd = box->stdout_fd = box->stderr_fd = box->exit_fd = -1;
  box->worker_fd = box->init_fd = box->workspace_fd = box->memory_fd = box->listener_fd = -1;
  box->link.data = box;
  box->members = 1;
  channel_init (&box->channel, -1);
  return box;
}

static gboolean
has_lent (const struct shape *shape, GError **error)
{
  for (int i = 0; i < MOUNTS_LENT; i++)
    if (shape->lent_fd[i] == SHAPE_LOST)
      return error_from_errno (error, EMFILE, "cannot keep what is lent to a sandbox");
  return TRUE;
}

struct box *
box_new (struct pool *pool, const struct shape *shape, struct scratch *scratch, int ret_spawn[WIRE_SPAWN_FDS],
         GError **error)
{
  struct box *box = new_box (pool, shape, box_next_number ());
  int spawn[WIRE_SPAWN_FDS];
  for (int i = 0; i < WIRE_SPAWN_FDS; i++)
    spawn[i] = -1;
  if (!has_lent (shape, error) || !make_socket (&box->socket_fd, &spawn[WIRE_SPAWN_SOCKET], error) ||
      !make_pipe (&box->stdout_fd, &spawn[WIRE_SPAWN_STDOUT], "stdout", error) ||
      !make_pipe (&box->stderr_fd, &spawn[WIRE_SPAWN_STDERR], "stderr", error) ||
      !make_pipe (&box->exit_fd, &spawn[WIRE_SPAWN_EXIT], "exit", error) ||
      (scratch && !(box->place = scratch_make (scratch, &spawn[WIRE_SPAWN_WORKSPACE], error)))) {
    for (int i = 0; i < WIRE_SPAWN_FDS; i++)
      fd_close (&spawn[i]);
    box_free (box);
    return NULL;
  }
  for (int i = 0; i < MOUNTS_LENT; i++)
    spawn[WIRE_SPAWN_DIRECTORY + i] = shape->lent_fd[i];
  box->shape.files = shape->files;
  box->shape.own_path = shape->own_path;
  (void)fcntl (box->exit_fd, F_SETPIPE_SZ, EXIT_PIPE_BYTES);
  channel_init (&box->channel, box->socket_fd);
  box->channel.takes_fd = shape->network == NETWORK_ALLOW;
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
  /* What the first process of a container uses is the zygote's. */
  if (box->init_pid == box->worker_pid || box->contained)
    box->init_pid = 0;
  if (known)
    return TRUE;
  return error_from_errno (error, errno, "cannot look at the processes of a sandbox");
}

/* ---- branches ---- */

/* By what comes over the branch's socket the kernel tells whose it is: by a pidfd, or by a number (before
 * Linux 6.5). */
static gboolean
ask_for_sender (int socket, GError **error)
{
  int on = 1;
  if (setsockopt (socket, SOL_SOCKET, SO_PASSPIDFD, &on, sizeof on) == 0 ||
      setsockopt (socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0)
    return TRUE;
  return error_from_errno (error, errno, "cannot have a socket tell who sends");
}

struct box *
box_new_branch (struct box *from, guint64 number, int ret_fds[WIRE_BRANCH_FDS], GError **error)
{
  struct box *trunk = box_trunk (from), *box = new_box (from->pool, &from->shape, number);
  int fds[WIRE_BRANCH_FDS] = {-1, -1, -1};
  box->trunk = trunk;
  box->branch = g_strdup_printf ("%" G_GUINT64_FORMAT, number);
  g_atomic_int_set (&trunk->shared, 1);
  (void)g_atomic_int_add (&trunk->members, 1);
  box->info = zygote_info_ref (from->info);
  box->init_pid = trunk->init_pid;
  box->init_fd = fcntl (trunk->init_fd, F_DUPFD_CLOEXEC, 0);
  if (box->init_fd < 0)
    error_from_errno (error, errno, "cannot keep the init of a branch");
  else if (make_socket (&box->socket_fd, &fds[WIRE_BRANCH_SOCKET], error) &&
           ask_for_sender (box->socket_fd, error) &&
           make_pipe (&box->stdout_fd, &fds[WIRE_BRANCH_STDOUT], "stdout", error) &&
           make_pipe (&box->stderr_fd, &fds[WIRE_BRANCH_STDERR], "stderr", error)) {
    channel_init (&box->channel, box->socket_fd);
    for (int i = 0; i < WIRE_BRANCH_FDS; i++)
      ret_fds[i] = fds[i];
    return box;
  }
  for (int i = 0; i < WIRE_BRANCH_FDS; i++)
    fd_close (&fds[i]);
  (void)box_leave (box);
  box_free (box);
  return NULL;
}

gboolean
box_adopt_branch (struct box *box, int pidfd, GError **error)
{
  box->worker_fd = pidfd;
  /* Readable when the process is dead, as the exit pipe of others is. */
  box->exit_fd = fcntl (pidfd, F_DUPFD_CLOEXEC, 0);
  if (box->exit_fd < 0 || !look_at (pidfd, &box->worker_pid))
    return error_from_errno (error, errno, "cannot look at the process of a branch");
  /* The socket is held by processes of this sandbox only; that it was one of them which sent, and not another
   * with a number that was used again, shows by its parent. */
  if (box->worker_pid > 0 && process_parent (box->worker_pid) == box->init_pid)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the process of a branch is not where it should be");
  return FALSE;
}

struct box *
box_trunk (struct box *box)
{
  return box->trunk ? box->trunk : box;
}

gboolean
box_has_company (const struct box *box)
{
  return g_atomic_int_get (&(box->trunk ? box->trunk : box)->members) > 1;
}

gboolean
box_fills_alone (const struct box *box)
{
  return !box->place && !box->trunk && !g_atomic_int_get (&box->shared);
}

gsize
box_roots (const struct box *box, pid_t ret_roots[2])
{
  ret_roots[0] = box->worker_pid;
  ret_roots[1] = box->init_pid;
  return box_has_company (box) ? 1 : 2;
}

/* ---- ending ---- */

void
box_kill (struct box *box)
{
  if (box_has_company (box)) {
    if (box->cgroup)
      (void)cgroup_kill (box->cgroup, NULL);
    if (box->worker_fd >= 0)
      (void)pidfd_send_signal (box->worker_fd, SIGKILL, NULL, 0);
    return;
  }
  usage_settle (box);
  /* No init's end is the end of all here. As long as the zygote has not reported it, the worker's number is
   * its group's still, even should the zygote be dead. */
  if (box->place && !box->apart && box->worker_pid > 0 && !box->has_exit && !weakened (LAYER_CLEANUP))
    (void)kill (-box->worker_pid, SIGKILL);
  int fd = weakened (LAYER_CLEANUP) ? box->worker_fd : box->init_fd;
  if (fd >= 0)
    (void)pidfd_send_signal (fd, SIGKILL, NULL, 0);
}

void
box_strike (const struct box *box)
{
  (void)pidfd_send_signal (box_has_company (box) ? box->worker_fd : box->init_fd, SIGKILL, NULL, 0);
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

/* A branch is the init's child, which tells nobody how it ended; the kernel does, once it is reaped, which is
 * at once. Where it does not, the branch is taken for killed, as most are. */
static gboolean
read_end_of_branch (struct box *box)
{
  struct pollfd dead = {.fd = box->worker_fd, .events = POLLIN}, reaped = {.fd = box->worker_fd};
  int status;
  if (poll (&dead, 1, 0) <= 0)
    return FALSE;
  (void)poll (&reaped, 1, REAP_WAIT_MS);
  if (!process_exit_status (box->worker_fd, &status))
    status = SIGKILL;
  box->exit.code = WIFEXITED (status) ? CLD_EXITED : WCOREDUMP (status) ? CLD_DUMPED : CLD_KILLED;
  box->exit.status = WIFEXITED (status) ? WEXITSTATUS (status) : WTERMSIG (status);
  box->has_exit = box->ended = box->gone = TRUE;
  return TRUE;
}

gboolean
box_is_empty (const struct box *box, int wait_ms)
{
  return !box->contained || box->init_fd < 0 || launcher_wait (box->init_fd, wait_ms);
}

gboolean
box_read_exit (struct box *box)
{
  if (box->gone)
    return TRUE;
  if (box->trunk)
    return read_end_of_branch (box);
  struct wire_exit report;
  gssize got = read (box->exit_fd, &report, sizeof report);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return box->ended;
  /* It is smaller than PIPE_BUF, so it comes whole or not at all. */
  if (got == (gssize)sizeof report) {
    box->exit = report;
    box->has_exit = TRUE;
  }
  box->ended = TRUE;
  box->gone = got != (gssize)sizeof report || !(box->shape.session || box->contained);
  /* The first process of a container closes its end before the others have gone with it. */
  if (box->gone)
    (void)box_is_empty (box, REAP_WAIT_MS);
  return TRUE;
}

/* So that those that live on have the room. */
static void
remove_branch (struct box *box)
{
  autoclose int branches = sys_openat2 (box->trunk->workspace_fd, "branches",
                                        O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, WORKSPACE_RESOLVE);
  if (branches >= 0)
    scratch_remove_tree (branches, box->branch);
}

gboolean
box_leave (struct box *box)
{
  return g_atomic_int_add (&box_trunk (box)->members, -1) == 1;
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
  int *const fds[] = {&box->socket_fd, &box->stdout_fd,    &box->stderr_fd, &box->exit_fd,    &box->worker_fd,
                      &box->init_fd,   &box->workspace_fd, &box->memory_fd, &box->listener_fd};
  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    fd_close (fds[i]);
  if (box->gate)
    proxy_close (box->gate);
  gate_unref (box->gate);
  scratch_place_free (box->place);
  zygote_info_unref (box->info);
  g_clear_pointer (&box->shape.files, g_ptr_array_unref);
  g_clear_pointer (&box->shape.own_path, g_ref_string_release);
  if (box->trunk && box->trunk->workspace_fd >= 0)
    remove_branch (box);
  g_free (box->branch);
  g_free (box);
}

void
box_release (struct box *box)
{
  struct box *trunk = box->trunk;
  gboolean left = !trunk && g_atomic_int_get (&box->members) == 0;
  gboolean last = !left && box_leave (box);
  if (trunk || left || last)
    box_free (box);
  if (trunk && last)
    box_free (trunk);
}
