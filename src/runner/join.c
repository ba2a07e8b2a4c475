/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/join.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

/* Out of the way of the numbers that are to be settled. */
#define SPARE_FD 64

/* What a runtime leaves open by mistake would lead out of the container. */
static int
join_close_others (unsigned int first, struct fault *fault)
{
  return close_range (first, FD_LAST, 0) < 0 ? fault_set (fault, errno, "cannot close other descriptors") : 0;
}

static int
join_connect_to (const char *path, int *ret_fd, struct fault *fault)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen (path) >= sizeof address.sun_path)
    return fault_set (fault, ENAMETOOLONG, "cannot connect to the launcher");
  memcpy (address.sun_path, path, strlen (path));
  autoclose int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect (fd, (const struct sockaddr *)&address, sizeof address) < 0)
    return fault_set (fault, errno, "cannot connect to the launcher at %.80s", path);
  *ret_fd = fd_steal (&fd);
  return 0;
}

static int
join_receive (int socket, struct wire_join *ret_join, int fds[WIRE_JOIN_FDS], struct fault *fault)
{
  size_t count = 0;
  ssize_t size = fd_receive (socket, ret_join, sizeof *ret_join, fds, WIRE_JOIN_FDS, &count);
  if (size < 0)
    return fault_set (fault, (int)-size, "cannot hear the launcher");
  if (size != (ssize_t)sizeof *ret_join || count != WIRE_JOIN_FDS)
    return fault_set (fault, EPROTO, "cannot understand the launcher");
  if (ret_join->version != WIRE_VERSION)
    return fault_set (fault, EPROTO, "the launcher speaks version %u, this runner %u", ret_join->version,
                      WIRE_VERSION);
  return 0;
}

static int
join_settle (const int fds[WIRE_JOIN_FDS], struct fault *fault)
{
  const struct {
    int from, to;
  } settled[] = {
      {open ("/dev/null", O_RDWR | O_CLOEXEC), STDIN_FILENO},
      {fds[WIRE_JOIN_MESSAGES], STDOUT_FILENO},
      {fds[WIRE_JOIN_MESSAGES], STDERR_FILENO},
      {fds[WIRE_JOIN_CONTROL], WIRE_LAUNCH_CONTROL},
      {fds[WIRE_JOIN_FILTER], WIRE_LAUNCH_FILTER},
  };
  enum { COUNT = sizeof settled / sizeof settled[0] };
  int spare[COUNT];
  /* First all out of the way, since any of them may have a number that another one shall get. */
  for (int i = 0; i < COUNT; i++) {
    spare[i] = fcntl (settled[i].from, F_DUPFD_CLOEXEC, SPARE_FD);
    if (spare[i] < 0)
      return fault_set (fault, errno, "cannot set descriptor %d aside", settled[i].to);
  }
  for (int i = 0; i < COUNT; i++)
    if (dup2 (spare[i], settled[i].to) < 0)
      return fault_set (fault, errno, "cannot settle descriptor %d", settled[i].to);
  return join_close_others (WIRE_LAUNCH_FILTER + 1, fault);
}

int
join_launcher (const char *path, struct wire_join *ret_join, struct fault *fault)
{
  autoclose int socket = -1;
  int fds[WIRE_JOIN_FDS] = {-1, -1, -1};
  int r = join_close_others (STDERR_FILENO + 1, fault);
  if (r == 0)
    r = join_connect_to (path, &socket, fault);
  if (r == 0)
    r = join_receive (socket, ret_join, fds, fault);
  if (r < 0)
    return r;
  fd_close (&socket);
  return join_settle (fds, fault);
}
