/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/rlimits.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum rlimit_source { FIXED, FROM_LIMIT, FROM_MS };

static const struct rlimit_row {
  __rlimit_resource_t resource;
  const char *name;
  enum rlimit_source source;
  enum limit limit;
  rlim_t value;
} rlimit_table[] = {
    /* CPU is a back-stop in whole seconds: the daemon counts the sandbox's time in ms itself. */
    {RLIMIT_CPU, "RLIMIT_CPU", FROM_MS, LIMIT_CPU, 0},
    {RLIMIT_FSIZE, "RLIMIT_FSIZE", FROM_LIMIT, LIMIT_FILE_SIZE, 0},
    {RLIMIT_NOFILE, "RLIMIT_NOFILE", FROM_LIMIT, LIMIT_OPEN_FILES, 0},
    /* Not 0, which a core_pattern that is a pipe does not mind; 1 is "none" to a pipe, and too little for a
       file (fs/coredump.c). */
    {RLIMIT_CORE, "RLIMIT_CORE", FIXED, 0, 1},
    {RLIMIT_STACK, "RLIMIT_STACK", FIXED, 0, 8 << 20},
    /* What counts against the host's user outside every namespace, or lets a process push others aside, is
       not given. */
    {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", FIXED, 0, 0},
    {RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", FIXED, 0, 0},
    {RLIMIT_NICE, "RLIMIT_NICE", FIXED, 0, 0},
    {RLIMIT_RTPRIO, "RLIMIT_RTPRIO", FIXED, 0, 0},
    {RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING", FIXED, 0, 256},
};

static int
rlimits_set (__rlimit_resource_t resource, const char *name, rlim_t value, struct fault *fault)
{
  struct rlimit now;
  if (getrlimit (resource, &now) < 0)
    return fault_set (fault, errno, "cannot read %s", name);
  if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
    value = now.rlim_max;
  /* gVisor lets some not be set at all, not even to what they are. */
  if (now.rlim_cur == value && now.rlim_max == value)
    return 0;
  struct rlimit wanted = {.rlim_cur = value, .rlim_max = value};
  if (setrlimit (resource, &wanted) < 0)
    return fault_set (fault, errno, "cannot set %s to %llu", name, (unsigned long long)value);
  return 0;
}

int
rlimits_apply (const struct limits *limits, struct fault *fault)
{
  for (size_t i = 0; i < sizeof rlimit_table / sizeof rlimit_table[0]; i++) {
    const struct rlimit_row *row = &rlimit_table[i];
    rlim_t value = row->value;
    if (row->source == FROM_LIMIT)
      value = limits->value[row->limit];
    else if (row->source == FROM_MS)
      /* Rounded up and one more: the daemon counts in ms, and its count shall be the first to end a run. The
       * most that may be asked for is no back-stop: a session may use that in each of its cells. */
      value = limits->value[row->limit] < limit_table[row->limit].maximum
                  ? limits->value[row->limit] / 1000 + 2
                  : RLIM_INFINITY;
    int r = rlimits_set (row->resource, row->name, value, fault);
    if (r < 0)
      return r;
  }
  return 0;
}

int
rlimits_apply_processes (const struct limits *limits, uint64_t others, struct fault *fault)
{
  return rlimits_set (RLIMIT_NPROC, "RLIMIT_NPROC", limits->value[LIMIT_PIDS] + others, fault);
}

uint64_t
rlimits_count_tasks (void)
{
  uint64_t count = 0;
  DIR *proc = opendir ("/proc");
  for (struct dirent *at; proc && (at = readdir (proc));) {
    char path[sizeof at->d_name + sizeof "/task"];
    struct stat process, tasks;
    if (at->d_name[0] < '0' || at->d_name[0] > '9' || fstatat (dirfd (proc), at->d_name, &process, 0) < 0)
      continue;
    snprintf (path, sizeof path, "%s/task", at->d_name);
    /* A directory has a link for each of its own and two more. */
    if (process.st_uid == geteuid () && fstatat (dirfd (proc), path, &tasks, 0) == 0 && tasks.st_nlink > 2)
      count += tasks.st_nlink - 2;
  }
  if (proc)
    closedir (proc);
  return count;
}

int
rlimits_apply_memory (const struct limits *limits, uint64_t have_bytes, struct fault *fault)
{
  return rlimits_set (RLIMIT_DATA, "RLIMIT_DATA", limits->value[LIMIT_MEMORY] + have_bytes, fault);
}
