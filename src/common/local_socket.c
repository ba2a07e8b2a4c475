/* SPDX-License-Identifier: Apache-2.0 */
#include "common/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/inherited_sockets.h"

#define PID_TEXT 32

char *
local_socket_http_path (const char *path)
{
  gsize length = strlen (path) - (g_str_has_suffix (path, ".sock") ? strlen (".sock") : 0);
  return g_strdup_printf ("%.*s.http.sock", (int)length, path);
}

/* ---- the lock ---- */

static char *
local_socket_lock_path (const char *path)
{
  return g_strconcat (path, ".lock", NULL);
}

static gint64
local_socket_read_holder (int fd)
{
  char text[PID_TEXT] = "";
  ssize_t length = pread (fd, text, sizeof text - 1, 0);
  return length > 0 ? g_ascii_strtoll (text, NULL, 10) : 0;
}

gint64
local_socket_holder (const char *path)
{
  g_autofree char *lock_path = local_socket_lock_path (path);
  autoclose int fd = open (lock_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  /* Getting the lock proves that nobody holds it; it is released at once. */
  if (fd < 0 || flock (fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return 0;
  return local_socket_read_holder (fd);
}

static void
local_socket_write_holder (int fd)
{
  char text[PID_TEXT];
  int length = g_snprintf (text, sizeof text, "%d\n", (int)getpid ());
  /* For people: without it, a message names no process. */
  if (ftruncate (fd, 0) == 0)
    (void)!pwrite (fd, text, (gsize)length, 0);
}

static void
do_nothing (G_GNUC_UNUSED int signal)
{
}

/* flock has no timeout of its own; a SIGALRM interrupts it. */
static int
local_socket_wait_for_lock (int fd, unsigned wait_s)
{
  struct sigaction before, action = {.sa_handler = do_nothing};
  sigaction (SIGALRM, &action, &before);
  alarm (wait_s);
  int r = flock (fd, LOCK_EX) < 0 ? -errno : 0;
  alarm (0);
  sigaction (SIGALRM, &before, NULL);
  return r;
}

/* The lock's file stays forever: removing a locked file would let two processes lock two files of one
 * name. */
static gboolean
local_socket_take_lock (struct local_socket *socket, unsigned wait_s, GError **error)
{
  g_autofree char *path = local_socket_lock_path (socket->path);
  socket->lock_fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (socket->lock_fd < 0)
    return error_from_errno (error, errno, "cannot open the lock %s", path);
  int err = flock (socket->lock_fd, LOCK_EX | LOCK_NB) < 0 ? errno : 0;
  if (err == EWOULDBLOCK && wait_s > 0)
    err = -local_socket_wait_for_lock (socket->lock_fd, wait_s);
  if (err == 0) {
    local_socket_write_holder (socket->lock_fd);
    return TRUE;
  }
  if (err != EWOULDBLOCK && err != EINTR)
    return error_from_errno (error, err, "cannot lock %s", path);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "process %" G_GINT64_FORMAT " serves %s already: it holds the lock %s",
               local_socket_read_holder (socket->lock_fd), socket->path, path);
  return FALSE;
}

/* ---- the socket ---- */

static gboolean
local_socket_note_file (struct local_socket *socket)
{
  struct stat st;
  if (lstat (socket->path, &st) < 0)
    return FALSE;
  socket->device = st.st_dev;
  socket->inode = st.st_ino;
  return TRUE;
}

/* A descriptor that listens at the path, or -1. */
static int
local_socket_bind (struct local_socket *socket_at, GError **error)
{
  const char *path = socket_at->path;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat st;
  memcpy (address.sun_path, path, strlen (path));
  autoclose int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make a socket");
    return -1;
  }
  /* We hold the lock, so a socket of that name is a dead process's; anything else is somebody's file. */
  if (lstat (path, &st) == 0 && S_ISSOCK (st.st_mode))
    unlink (path);
  /* bind makes the file with the socket's own mode: no moment in which it is open to others. */
  if (fchmod (fd, 0600) < 0 || bind (fd, (struct sockaddr *)&address, sizeof address) < 0) {
    error_from_errno (error, errno, "cannot make the socket %s", path);
    return -1;
  }
  /* The kernel's maximum: a burst of clients waits its turn instead of being refused. */
  if (!local_socket_note_file (socket_at) || listen (fd, SOMAXCONN) < 0) {
    error_from_errno (error, errno, "cannot listen on %s", path);
    unlink (path);
    return -1;
  }
  socket_at->inherited = FALSE;
  return fd_steal (&fd);
}

/* The same by a service manager's socket, or -1: there is none. */
static int
local_socket_inherit (struct local_socket *socket_at)
{
  autoclose int fd = inherited_sockets_find_unix (socket_at->path);
  /* The file may be gone already. */
  socket_at->inherited = fd >= 0 && local_socket_note_file (socket_at);
  return socket_at->inherited ? fd_steal (&fd) : -1;
}

gboolean
local_socket_open (const char *path, unsigned wait_s, struct local_socket *ret_socket, GError **error)
{
  *ret_socket = LOCAL_SOCKET_CLOSED;
  if (strlen (path) >= sizeof ((struct sockaddr_un *)NULL)->sun_path) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the socket's path %s is longer than %zu bytes: set ADDER_RUNTIME_DIR to a shorter one",
                 path, sizeof ((struct sockaddr_un *)NULL)->sun_path - 1);
    return FALSE;
  }
  ret_socket->path = g_strdup (path);
  if (!local_socket_take_lock (ret_socket, wait_s, error))
    return FALSE;
  ret_socket->fd = local_socket_inherit (ret_socket);
  if (ret_socket->fd < 0)
    ret_socket->fd = local_socket_bind (ret_socket, error);
  return ret_socket->fd >= 0;
}

gboolean
local_socket_is_lost (const struct local_socket *socket)
{
  struct stat st;
  return socket->fd >= 0 &&
         (lstat (socket->path, &st) < 0 || st.st_dev != socket->device || st.st_ino != socket->inode);
}

gboolean
local_socket_renew (struct local_socket *socket, GError **error)
{
  autoclose int fd = local_socket_bind (socket, error);
  if (fd < 0)
    return FALSE;
  return dup3 (fd, socket->fd, O_CLOEXEC) >= 0 || error_from_errno (error, errno, "cannot make a socket");
}

void
local_socket_mute (struct local_socket *socket)
{
  /* A file that somebody else put there stays. */
  if (socket->fd >= 0 && !socket->inherited && !local_socket_is_lost (socket))
    unlink (socket->path);
  fd_close (&socket->fd);
}

void
local_socket_close (struct local_socket *socket)
{
  local_socket_mute (socket);
  fd_unlock (&socket->lock_fd);
  g_clear_pointer (&socket->path, g_free);
}
