/* SPDX-License-Identifier: Apache-2.0 */
/* What a run used, beyond what its sandbox had used when it was parked. The control group counts everything
 * where there is one; else the kernel's accounts of the worker, of the children that it waited for and, for
 * checks against limits, of all that live. */
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
  guint64 own_bytes; /* what it alone holds; only without a control group, which counts just that */
};

struct usage {
  guint64 cpu_us;
  guint64 peak_bytes; /* beyond what is shared with the zygote */
  guint64 oom_kills;
  guint64 pids_refused; /* 0 without a control group */
};

struct sandbox;

/* Notes what SANDBOX, parked, has used. */
void usage_mark (struct sandbox *sandbox);

/* The same before a cell of a session: from here on processor time and the kernel's refusals are the cell's.
 * Memory is the session's as a whole and counts from the parking on. */
void usage_mark_again (struct sandbox *sandbox);

/* Of a sandbox in a container, before it is killed: notes what usage_read tells from then on. Its control
 * group goes with the container. */
void usage_settle (struct sandbox *sandbox);

/* What was used since. With the exit report when it is there, which counts all processes. Cheap: this is on
 * the way of every result. */
void usage_read (struct sandbox *sandbox, struct usage *ret_usage);

/* Processor time up to now, living processes included: for the check of a limit. */
guint64 usage_cpu_now (struct sandbox *sandbox);

/* What all living processes hold now, beyond what a parked sandbox shares. */
guint64 usage_memory_now (struct sandbox *sandbox);

/* Whether all living processes together hold more than LIMIT bytes beyond what a parked sandbox shares.
 * *RET_PRIVATE is an upper bound of what they hold. Where there is a control group the kernel sees to it, and
 * this is not called. */
gboolean usage_is_over_memory (struct sandbox *sandbox, guint64 limit, guint64 *ret_private);
