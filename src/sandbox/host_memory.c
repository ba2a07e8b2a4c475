/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/host_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/cgroup_backend.h"

/* Deeper than any tree of groups. */
#define LEVELS_MAX 64

uint64_t
host_memory_limit (int directory, const char *file)
{
  uint64_t least = UINT64_MAX, limit;
  struct stat at, above;
  autoclose int fd = openat (directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int level = 0; fd >= 0 && level < LEVELS_MAX; level++) {
    /* "max" is no number. */
    if (cgroup_read_number (fd, file, NULL, &limit) == 0 && limit < least)
      least = limit;
    int parent = openat (fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Above the first group lies another file system. */
    bool top = parent < 0 || fstat (fd, &at) < 0 || fstat (parent, &above) < 0 || at.st_dev != above.st_dev ||
               at.st_ino == above.st_ino;
    fd_close (&fd);
    fd = parent;
    if (top)
      break;
  }
  return least;
}

static uint64_t
host_memory_ask (void)
{
  static const struct {
    const char *controller; /* NULL: v2 */
    const char *file;
  } trees[] = {{NULL, "memory.max"}, {"memory", "memory.limit_in_bytes"}};
  uint64_t least = (uint64_t)sysconf (_SC_PHYS_PAGES) * (uint64_t)sysconf (_SC_PAGESIZE);
  for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
    struct fault fault;
    autoclose int own = cgroup_open_own (trees[i].controller, &fault);
    uint64_t limit = own < 0 ? UINT64_MAX : host_memory_limit (own, trees[i].file);
    if (limit < least)
      least = limit;
  }
  return least;
}

uint64_t
host_memory_bytes (void)
{
  static _Atomic uint64_t known;
  if (known == 0)
    known = host_memory_ask ();
  return known;
}
