/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/mirror.h"
#include "sandbox/mounts.h"
#include "sandbox/procfs.h"
#include "sandbox/terminals.h"
#include "sandbox/tree.h"

/* A root holds directories and links only. */
#define ROOT_BYTES ((uint64_t)1 << 20)
#define ROOT_FILES 1024

/* What a session has in its root instead of the zygote's. */
static const struct mount_point own[] = {
    {"proc", NULL},        {"session", NULL}, {"work", "/proc/self/fd/10"}, {"tmp", "/proc/self/fd/11"},
    {"workspace", "work"},
};
enum { OWN = sizeof own / sizeof own[0] };
_Static_assert(PLACE_WORK == 10 && PLACE_TMP == 11, "the links name the descriptors");

static int
places_make_own (int root, struct fault *fault)
{
  for (size_t i = 0; i < OWN; i++) {
    int r = own[i].link ? symlinkat (own[i].link, root, own[i].path) : mkdirat (root, own[i].path, 0755);
    if (r < 0)
      return fault_set (fault, errno, "cannot make /%s of a session", own[i].path);
  }
  return 0;
}

static int
attach_devices (const struct limits *limits, int root, struct fault *fault)
{
  autoclose int shm_fd = -1, terminals_fd = -1;
  int r = mounts_shm (limits, &shm_fd, fault);
  if (r == 0)
    r = mounts_attach (shm_fd, root, "dev/shm", fault);
  if (r == 0)
    r = terminals_make (&terminals_fd, fault);
  return r < 0 || terminals_fd < 0 ? r : mounts_attach (terminals_fd, root, "dev/pts", fault);
}

/* Fills ROOT, a detached tmpfs, and makes it the root. PROC: a procfs and its context. */
static int
places_furnish (const struct limits *limits, int from, int root, const int proc[2], int workspace_fd,
                struct fault *fault)
{
  const char *names[OWN + 1] = {NULL};
  for (size_t i = 0; i < OWN; i++)
    names[i] = own[i].path;
  /* It must be attached before anything can be attached to it. */
  int r = mounts_attach (root, AT_FDCWD, "/", fault);
  if (r == 0)
    r = places_make_own (root, fault);
  if (r == 0)
    r = mirror_all (from, root, names, fault);
  if (r == 0)
    r = attach_devices (limits, root, fault);
  if (r == 0)
    r = mounts_attach (workspace_fd, root, "session", fault);
  if (r == 0)
    r = procfs_attach (proc[0], proc[1], root, "session/" PROCFS_MEMINFO, fault);
  return r < 0 ? r : tree_become_root (root, fault);
}

int
places_enter (const struct limits *limits, int workspace_fd, bool *ret_entered, struct fault *fault)
{
  struct stat info;
  autoclose int proc_fd = -1, context = -1, root = -1;
  autoclose int from = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (from < 0)
    return fault_set (fault, errno, "cannot open the zygote's root");
  int r = procfs_make (&proc_fd, &context, fault);
  if (r < 0)
    return r;
  *ret_entered = proc_fd >= 0 && fstatat (from, "session", &info, AT_SYMLINK_NOFOLLOW) < 0;
  if (!*ret_entered)
    return 0;
  r = mounts_tmpfs (ROOT_BYTES, ROOT_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, fault);
  return r < 0 ? r
               : places_furnish (limits, from, root, (const int[]){proc_fd, context}, workspace_fd, fault);
}

int
places_open (int fds[2], struct fault *fault)
{
  static const char *const paths[] = {PLACES_WORK, PLACES_TMP};
  for (int i = 0; i < 2; i++) {
    fds[i] = open (paths[i], O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fds[i] < 0)
      return fault_set (fault, errno, "cannot open %s", paths[i]);
  }
  return 0;
}

static bool
leads_to (const char *path, int fd)
{
  struct stat there, here;
  return stat (path, &there) == 0 && fstat (fd, &here) == 0 && there.st_ino == here.st_ino &&
         there.st_dev == here.st_dev;
}

bool
places_hold (void)
{
  return leads_to ("/work", PLACE_WORK) && leads_to ("/tmp", PLACE_TMP);
}
