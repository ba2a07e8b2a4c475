/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/own_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"
#include "sandbox/mirror.h"
#include "sandbox/mounts.h"
#include "sandbox/tree.h"

#define WORK "/work"

/* The root holds directories, links and places for files only. */
#define ROOT_BYTES ((uint64_t)1 << 20)
#define ROOT_FILES 1024

/* Makes the link PATH, which is relative to TO, with all that FROM (-1: nothing) has beside it. */
static int
make_way (int from, int to, const char *path, struct fault *fault)
{
  char name[NAME_MAX + 1];
  size_t length = strcspn (path, "/");
  const char *rest = path + length + strspn (path + length, "/");
  snprintf (name, sizeof name, "%.*s", (int)length, path);
  const char *const but[] = {name, NULL};
  int r = from < 0 ? 0 : mirror_all (from, to, but, fault);
  if (r < 0)
    return r;
  if (*rest == '\0')
    return symlinkat (WORK, to, name) < 0 ? fault_set (fault, errno, "cannot make the link to " WORK) : 0;
  if (mkdirat (to, name, 0755) < 0)
    return fault_set (fault, errno, "cannot make a directory above the work directory");
  autoclose int next = openat (to, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (next < 0)
    return fault_set (fault, errno, "cannot open a directory above the work directory");
  autoclose int beside = from < 0 ? -1 : openat (from, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  return make_way (beside, next, rest, fault);
}

int
own_path_enter (const char *path, struct fault *fault)
{
  autoclose int root = -1;
  autoclose int from = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (from < 0)
    return fault_set (fault, errno, "cannot open the zygote's root");
  autoclose int there = sys_openat2 (from, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
                                     RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
  if (there < 0 && errno != ENOENT)
    return 0;
  int r = mounts_tmpfs (ROOT_BYTES, ROOT_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, fault);
  /* It must be attached before anything can be attached to it. */
  if (r == 0)
    r = mounts_attach (root, AT_FDCWD, "/", fault);
  if (r == 0)
    r = make_way (from, root, path + 1, fault);
  return r < 0 ? r : tree_become_root (root, fault);
}

/* Nobody has written there yet but who put files there: where those are in the way, there is no link. */
static int
link_in_tmp (int root, const char *path, struct fault *fault)
{
  int r = mounts_make_parents (root, path, fault);
  if (r < 0)
    return r == -ENOTDIR ? 0 : r;
  return symlinkat (WORK, root, path) < 0 && errno != EEXIST
             ? fault_set (fault, errno, "cannot make the link to " WORK)
             : 0;
}

int
own_path_place (const char *path, struct fault *fault)
{
  autoclose int root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return fault_set (fault, errno, "cannot open the root");
  if (strncmp (path, "/tmp/", strlen ("/tmp/")) == 0)
    return link_in_tmp (root, path + 1, fault);
  autoclose int there =
      sys_openat2 (root, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
  if (there < 0)
    return 0;
  autoclose int fd = open_tree (AT_FDCWD, WORK, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot take " WORK " for the work directory's own path");
  return mounts_attach (fd, AT_FDCWD, path, fault);
}
