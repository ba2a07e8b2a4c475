/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"
#include "sandbox/mounts.h"
#include "sandbox/tree.h"

/* A root holds directories and links only. */
#define ROOT_BYTES ((uint64_t)1 << 20)
#define ROOT_FILES 1024

/* What a session has in its root instead of the zygote's. */
static const struct mount_point own[] = {
    {"proc", NULL},        {"session", NULL}, {"work", "/proc/self/fd/10"}, {"tmp", "/proc/self/fd/11"},
    {"workspace", "work"},
};
_Static_assert(PLACE_WORK == 10 && PLACE_TMP == 11, "the links name the descriptors");

static bool
is_own (const char *name)
{
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (strcmp (own[i].path, name) == 0)
      return true;
  return false;
}

static int
make_own (int root, struct fault *fault)
{
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
    int r = own[i].link ? symlinkat (own[i].link, root, own[i].path) : mkdirat (root, own[i].path, 0755);
    if (r < 0)
      return fault_set (fault, errno, "cannot make /%s of a session", own[i].path);
  }
  return 0;
}

static int
take_link (int from, int root, const char *name, struct fault *fault)
{
  char text[PATH_MAX];
  ssize_t length = readlinkat (from, name, text, sizeof text - 1);
  if (length < 0)
    return fault_set (fault, errno, "cannot read the link /%s", name);
  text[length] = '\0';
  if (symlinkat (text, root, name) < 0)
    return fault_set (fault, errno, "cannot make the link /%s", name);
  return 0;
}

/* Clones NAME with all that is mounted below it; what it may not be used for, it may not here. */
static int
take_tree (int from, int root, const char *name, bool directory, struct fault *fault)
{
  autoclose int place = -1;
  if (!directory)
    place = openat (root, name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (directory ? mkdirat (root, name, 0755) < 0 : place < 0)
    return fault_set (fault, errno, "cannot make a place for /%s", name);
  autoclose int fd = open_tree (
      from, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | (unsigned int)AT_RECURSIVE);
  if (fd < 0)
    return fault_set (fault, errno, "cannot take over /%s", name);
  return mounts_attach (fd, root, name, fault);
}

static int
take (int from, int root, const char *name, struct fault *fault)
{
  struct stat info;
  if (fstatat (from, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
    return fault_set (fault, errno, "cannot look at /%s", name);
  if (S_ISLNK (info.st_mode))
    return take_link (from, root, name, fault);
  return take_tree (from, root, name, S_ISDIR (info.st_mode), fault);
}

/* All that is in FROM, the zygote's root, but for what is a session's own. */
static int
take_all (int from, int root, struct fault *fault)
{
  DIR *list = fd_list (from);
  if (!list)
    return fault_set (fault, errno, "cannot list the zygote's root");
  int r = 0;
  for (const char *name = ""; r == 0 && name;) {
    name = fd_next_name (list);
    if (name)
      r = is_own (name) ? 0 : take (from, root, name, fault);
    else if (errno)
      r = fault_set (fault, errno, "cannot list the zygote's root");
  }
  closedir (list);
  return r;
}

static int
attach_shm (const struct limits *limits, int root, struct fault *fault)
{
  autoclose int fd = -1;
  int r = mounts_shm (limits, &fd, fault);
  return r < 0 ? r : mounts_attach (fd, root, "dev/shm", fault);
}

/* Fills ROOT, a detached tmpfs, and makes it the root. */
static int
furnish (const struct limits *limits, int from, int root, int proc_fd, int workspace_fd, struct fault *fault)
{
  /* It must be attached before anything can be attached to it. */
  int r = mounts_attach (root, AT_FDCWD, "/", fault);
  if (r == 0)
    r = make_own (root, fault);
  if (r == 0)
    r = take_all (from, root, fault);
  if (r == 0)
    r = mounts_attach (proc_fd, root, "proc", fault);
  if (r == 0)
    r = attach_shm (limits, root, fault);
  if (r == 0)
    r = mounts_attach (workspace_fd, root, "session", fault);
  return r < 0 ? r : tree_become_root (root, fault);
}

int
places_enter (const struct limits *limits, int workspace_fd, bool *ret_entered, struct fault *fault)
{
  struct stat info;
  autoclose int proc_fd = -1, root = -1;
  autoclose int from = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (from < 0)
    return fault_set (fault, errno, "cannot open the zygote's root");
  int r = mounts_make_proc (&proc_fd, fault);
  if (r < 0)
    return r;
  *ret_entered = proc_fd >= 0 && fstatat (from, "session", &info, AT_SYMLINK_NOFOLLOW) < 0;
  if (!*ret_entered)
    return 0;
  r = mounts_tmpfs (ROOT_BYTES, ROOT_FILES, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &root, fault);
  return r < 0 ? r : furnish (limits, from, root, proc_fd, workspace_fd, fault);
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
