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
#include "sandbox/mountinfo.h"

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

static int
cgroup_files_open_file (int directory, const char *file)
{
  int fd = openat (directory, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  return fd < 0 ? -errno : fd;
}

/* The kernel gives as much of such a file as there is room for. */
static int
cgroup_files_read_text (int fd, char *text, size_t size)
{
  ssize_t got;
  do
    got = pread (fd, text, size - 1, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return -errno;
  text[got] = '\0';
  return 0;
}

int
cgroup_read (int directory, const char *file, char *text, size_t size)
{
  autoclose int fd = cgroup_files_open_file (directory, file);
  return fd < 0 ? fd : cgroup_files_read_text (fd, text, size);
}

int
cgroup_parse_number (const char *text, const char *key, uint64_t *ret_number)
{
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

int
cgroup_read_number (int directory, const char *file, const char *key, uint64_t *ret_number)
{
  char text[4096];
  int r = cgroup_read (directory, file, text, sizeof text);
  return r < 0 ? r : cgroup_parse_number (text, key, ret_number);
}

int
cgroup_reread_number (int directory, int *fd, const char *file, const char *key, uint64_t *ret_number)
{
  char text[4096];
  int opened = *fd < 0 ? cgroup_files_open_file (directory, file) : *fd;
  if (opened < 0)
    return opened;
  *fd = opened;
  int r = cgroup_files_read_text (opened, text, sizeof text);
  return r < 0 ? r : cgroup_parse_number (text, key, ret_number);
}

bool
cgroup_has_word (int directory, const char *file, const char *word)
{
  char text[4096];
  return cgroup_read (directory, file, text, sizeof text) == 0 && mountinfo_has_word (text, " \n", word);
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

int
cgroup_read_limit (int directory, const char *file, uint64_t most, uint64_t *ret_number)
{
  uint64_t number = 0;
  int r = cgroup_read_number (directory, file, NULL, &number);
  if (r < 0 && r != -ENODATA)
    return r;
  *ret_number = r == -ENODATA || number >= most ? 0 : number;
  return 0;
}

/* ---- where groups are ---- */

static FILE *
open_proc (const char *proc, const char *process, const char *file)
{
  char path[PATH_MAX];
  snprintf (path, sizeof path, "%s/%s/%s", proc, process, file);
  return fopen (path, "re");
}

/* Mount points with spaces are not looked for. */
static bool
find_mounted (const char *proc, const char *process, const char *controller, char *path, size_t size,
              struct mountinfo *ret_mount)
{
  FILE *groups = open_proc (proc, process, "cgroup");
  FILE *mounts = open_proc (proc, "self", "mountinfo");
  bool found = groups && mounts && mountinfo_own_group (groups, controller, path, size) &&
               mountinfo_find_cgroup (mounts, controller, ret_mount);
  if (groups)
    fclose (groups);
  if (mounts)
    fclose (mounts);
  return found;
}

int
cgroup_find (const char *proc, const char *process, const char *controller, struct cgroup_place *ret_place,
             struct fault *fault)
{
  char path[PATH_MAX];
  struct mountinfo mount;
  if (!find_mounted (proc, process, controller, path, sizeof path, &mount))
    return fault_set (fault, ENOENT, "no control groups %s are mounted", controller ? controller : "v2");
  /* It is told as seen from our cgroup namespace, and lies beside that. */
  if (mountinfo_has_word (path, "/", ".."))
    return fault_set (fault, ENOENT, "the control group of process %s is out of sight", process);

  /* In a container the hierarchy may be mounted from our own group on. */
  size_t skip = strlen (mount.root);
  const char *below = path;
  bool own = strcmp (process, "self") == 0;
  if (strcmp (mount.root, "/") != 0) {
    bool inside = strncmp (path, mount.root, skip) == 0 && (path[skip] == '/' || !path[skip]);
    if (!inside && !own)
      return fault_set (fault, ENOENT, "the control group of process %s is not mounted", process);
    below = inside ? path + skip : "";
  }
  snprintf (ret_place->point, sizeof ret_place->point, "%s", mount.point);
  snprintf (ret_place->path, sizeof ret_place->path, "%s", below + strspn (below, "/"));
  return 0;
}

int
cgroup_open (const struct cgroup_place *place, struct fault *fault)
{
  autoclose int top = open (place->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (top < 0)
    return fault_set (fault, errno, "cannot open %s", place->point);
  if (!*place->path)
    return fd_steal (&top);
  int fd = openat (top, place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot open the group %s/%s", place->point, place->path);
  return fd;
}

int
cgroup_open_own (const char *controller, struct fault *fault)
{
  struct cgroup_place place = {.path = ""};
  int r = cgroup_find ("/proc", "self", controller, &place, fault);
  return r < 0 ? r : cgroup_open (&place, fault);
}
