/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the host's /proc. */
#include "engine/host/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pidfd.h"
#include "base/syscalls.h"

/* Enough for any file that is read here: the longest is status. */
#define TEXT_BYTES 4096

/* A walk stops at more processes than any limit allows (limit_table, "pids"), which bounds what a fork bomb
 * costs the daemon. */
#define TREE_MAX 8192

#define KIB      ((guint64)1024)

static gboolean
process_read_text (const char *path, char *ret_text, gsize size)
{
  autoclose int file = open (path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return FALSE;
  gssize got = read (file, ret_text, size - 1);
  if (got <= 0)
    return FALSE;
  ret_text[got] = '\0';
  return TRUE;
}

/* The number after "NAME" at the beginning of a line of TEXT, or 0. */
static guint64
field (const char *text, const char *name)
{
  for (const char *line = text; line; line = strchr (line, '\n')) {
    if (*line == '\n')
      line++;
    if (g_str_has_prefix (line, name))
      return g_ascii_strtoull (line + strlen (name), NULL, 10);
  }
  return 0;
}

pid_t
process_id (int pidfd)
{
  char path[64], text[TEXT_BYTES];
  g_snprintf (path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
  if (!process_read_text (path, text, sizeof text))
    return 0;
  const char *line = strstr (text, "\nPid:");
  gint64 pid = line ? g_ascii_strtoll (line + strlen ("\nPid:"), NULL, 10) : 0;
  errno = ESRCH;
  return pid > 0 ? (pid_t)pid : 0;
}

void
process_interrupt (int pidfd, int value)
{
  siginfo_t info = {.si_signo = SIGINT, .si_code = SI_QUEUE};
  info.si_pid = getpid ();
  info.si_uid = getuid ();
  info.si_value.sival_int = value;
  (void)sys_pidfd_send_signal (pidfd, SIGINT, &info, 0);
}

gboolean
process_clock (pid_t pid, guint64 *ret_cpu_us)
{
  clockid_t clock;
  struct timespec time;
  /* 0 would be this process itself. */
  if (pid <= 0 || clock_getcpuclockid (pid, &clock) != 0 || clock_gettime (clock, &time) != 0)
    return FALSE;
  *ret_cpu_us = (guint64)time.tv_sec * G_USEC_PER_SEC + (guint64)time.tv_nsec / 1000;
  return TRUE;
}

/* ---- /proc/PID/stat ---- */

gboolean
process_parse_stat (const char *text, guint64 ret_fields[STAT_LAST + 1])
{
  /* The name, field 2, may contain anything, even parentheses; the last one ends it. */
  const char *at = strrchr (text, ')');
  if (!at || strlen (at) < strlen (") S "))
    return FALSE;
  at += strlen (") S ");
  for (int i = STAT_PPID; i <= STAT_LAST; i++) {
    char *end;
    ret_fields[i] = g_ascii_strtoull (at, &end, 10);
    /* Some fields are negative (tpgid): skipped as words. */
    at = strchr (end, ' ');
    if (!at)
      return FALSE;
    at++;
  }
  return TRUE;
}

static gboolean
read_stat (pid_t pid, guint64 ret_fields[STAT_LAST + 1])
{
  char path[64], text[TEXT_BYTES];
  g_snprintf (path, sizeof path, "/proc/%d/stat", (int)pid);
  return process_read_text (path, text, sizeof text) && process_parse_stat (text, ret_fields);
}

pid_t
process_parent (pid_t pid)
{
  guint64 fields[STAT_LAST + 1];
  return pid > 0 && read_stat (pid, fields) ? (pid_t)fields[STAT_PPID] : 0;
}

gboolean
process_exit_status (int pidfd, int *ret_status)
{
  struct syscalls_pidfd_info info = {.mask = SYSCALLS_PIDFD_INFO_EXIT};
  if (ioctl (pidfd, SYSCALLS_PIDFD_GET_INFO, &info) < 0 || !(info.mask & SYSCALLS_PIDFD_INFO_EXIT))
    return FALSE;
  *ret_status = info.exit_code;
  return TRUE;
}

static guint64
ticks_to_us (guint64 ticks)
{
  return ticks * G_USEC_PER_SEC / (guint64)sysconf (_SC_CLK_TCK);
}

gboolean
process_clock_with_children (pid_t pid, guint64 *ret_cpu_us)
{
  guint64 own, fields[STAT_LAST + 1];
  if (!process_clock (pid, &own) || !read_stat (pid, fields))
    return FALSE;
  *ret_cpu_us = own + ticks_to_us (fields[STAT_CUTIME] + fields[STAT_CSTIME]);
  return TRUE;
}

gboolean
process_memory (pid_t pid, struct process_memory *ret_memory)
{
  char path[64], text[TEXT_BYTES];
  g_snprintf (path, sizeof path, "/proc/%d/status", (int)pid);
  if (!process_read_text (path, text, sizeof text))
    return FALSE;
  ret_memory->peak_bytes = field (text, "VmHWM:") * KIB;
  ret_memory->resident_bytes = field (text, "VmRSS:") * KIB;
  ret_memory->table_bytes = field (text, "VmPTE:") * KIB;
  ret_memory->private_bytes =
      (field (text, "RssAnon:") + field (text, "RssShmem:")) * KIB + ret_memory->table_bytes;
  return TRUE;
}

guint64
process_private (pid_t pid)
{
  char path[64], text[TEXT_BYTES];
  g_snprintf (path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
  if (!process_read_text (path, text, sizeof text))
    return 0;
  return (field (text, "Private_Clean:") + field (text, "Private_Dirty:")) * KIB;
}

/* ---- the tree ---- */

static guint64
proportional_bytes (pid_t pid)
{
  char path[64], text[TEXT_BYTES];
  g_snprintf (path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
  if (!process_read_text (path, text, sizeof text))
    return 0;
  return (field (text, "Pss_Anon:") + field (text, "Pss_Shmem:")) * KIB;
}

struct member {
  pid_t pid, parent; /* parent 0: a root */
};

/* A child belongs to the thread that forked it, so each thread has a list of its own. */
static void
add_children (GArray *members, pid_t pid)
{
  char path[128];
  g_snprintf (path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir (path);
  if (!tasks)
    return;
  for (struct dirent *task; (task = readdir (tasks));) {
    if (task->d_name[0] == '.')
      continue;
    g_snprintf (path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
    /* Not g_file_get_contents, which leaks the descriptor when it cannot make a stream of it. */
    FILE *list = fopen (path, "re");
    int child;
    while (list && members->len < TREE_MAX && fscanf (list, "%d", &child) == 1) {
      struct member member = {child, pid};
      g_array_append_val (members, member);
    }
    if (list)
      fclose (list);
  }
  closedir (tasks);
}

/* Between vfork and exec a child shares its parent's memory, and the kernel reports it for both. */
static gboolean
is_in_memory_of_parent (const struct member *member)
{
  return member->parent > 0 && syscall (SYS_kcmp, member->pid, member->parent, KCMP_VM, 0, 0) == 0;
}

void
process_tree (const pid_t *roots, gsize count, gboolean proportional, struct process_tree *ret_tree)
{
  struct process_tree tree = {0};
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (struct member));
  for (gsize i = 0; i < count; i++) {
    struct member root = {.pid = roots[i]};
    g_array_append_val (members, root);
  }
  for (guint i = 0; i < members->len; i++) {
    const struct member member = g_array_index (members, struct member, i);
    struct process_memory memory;
    guint64 cpu_us;
    if (member.pid <= 0 || !process_memory (member.pid, &memory))
      continue;
    tree.count++;
    if (!is_in_memory_of_parent (&member)) {
      tree.private_bytes += memory.private_bytes;
      tree.table_bytes += memory.table_bytes;
      if (proportional)
        tree.proportional_bytes += proportional_bytes (member.pid);
    }
    if (process_clock_with_children (member.pid, &cpu_us))
      tree.cpu_us += cpu_us;
    add_children (members, member.pid);
  }
  *ret_tree = tree;
}
