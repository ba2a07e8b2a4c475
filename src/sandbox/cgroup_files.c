/* SPDX-License-Identifier: Apache-2.0 */
/* The files of groups, and where our own group is. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/cgroup_backend.h"

int
cgroup_write (int directory, const char *file, const char *text)
{
  /* O_CREAT does nothing on a group's files. It lets a directory of plain files stand in for a group in
   * tests. */
  autoclose int fd = openat (directory, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    /* The kernel's answer to O_CREAT where there is no such file. */
    return errno == EACCES && faccessat (directory, file, F_OK, 0) < 0 ? -ENOENT : -errno;
  size_t length = strlen (text);
  return write (fd, text, length) == (ssize_t)length ? 0 : -errno;
}

int
cgroup_write_number (int directory, const char *file, uint64_t number)
{
  char text[32];
  snprintf (text, sizeof text, "%llu", (unsigned long long)number);
  return cgroup_write (directory, file, text);
}

int
cgroup_read (int directory, const char *file, char *text, size_t size)
{
  autoclose int fd = openat (directory, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return -errno;
  size_t have = 0;
  while (have < size - 1) {
    ssize_t got = read (fd, text + have, size - 1 - have);
    if (got < 0 && errno != EINTR)
      return -errno;
    if (got == 0)
      break;
    if (got > 0)
      have += (size_t)got;
  }
  text[have] = '\0';
  return 0;
}

int
cgroup_read_number (int directory, const char *file, const char *key, uint64_t *ret_number)
{
  char text[4096];
  int r = cgroup_read (directory, file, text, sizeof text);
  if (r < 0)
    return r;
  size_t length = key ? strlen (key) : 0;
  for (const char *line = text; line; line = strchr (line, '\n')) {
    line += *line == '\n';
    unsigned long long number;
    if ((!key || (strncmp (line, key, length) == 0 && line[length] == ' ')) &&
        sscanf (line + length, "%llu", &number) == 1) {
      *ret_number = number;
      return 0;
    }
    if (!*line)
      break;
  }
  return -ENODATA;
}

/* Whether WORD is in LIST, whose words have any of SEPARATORS between them. */
static bool
has_word (const char *list, const char *separators, const char *word)
{
  size_t length = strlen (word);
  for (const char *at = list + strspn (list, separators); *at; at += strspn (at, separators)) {
    size_t here = strcspn (at, separators);
    if (here == length && memcmp (at, word, length) == 0)
      return true;
    at += here;
  }
  return false;
}

bool
cgroup_has_word (int directory, const char *file, const char *word)
{
  char text[4096];
  return cgroup_read (directory, file, text, sizeof text) == 0 && has_word (text, " \n", word);
}

int
cgroup_kill_each (int directory)
{
  /* One that forks meanwhile is found in the next round; one that forks faster than we read is held by
   * pids.max. */
  for (int round = 0; round < 100; round++) {
    autoclose int fd = openat (directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return -errno;
    FILE *file = fdopen (fd, "r");
    if (!file)
      return -errno;
    fd_steal (&fd);
    int pid, alive = 0;
    while (fscanf (file, "%d", &pid) == 1)
      /* 0 stands for a process of another pid namespace, which is not ours to name. */
      if (pid > 0 && kill (pid, SIGKILL) == 0)
        alive++;
    fclose (file);
    if (!alive)
      break;
  }
  return 0;
}

/* Finds the group of this process: the path behind "N:CONTROLLERS:" in /proc/self/cgroup. */
static int
own_path (const char *controller, char *path, size_t size)
{
  FILE *file = fopen ("/proc/self/cgroup", "re");
  char line[PATH_MAX + 256];
  int r = -ENOENT;
  while (file && r < 0 && fgets (line, sizeof line, file)) {
    line[strcspn (line, "\n")] = '\0';
    char *list = strchr (line, ':');
    char *at = list ? strchr (list + 1, ':') : NULL;
    if (!at)
      continue;
    *at = '\0';
    bool found = controller ? has_word (list + 1, ",", controller) : list[1] == '\0';
    if (found && (size_t)snprintf (path, size, "%s", at + 1) < size)
      r = 0;
  }
  if (file)
    fclose (file);
  return r;
}

/* Finds where a hierarchy is mounted, and which of its groups is there. Mount points with spaces are not
 * looked for. */
static int
find_mount (const char *controller, char *ret_point, char *ret_root, size_t size)
{
  FILE *file = fopen ("/proc/self/mountinfo", "re");
  char line[3 * PATH_MAX];
  int r = -ENOENT;
  while (file && r < 0 && fgets (line, sizeof line, file)) {
    char root[PATH_MAX], point[PATH_MAX], type[32], options[512];
    const char *dash = strstr (line, " - ");
    if (!dash || sscanf (line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
        sscanf (dash, " - %31s %*s %511s", type, options) != 2)
      continue;
    bool found = controller ? strcmp (type, "cgroup") == 0 && has_word (options, ",", controller)
                            : strcmp (type, "cgroup2") == 0;
    if (!found)
      continue;
    snprintf (ret_point, size, "%s", point);
    snprintf (ret_root, size, "%s", root);
    r = 0;
  }
  if (file)
    fclose (file);
  return r;
}

int
cgroup_open_own (const char *controller, struct fault *fault)
{
  char path[PATH_MAX], point[PATH_MAX], root[PATH_MAX];
  int r = own_path (controller, path, sizeof path);
  if (r == 0)
    r = find_mount (controller, point, root, sizeof point);
  if (r < 0)
    return fault_set (fault, ENOENT, "no control groups %s are mounted", controller ? controller : "v2");

  /* In a container the hierarchy may be mounted from our own group on. */
  size_t skip = strlen (root);
  const char *below = path;
  if (strcmp (root, "/") != 0)
    below = strncmp (path, root, skip) == 0 && (path[skip] == '/' || !path[skip]) ? path + skip : "";
  autoclose int top = open (point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (top < 0)
    return fault_set (fault, errno, "cannot open %s", point);
  below += strspn (below, "/");
  if (!*below)
    return fd_steal (&top);
  int fd = openat (top, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot open the own group %s/%s", point, below);
  return fd;
}
