/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define FILE_BYTES_MAX   ((size_t)1 << 20)
#define TREE_BYTES_MAX   ((size_t)8 << 20)
#define TREE_ENTRIES_MAX 4096
#define TREE_DEPTH_MAX   16

struct copy_budget {
  size_t bytes, entries;
};

static int
copy_write_file (const void *data, size_t size, int parent, const char *name, struct fault *fault)
{
  autoclose int out = openat (parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
  if (out < 0)
    return fault_set (fault, errno, "cannot make the file %s", name);
  int r = fd_write_all (out, data, size);
  return r < 0 ? fault_set (fault, -r, "cannot write the file %s", name) : 0;
}

/* Copies at most *BUDGET bytes and takes them off it. */
static int
copy_bytes (int source, int parent, const char *name, size_t *budget, struct fault *fault)
{
  struct stat info;
  if (fstat (source, &info) < 0)
    return fault_set (fault, errno, "cannot look at the source of %s", name);
  if (!S_ISREG (info.st_mode))
    return fault_set (fault, EINVAL, "the source of %s is not a regular file", name);
  if (info.st_size < 0 || (size_t)info.st_size > *budget)
    return fault_set (fault, EFBIG, "the source of %s is too large to be copied", name);

  char *data = malloc ((size_t)info.st_size + 1);
  if (!data)
    return fault_set (fault, ENOMEM, "cannot copy %s", name);
  size_t have = 0;
  int r = 0;
  while (have < (size_t)info.st_size) {
    ssize_t got = pread (source, data + have, (size_t)info.st_size - have, (off_t)have);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      r = fault_set (fault, errno, "cannot read the source of %s", name);
    if (got <= 0)
      break;
    have += (size_t)got;
  }
  if (r == 0)
    r = copy_write_file (data, have, parent, name, fault);
  *budget -= have;
  free (data);
  return r;
}

int
copy_file (int source, int parent, const char *name, struct fault *fault)
{
  size_t budget = FILE_BYTES_MAX;
  return copy_bytes (source, parent, name, &budget, fault);
}

int
copy_text (const char *text, int parent, const char *name, struct fault *fault)
{
  return copy_write_file (text, strlen (text), parent, name, fault);
}

static int copy_directory (int source, int parent, const char *name, struct copy_budget *budget, int depth,
                           struct fault *fault);

static int
copy_entry (int source, const char *entry, int target, struct copy_budget *budget, int depth,
            struct fault *fault)
{
  struct stat info;
  if (budget->entries-- == 0)
    return fault_set (fault, E2BIG, "a directory to be copied has too many files");
  if (fstatat (source, entry, &info, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? 0 : fault_set (fault, errno, "cannot look at %s", entry);

  if (S_ISLNK (info.st_mode)) {
    char text[PATH_MAX];
    ssize_t length = readlinkat (source, entry, text, sizeof text - 1);
    if (length < 0)
      return fault_set (fault, errno, "cannot read the link %s", entry);
    text[length] = '\0';
    if (symlinkat (text, target, entry) < 0)
      return fault_set (fault, errno, "cannot make the link %s", entry);
    return 0;
  }
  if (!S_ISDIR (info.st_mode) && !S_ISREG (info.st_mode))
    return 0;
  autoclose int fd = openat (source, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return errno == EACCES || errno == ENOENT ? 0 : fault_set (fault, errno, "cannot open %s", entry);
  return S_ISDIR (info.st_mode) ? copy_directory (fd, target, entry, budget, depth + 1, fault)
                                : copy_bytes (fd, target, entry, &budget->bytes, fault);
}

static int
copy_directory (int source, int parent, const char *name, struct copy_budget *budget, int depth,
                struct fault *fault)
{
  if (depth > TREE_DEPTH_MAX)
    return fault_set (fault, E2BIG, "a directory to be copied is too deep at %s", name);
  if (mkdirat (parent, name, 0755) < 0 && errno != EEXIST)
    return fault_set (fault, errno, "cannot make the directory %s", name);
  autoclose int target = openat (parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (target < 0)
    return fault_set (fault, errno, "cannot open the directory %s", name);

  DIR *list = fd_list (source);
  if (!list)
    return fault_set (fault, errno, "cannot list %s", name);
  int r = 0;
  for (const char *entry = ""; r == 0 && entry;) {
    entry = fd_next_name (list);
    if (entry)
      r = copy_entry (source, entry, target, budget, depth, fault);
    else if (errno)
      r = fault_set (fault, errno, "cannot list %s", name);
  }
  closedir (list);
  return r;
}

int
copy_tree (int source, int parent, const char *name, struct fault *fault)
{
  struct copy_budget budget = {.bytes = TREE_BYTES_MAX, .entries = TREE_ENTRIES_MAX};
  return copy_directory (source, parent, name, &budget, 0, fault);
}
