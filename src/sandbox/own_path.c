/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/own_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/mirror.h"
#include "sandbox/mounts.h"
#include "sandbox/procfs.h"
#include "sandbox/tree.h"

#define WORK "/work"

/* The root holds directories, links and places for files only. */
#define ROOT_BYTES ((uint64_t)1 << 20)
#define ROOT_FILES 1024

static bool
is_in_tmp (const char *path)
{
  return strncmp (path, "/tmp/", strlen ("/tmp/")) == 0;
}

/* What the root has of its own beside the way, all directories. The last is /proc. */
static const char *const own[] = {"tmp", "work", "proc"};
enum { OWN = sizeof own / sizeof own[0] };

/* Makes the link PATH, which is relative to TO, with all that FROM (-1: nothing) has beside it, but for the
 * first OWN_COUNT names of `own`. */
static int
make_way (int from, int to, const char *path, size_t own_count, struct fault *fault)
{
  char name[NAME_MAX + 1];
  size_t length = strcspn (path, "/");
  const char *rest = path + length + strspn (path + length, "/");
  snprintf (name, sizeof name, "%.*s", (int)length, path);
  const char *but[OWN + 2] = {name};
  for (size_t i = 0; i < own_count; i++)
    but[i + 1] = own[i];
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
  return make_way (beside, next, rest, 0, fault);
}

int
own_path_needs_root (const char *path, bool *ret_needs, struct fault *fault)
{
  autoclose int from = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (from < 0)
    return fault_set (fault, errno, "cannot open the zygote's root");
  autoclose int there = sys_openat2 (from, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
                                     RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
  *ret_needs = (there >= 0 || errno == ENOENT) && !is_in_tmp (path);
  return 0;
}

/* Fills ROOT, which is attached over the zygote's. PROC: a procfs and its context. */
static int
own_path_furnish (const char *path, int from, int root, const int proc[2], int workspace_fd,
                  struct fault *fault)
{
  size_t count = layer_is_disabled (LAYER_PROC) ? OWN - 1 : OWN;
  for (size_t i = 0; i < count; i++)
    if (mkdirat (root, own[i], 0755) < 0)
      return fault_set (fault, errno, "cannot make /%s of a root of its own", own[i]);
  int r = make_way (from, root, path + 1, count, fault);
  if (r == 0)
    r = mounts_attach (workspace_fd, root, "work", fault);
  return r < 0 || proc[0] < 0 ? r : procfs_attach (proc[0], proc[1], root, "work/" PROCFS_MEMINFO, fault);
}

int
own_path_enter (const char *path, int workspace_fd, bool *ret_fresh_proc, struct fault *fault)
{
  autoclose int root = -1, proc_fd = -1, context = -1;
  autoclose int from = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (from < 0)
    return fault_set (fault, errno, "cannot open the zygote's root");
  int r = layer_is_disabled (LAYER_PROC) ? 0 : procfs_make (&proc_fd, &context, fault);
  if (r == 0)
    r = mounts_tmpfs (ROOT_BYTES, ROOT_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, fault);
  /* It must be attached before anything can be attached to it. */
  if (r == 0)
    r = mounts_attach (root, AT_FDCWD, "/", fault);
  if (r == 0)
    r = own_path_furnish (path, from, root, (const int[]){proc_fd, context}, workspace_fd, fault);
  if (r == 0)
    r = tree_become_root (root, fault);
  *ret_fresh_proc = r == 0 && proc_fd >= 0;
  return r;
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
  if (is_in_tmp (path))
    return link_in_tmp (root, path + 1, fault);
  autoclose int there =
      sys_openat2 (root, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
  if (there < 0)
    return 0;
  autoclose int fd = sys_open_tree (AT_FDCWD, WORK, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot take " WORK " for the work directory's own path");
  return mounts_attach (fd, AT_FDCWD, path, fault);
}
