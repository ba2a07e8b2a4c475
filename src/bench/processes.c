/* SPDX-License-Identifier: Apache-2.0 */
/* Zygotes and sandboxes, seen from outside. A launcher leaves, so they are no descendants of the engine's
 * process; but that holds a pidfd of each, and /proc/PID/fdinfo names the process behind it. */
#include "bench/processes.h"

#include <string.h>

#include "engine/host/process.h"

static pid_t
pid_behind (const char *file)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents (file, &text, NULL, NULL))
    return 0;
  const char *line = strstr (text, "\nPid:");
  gint64 pid = line ? g_ascii_strtoll (line + strlen ("\nPid:"), NULL, 10) : 0;
  return pid > 0 ? (pid_t)pid : 0;
}

static gboolean
read_process (pid_t pid, struct bench_process *ret_process)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", (int)pid);
  g_autofree char *text = NULL;
  guint64 fields[STAT_LAST + 1];
  if (!g_file_get_contents (path, &text, NULL, NULL) || !process_parse_stat (text, fields))
    return FALSE;
  *ret_process = (struct bench_process){.pid = pid,
                                        .parent = (pid_t)fields[STAT_PPID],
                                        .faults = fields[STAT_MINFLT],
                                        .child_faults = fields[STAT_CMINFLT]};
  return TRUE;
}

const struct bench_process *
bench_process_find (GArray *processes, pid_t pid)
{
  for (guint i = 0; i < processes->len; i++)
    if (g_array_index (processes, struct bench_process, i).pid == pid)
      return &g_array_index (processes, struct bench_process, i);
  return NULL;
}

GArray *
bench_processes (pid_t holder)
{
  GArray *processes = g_array_new (FALSE, TRUE, sizeof (struct bench_process));
  g_autofree char *folder =
      holder > 0 ? g_strdup_printf ("/proc/%d/fdinfo", (int)holder) : g_strdup ("/proc/self/fdinfo");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *file = g_build_filename (folder, name, NULL);
    struct bench_process process;
    pid_t pid = pid_behind (file);
    if (pid > 0 && !bench_process_find (processes, pid) && read_process (pid, &process))
      g_array_append_val (processes, process);
  }
  for (guint i = 0; i < processes->len; i++) {
    pid_t parent = g_array_index (processes, struct bench_process, i).parent;
    struct bench_process *found = (struct bench_process *)bench_process_find (processes, parent);
    if (found)
      found->zygote = TRUE;
  }
  return processes;
}

guint64
bench_sandbox_bytes (GArray *processes)
{
  guint64 bytes = 0;
  for (guint i = 0; i < processes->len; i++) {
    const struct bench_process *process = &g_array_index (processes, struct bench_process, i);
    if (!process->zygote)
      bytes += process_private (process->pid);
  }
  return bytes;
}

/* ---- control groups ---- */

#define GROUP_ROOT  "/sys/fs/cgroup"
#define GROUP_DEPTH 16

/* Those below FOLDER; PREFIX begins the name of the engine's own group, under which those of sandboxes are.
 * Version 1 has one for each controller: the most that any of them has is what is counted. */
static guint
processes_count_groups (const char *folder, const char *prefix, guint depth)
{
  g_autoptr (GDir) dir = depth > 0 ? g_dir_open (folder, 0, NULL) : NULL;
  guint most = 0;
  for (const char *name; dir && (name = g_dir_read_name (dir));) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (!g_file_test (path, G_FILE_TEST_IS_DIR) || g_file_test (path, G_FILE_TEST_IS_SYMLINK))
      continue;
    guint count = 0;
    if (g_str_has_prefix (name, prefix)) {
      g_autoptr (GDir) own = g_dir_open (path, 0, NULL);
      for (const char *entry; own && (entry = g_dir_read_name (own));)
        count += g_str_has_prefix (entry, "run-");
    } else
      count = processes_count_groups (path, prefix, depth - 1);
    most = MAX (most, count);
  }
  return most;
}

guint
bench_groups (pid_t holder)
{
  g_autofree char *prefix = g_strdup_printf ("adder-%d-", (int)holder);
  return processes_count_groups (GROUP_ROOT, prefix, GROUP_DEPTH);
}
