/* SPDX-License-Identifier: Apache-2.0 */
/* Zygotes and sandboxes, seen from outside: what /proc tells of the processes that an engine holds. */
#pragma once

#include <glib.h>
#include <sys/types.h>

struct bench_process {
  pid_t pid, parent;
  guint64 faults;       /* minor page faults, without those of its children */
  guint64 child_faults; /* of children that it waited for */
  gboolean zygote;      /* parent of another one of these */
};

/* The zygotes, workers and inits of the engine in process HOLDER (0: this one): those that it holds a pidfd
 * of. GArray of struct bench_process, the caller's. */
GArray *bench_processes (pid_t holder);

/* The one of PID, or NULL. */
const struct bench_process *bench_process_find (GArray *processes, pid_t pid);

/* What those of PROCESSES that are no zygotes hold that nobody shares. */
guint64 bench_sandbox_bytes (GArray *processes);

/* Control groups that the engine in process HOLDER made for sandboxes. */
guint bench_groups (pid_t holder);
