/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"

/* The kernel takes a map in one write or not at all. */
static int
write_map (int proc_fd, pid_t pid, const char *name, unsigned host, unsigned sandbox, unsigned same,
           struct fault *fault)
{
  char path[32], text[64];
  int length = snprintf (text, sizeof text, "%u %u 1\n", host, sandbox);
  if (same != IDMAP_NONE && same != host && same != sandbox)
    length += snprintf (text + length, sizeof text - (size_t)length, "%u %u 1\n", same, same);
  snprintf (path, sizeof path, "%d/%s", (int)pid, name);
  autoclose int fd = openat (proc_fd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 || write (fd, text, (size_t)length) != length)
    return fault_set (fault, errno, "cannot write the %s of a mount", name);
  return 0;
}

static int
write_maps (pid_t pid, const struct idmap *map, int *ret_fd, struct fault *fault)
{
  char path[32];
  autoclose int proc = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0)
    return fault_set (fault, errno, "cannot open /proc");
  int r = write_map (proc, pid, "gid_map", map->host_gid, map->sandbox_gid, map->same_gid, fault);
  if (r == 0)
    r = write_map (proc, pid, "uid_map", map->host_uid, map->sandbox_uid, map->same_uid, fault);
  if (r < 0)
    return r;
  snprintf (path, sizeof path, "%d/ns/user", (int)pid);
  int fd = openat (proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot open a user namespace");
  *ret_fd = fd;
  return 0;
}

int
idmap_make (const struct idmap *map, int *ret_fd, struct fault *fault)
{
  int gate[2], pidfd = -1;
  if (pipe2 (gate, O_CLOEXEC) < 0)
    return fault_set (fault, errno, "cannot make a pipe");
  autoclose int gate_read = gate[0];
  autoclose int gate_write = gate[1];
  pid_t pid = sys_clone (CLONE_NEWUSER | SIGCHLD, &pidfd);
  if (pid < 0)
    return fault_set (fault, errno, "cannot make a user namespace for the ids of a mount");
  if (pid == 0) {
    char end;
    fd_close (&gate_write);
    (void)fd_read_all (gate_read, &end, 1);
    sys_exit (0);
  }
  int r = write_maps (pid, map, ret_fd, fault);
  fd_close (&gate_write);
  while (waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
    ;
  fd_close (&pidfd);
  return r;
}
