/* SPDX-License-Identifier: Apache-2.0 */
/* What a run used, beyond the usage at parking. The control group counts everything if there is one; else the
 * kernel's accounts of the worker, of the children that it waited for and, for checks against limits, of all
 * living processes. */
#pragma once

#include <glib.h>

#include "engine/host/process.h"
#include "runner/wire.h"
#include "sandbox/cgroup.h"

/* The state of a parked sandbox. */
struct usage_mark {
  guint64 clock_us; /* the worker and its init */
  struct cgroup_usage cgroup;
  struct process_memory memory;
  guint64 own_bytes; /* its private memory; only without a control group, which counts just that */
};

struct usage {
  guint64 cpu_us;
  guint64 peak_bytes; /* beyond what is shared with the zygote */
  guint64 oom_kills;
  guint64 pids_refused; /* 0 without a control group */
};

struct sandbox;

/* Notes the usage of SANDBOX, which is parked. */
void usage_mark (struct sandbox *sandbox);

/* The same before a cell of a session: from here on processor time and the kernel's refusals are the cell's.
 * Memory is the session's as a whole and counts from parking on. */
void usage_mark_again (struct sandbox *sandbox);

/* For a sandbox in a container, before it is killed: notes what usage_read returns from then on. Its control
 * group disappears with the container. */
void usage_settle (struct sandbox *sandbox);

/* The usage since then. With the exit report, if available, which counts all processes. Cheap: every result
 * needs it. */
void usage_read (struct sandbox *sandbox, struct usage *ret_usage);

/* Processor time so far, including living processes: for checking a limit. */
guint64 usage_cpu_now (struct sandbox *sandbox);

/* The present memory of all living processes, beyond what a parked sandbox shares. */
guint64 usage_memory_now (struct sandbox *sandbox);

/* Whether all living processes together hold more than LIMIT bytes beyond what a parked sandbox shares.
 * *RET_PRIVATE is an upper bound of that. With a control group the kernel enforces the limit, and this is not
 * called. */
gboolean usage_is_over_memory (struct sandbox *sandbox, guint64 limit, guint64 *ret_private);
