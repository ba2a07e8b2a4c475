/* SPDX-License-Identifier: Apache-2.0 */
#include "containers/join.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "containers/spec.h"
#include "containers/syscalls.h"
#include "runner/wire.h"

/* Engines give a container the host's name servers, and some the host's names. */
#define HOSTS "127.0.0.1 localhost adder\n::1 localhost adder\n"

/* ---- the place ---- */

static gboolean
join_write_file (int directory, const char *name, const char *text, GError **error)
{
  autoclose int fd = openat (directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  int r = fd < 0 || fchmod (fd, 0644) < 0 ? -errno : fd_write_all (fd, text, strlen (text));
  return r == 0 || error_from_errno (error, r, "cannot write %s for a container", name);
}

/* By its descriptor, since a path may be longer than an address. */
static gboolean
bind_socket (struct join *join, int directory, GError **error)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  g_autofree char *name = g_path_get_basename (WIRE_JOIN_PATH);
  g_snprintf (address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name);
  join->listen_fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (join->listen_fd < 0 || bind (join->listen_fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
      fchmodat (directory, name, 0666, 0) < 0 || listen (join->listen_fd, 1) < 0)
    return error_from_errno (error, errno, "cannot make the socket at which a container joins");
  return TRUE;
}

gboolean
join_open (struct join *join, const char *home, GError **error)
{
  *join = (struct join){.listen_fd = -1, .zygote_fd = -1};
  g_autofree char *directory = g_build_filename (home, "container-XXXXXX", NULL);
  if (!mkdtemp (directory))
    return error_from_errno (error, errno, "cannot make a directory in %s", home);
  join->directory = g_steal_pointer (&directory);
  g_autofree char *filter = container_syscalls ();
  autoclose int fd = open (join->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || fchmod (fd, 0711) < 0)
    return error_from_errno (error, errno, "cannot open %s", join->directory);
  return join_write_file (fd, CONTAINER_FILTER, filter, error) &&
         join_write_file (fd, CONTAINER_HOSTS, HOSTS, error) &&
         join_write_file (fd, CONTAINER_SERVERS, "", error) && bind_socket (join, fd, error);
}

static void
join_remove_place (struct join *join)
{
  static const char *const files[] = {CONTAINER_FILTER, CONTAINER_HOSTS, CONTAINER_SERVERS};
  autoclose int fd = open (join->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autofree char *name = g_path_get_basename (WIRE_JOIN_PATH);
  for (gsize i = 0; i < G_N_ELEMENTS (files) && fd >= 0; i++)
    (void)unlinkat (fd, files[i], 0);
  if (fd >= 0)
    (void)unlinkat (fd, name, 0);
  (void)rmdir (join->directory);
  g_clear_pointer (&join->directory, g_free);
}

void
join_close (struct join *join)
{
  fd_close (&join->listen_fd);
  fd_close (&join->zygote_fd);
  if (join->directory)
    join_remove_place (join);
}

/* ---- who comes ---- */

static char *
groups_of (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/cgroup", (int)pid);
  char *text = NULL;
  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("");
}

/* Which is not the one that this process has too. */
static gboolean
in_one_group (pid_t one, pid_t other)
{
  g_autofree char *groups = groups_of (one), *others = groups_of (other), *own = groups_of (getpid ());
  return groups[0] != '\0' && strcmp (groups, others) == 0 && strcmp (groups, own) != 0;
}

static gboolean
check_peer (struct join *join, pid_t pid, GError **error)
{
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt (join->zygote_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
    return error_from_errno (error, errno, "cannot tell who joined");
  /* What gVisor's kernel has of the host's file tree, its "gofer" opens for it. */
  join->apart = peer.pid != pid && in_one_group (peer.pid, pid);
  if (peer.pid == pid || join->apart)
    return TRUE;
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                       "another process than the container's first one joined: the engine, or its runtime, "
                       "keeps processes in another pid namespace");
  return FALSE;
}

/* Returns 0 when something happened, else an errno. */
static int
join_wait_for (const struct join *join, int pid_fd, gint64 until_us, gboolean *ret_ended)
{
  struct pollfd watched[] = {{.fd = join->listen_fd, .events = POLLIN}, {.fd = pid_fd, .events = POLLIN}};
  gint64 left_ms = (until_us - g_get_monotonic_time () + 999) / 1000;
  int r = left_ms > 0 ? poll (watched, G_N_ELEMENTS (watched), (int)MIN (left_ms, G_MAXINT)) : 0;
  *ret_ended = r > 0 && watched[0].revents == 0;
  if (r < 0)
    return errno == EINTR ? 0 : errno;
  return r == 0 ? ETIMEDOUT : 0;
}

gboolean
join_ended (GError **error)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                       "a container ended before it joined: its image may be damaged, or its runtime lets it "
                       "reach no socket of the host (gVisor's needs --host-uds=open)");
  error_add_advice (error, "; \"adder env image build\" makes the image anew");
  return FALSE;
}

gboolean
join_wait (struct join *join, pid_t pid, int pid_fd, gint64 until_us, GError **error)
{
  while ((join->zygote_fd = accept4 (join->listen_fd, NULL, NULL, SOCK_CLOEXEC)) < 0) {
    gboolean ended = FALSE;
    int err = join_wait_for (join, pid_fd, until_us, &ended);
    if (err == ETIMEDOUT) {
      g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                           "a container started but did not join in time ([container] start_ms)");
      return FALSE;
    }
    if (err)
      return error_from_errno (error, err, "cannot wait for a container");
    if (ended)
      return join_ended (error);
  }
  return check_peer (join, pid, error);
}

gboolean
join_send (struct join *join, int messages_fd, int control_fd, int filter_fd, GError **error)
{
  const struct wire_join message = {.version = WIRE_VERSION, .outside = namespaces_look ()};
  const int fds[WIRE_JOIN_FDS] = {
      [WIRE_JOIN_MESSAGES] = messages_fd,
      [WIRE_JOIN_CONTROL] = control_fd,
      [WIRE_JOIN_FILTER] = filter_fd,
  };
  int r = fd_send (join->zygote_fd, &message, sizeof message, fds, WIRE_JOIN_FDS);
  join_close (join);
  return r == 0 || error_from_errno (error, r, "a container ended as it joined");
}
