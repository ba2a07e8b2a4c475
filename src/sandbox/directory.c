/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mount.h"
#include "sandbox/idmap.h"
#include "sandbox/mountinfo.h"

/* ---- what is mounted below ---- */

/* Whether POINT, as the kernel writes it (spaces as \040), lies below PATH. */
static bool
lies_below (const char *point, const char *path)
{
  for (; *path; path++) {
    char c = *point;
    unsigned value = 0;
    int taken = 1;
    if (c == '\\' && sscanf (point + 1, "%3o", &value) == 1) {
      c = (char)value;
      taken = 4;
    }
    if (c != *path)
      return false;
    point += taken;
  }
  return *point == '/' && point[1] != '\0';
}

/* And what an overlay shows of it is not the same. */
int
directory_check_alone (int directory_fd, struct fault *fault)
{
  char link[64], path[PATH_MAX];
  struct mountinfo mount;
  snprintf (link, sizeof link, "/proc/self/fd/%d", directory_fd);
  ssize_t length = readlink (link, path, sizeof path - 1);
  FILE *file = length < 0 ? NULL : fopen ("/proc/self/mountinfo", "re");
  if (!file)
    return fault_set (fault, errno, "cannot look for mounts below the directory");
  path[length] = '\0';
  if (strcmp (path, "/") == 0)
    path[0] = '\0';
  int r = 0;
  while (r == 0 && mountinfo_next (file, &mount))
    if (lies_below (mount.point, path))
      r = fault_set (fault, EBUSY, "another file system is mounted below the directory, at %s", mount.point);
  /* A truncated list would miss mounts. */
  if (r == 0 && ferror (file))
    r = fault_set (fault, EIO, "cannot look for mounts below the directory");
  fclose (file);
  return r;
}

/* ---- the mount ---- */

/* EINVAL: the mount is not one of this namespace's. */
static int
no_clone (int err, struct fault *fault)
{
  return fault_set (fault, err,
                    err == EINVAL ? "the directory is not among the mounts that Adder sees"
                                  : "cannot take the directory out of its file system");
}

/* Uses the current directory, which the kernel moves to the copies of the mounts in a new namespace: no path
 * is resolved again, so nobody can substitute another directory. The copies become private before one is
 * cloned: in a clone of a shared mount, such as systemd's /, later mounts of the host would appear in the
 * sandbox, writable and with devices. */
static int
clone_in_own_namespace (int directory_fd, bool map, int *ret_fd, struct fault *fault)
{
  if (fchdir (directory_fd) < 0)
    return fault_set (fault, errno, "cannot change to the directory");
  if (unshare (CLONE_NEWNS | (map ? 0 : CLONE_NEWUSER)) < 0)
    return fault_set (fault, errno, "cannot make a mount namespace to bind-mount the directory from");
  if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    return fault_set (fault, errno, "cannot make all mounts private");
  *ret_fd = sys_open_tree (AT_FDCWD, ".", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  return *ret_fd < 0 ? no_clone (errno, fault) : 0;
}

int
directory_detach (int directory_fd, const struct directory_wish *wish, int *ret_mount_fd, struct fault *fault)
{
  struct stat info;
  autoclose int mount_fd = -1, map_fd = -1;
  if (fstat (directory_fd, &info) < 0 || !S_ISDIR (info.st_mode))
    return fault_set (fault, ENOTDIR, "cannot bind-mount what is no directory");
  int r = directory_check_alone (directory_fd, fault);
  if (r == 0)
    r = clone_in_own_namespace (directory_fd, wish->map, &mount_fd, fault);
  if (r == 0 && wish->map)
    r = idmap_make (&wish->ids, &map_fd, fault);
  if (r < 0)
    return r;
  struct mount_attr attributes = {
      .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (wish->writable ? 0 : MOUNT_ATTR_RDONLY) |
                  (wish->map ? MOUNT_ATTR_IDMAP : 0),
      .userns_fd = wish->map ? (uint64_t)map_fd : 0,
  };
  if (sys_mount_setattr (mount_fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
    return fault_set (fault, errno,
                      wish->map ? "cannot map the ids of the directory's file system"
                                : "cannot protect the directory's mount");
  *ret_mount_fd = fd_steal (&mount_fd);
  return 0;
}
