/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a run that nothing but the daemon's own clock enforces: wall time, processor time in
 * milliseconds and, where there is no control group, the memory of all processes together. It checks no
 * sooner than a limit could be reached, not at fixed intervals. */
#pragma once

#include <glib.h>

#include "engine/pool/sandbox.h"
#include "engine/request/outcome.h"

struct watchdog {
  struct sandbox *sandbox;
  const struct limits *limits;
  guint cpus;                            /* that the run can use at once */
  gint64 deadline_us, cpu_us, memory_us; /* when each is due; G_MAXINT64: never */
};

/* NOW_US is the moment of the acquisition, by g_get_monotonic_time, as are all times here. */
void watchdog_start (struct watchdog *watchdog, struct sandbox *sandbox, const struct limits *limits,
                     guint cpus, gint64 now_us);

/* From now on only memory is watched. */
void watchdog_leave_memory (struct watchdog *watchdog);

/* The latest time to call watchdog_check. */
gint64 watchdog_next_us (const struct watchdog *watchdog);

/* Checks what is due. Returns the limit that was reached, or STOP_NONE. */
enum stop watchdog_check (struct watchdog *watchdog);
