/* SPDX-License-Identifier: Apache-2.0 */
/* A procfs that is limited to processes has no other file, nor a place to mount one on. So a whole one is
 * made and mounted, ours go over the kernel's, and then it is limited. Names that the kernel has looked up
 * and that are mounted on stay; all others are gone, listed and by name. */
#include "sandbox/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/mounts.h"

/* One that every kernel has. */
#define KERNEL_FILE "proc/sys"

size_t
procfs_meminfo (uint64_t bytes, char text[PROCFS_MEMINFO_ROOM])
{
  static const struct {
    const char *name;
    bool all; /* what the limit gives, or nothing */
  } rows[] = {
      {"MemTotal", true}, {"MemFree", true},    {"MemAvailable", true}, {"Buffers", false},
      {"Cached", false},  {"Active", false},    {"Inactive", false},    {"Shmem", false},
      {"Slab", false},    {"SwapTotal", false}, {"SwapFree", false},
  };
  size_t length = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    length += (size_t)snprintf (text + length, PROCFS_MEMINFO_ROOM - length, "%s: %12llu kB\n", rows[i].name,
                                rows[i].all ? (unsigned long long)bytes / 1024 : 0);
  return length;
}

int
procfs_make (int *ret_fd, int *ret_context, struct fault *fault)
{
  autoclose int context = sys_fsopen ("proc", FSOPEN_CLOEXEC);
  if (context < 0)
    return fault_set (fault, errno, "cannot open a procfs");
  if (sys_fsconfig (context, FSCONFIG_SET_STRING, "hidepid", "invisible", 0) < 0)
    return fault_set (fault, errno, "cannot hide the processes of others in a procfs");
  int fd = -1;
  if (sys_fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    fd = sys_fsmount (context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (fd < 0 && errno != EPERM)
    return fault_set (fault, errno, "cannot make a procfs");
  *ret_fd = fd;
  *ret_context = fd_steal (&context);
  return 0;
}

/* FROM is read-only by its own mount, or is made so. What lies nowhere is left out. */
static int
put_over (int root, const char *from, const char *to, struct fault *fault)
{
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                              MOUNT_ATTR_NOEXEC};
  autoclose int fd = sys_open_tree (root, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
  if (fd < 0)
    return errno == ENOENT ? 0 : fault_set (fault, errno, "cannot take %s for /%s", from, to);
  if (sys_mount_setattr (fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
    return fault_set (fault, errno, "cannot make /%s read-only", to);
  return mounts_attach (fd, root, to, fault);
}

/* Both options are from Linux 5.8. The kernel's word is not enough: what it must have hidden is looked for.
 */
static int
limit_to_processes (int context, int root, struct fault *fault)
{
  if (sys_fsconfig (context, FSCONFIG_SET_STRING, "subset", "pid", 0) < 0 ||
      sys_fsconfig (context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
    return fault_set (fault, errno, "cannot limit a procfs to processes");
  if (faccessat (root, KERNEL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
    return fault_set (fault, EPERM, "a procfs is not limited to processes");
  return 0;
}

int
procfs_attach (int fd, int context, int root, const char *meminfo, struct fault *fault)
{
  int r = mounts_attach (fd, root, "proc", fault);
  if (r == 0)
    r = put_over (root, meminfo, "proc/meminfo", fault);
  if (r == 0)
    r = put_over (root, PROCFS_STAT, "proc/stat", fault);
  if (r == 0)
    r = put_over (root, PROCFS_CPUINFO, "proc/cpuinfo", fault);
  return r < 0 ? r : limit_to_processes (context, root, fault);
}
