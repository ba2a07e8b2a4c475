/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's /proc and clocks say of a sandbox's processes. The sandbox cannot hide or fake it, since it
 * sees another /proc. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* The process id, on the host, of the process behind PIDFD; 0 with errno: ESRCH when it is gone. */
pid_t process_id (int pidfd);

/* Sends SIGINT with the number VALUE to the process behind PIDFD. */
void process_interrupt (int pidfd, int value);

/* The parent of PID, on the host; 0 when PID is gone. */
pid_t process_parent (pid_t pid);

/* How a dead and reaped process ended, as waitpid reports it. FALSE if the kernel does not say (before Linux
 * 6.15), or it is not reaped. */
gboolean process_exit_status (int pidfd, int *ret_status);

/* Processor time of PID itself, all its threads, in microseconds: a system call, no file. FALSE when it is
 * gone. */
gboolean process_clock (pid_t pid, guint64 *ret_cpu_us);

/* The same, including the children that it waited for. Without a clock, from a file. */
gboolean process_clock_with_children (pid_t pid, guint64 *ret_cpu_us);

/* Fields of /proc/PID/stat, numbered as in proc(5); those below STAT_PPID are not set. FALSE: the text is
 * malformed. */
enum stat_field {
  STAT_PPID = 4,
  STAT_MINFLT = 10,
  STAT_CMINFLT = 11,
  STAT_UTIME = 14,
  STAT_STIME = 15,
  STAT_CUTIME = 16,
  STAT_CSTIME = 17,
  STAT_LAST = STAT_CSTIME,
};
gboolean process_parse_stat (const char *text, guint64 ret_fields[STAT_LAST + 1]);

struct process_memory {
  guint64 peak_bytes; /* the peak resident size (VmHWM) */
  guint64 resident_bytes;
  guint64 table_bytes;   /* page tables: a read-only mapping may need nothing else (VmPTE) */
  guint64 private_bytes; /* these and resident pages that are not a file's: RssAnon and RssShmem */
};
gboolean process_memory (pid_t pid, struct process_memory *ret_memory);

/* Memory that only PID holds, in bytes; 0 when unreadable. Walks its page tables: a millisecond for a large
 * process. */
guint64 process_private (pid_t pid);

/* All living processes of one sandbox: ROOTS and their descendants. */
struct process_tree {
  gsize count;
  guint64 cpu_us;
  guint64 private_bytes;      /* added up: pages shared by a fork count twice */
  guint64 table_bytes;        /* the part of it that no fork shares */
  guint64 proportional_bytes; /* with shares divided (Pss of the same pages); only on request */
};
void process_tree (const pid_t *roots, gsize count, gboolean proportional, struct process_tree *ret_tree);
