/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mirror.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mount.h"
#include "base/syscalls.h"
#include "sandbox/mounts.h"

static int
take_link (int from, int to, const char *name, struct fault *fault)
{
  char text[PATH_MAX];
  ssize_t length = readlinkat (from, name, text, sizeof text - 1);
  if (length < 0)
    return fault_set (fault, errno, "cannot read the link %s", name);
  text[length] = '\0';
  if (symlinkat (text, to, name) < 0)
    return fault_set (fault, errno, "cannot make the link %s", name);
  return 0;
}

static int
mirror_take_tree (int from, int to, const char *name, bool directory, struct fault *fault)
{
  autoclose int place = -1;
  if (!directory)
    place = openat (to, name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (directory ? mkdirat (to, name, 0755) < 0 : place < 0)
    return fault_set (fault, errno, "cannot make a place for %s", name);
  autoclose int fd = sys_open_tree (
      from, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | (unsigned int)AT_RECURSIVE);
  if (fd < 0)
    return fault_set (fault, errno, "cannot take over %s", name);
  return mounts_attach (fd, to, name, fault);
}

static int
mirror_take (int from, int to, const char *name, struct fault *fault)
{
  struct stat info;
  if (fstatat (from, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
    return fault_set (fault, errno, "cannot look at %s", name);
  if (S_ISLNK (info.st_mode))
    return take_link (from, to, name, fault);
  return mirror_take_tree (from, to, name, S_ISDIR (info.st_mode), fault);
}

static bool
mirror_is_listed (const char *name, const char *const *list)
{
  while (*list && strcmp (*list, name) != 0)
    list++;
  return *list != NULL;
}

int
mirror_all (int from, int to, const char *const *but, struct fault *fault)
{
  DIR *list = fd_list (from);
  if (!list)
    return fault_set (fault, errno, "cannot list a directory of the zygote's tree");
  int r = 0;
  for (const char *name = ""; r == 0 && name;) {
    name = fd_next_name (list);
    if (name)
      r = mirror_is_listed (name, but) ? 0 : mirror_take (from, to, name, fault);
    else if (errno)
      r = fault_set (fault, errno, "cannot list a directory of the zygote's tree");
  }
  closedir (list);
  return r;
}
