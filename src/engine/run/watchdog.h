/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a run that nothing but the daemon's own clock enforces: wall time, processor time in
 * milliseconds and, where there is no control group, the memory of all processes together. It does not look
 * at fixed intervals but when a limit could be reached at the earliest. */
#pragma once

#include <glib.h>

#include "engine/pool/sandbox.h"
#include "engine/request/outcome.h"

struct watchdog {
  struct sandbox *sandbox;
  const struct limits *limits;
  guint cpus;                            /* that the run can use at once */
  gint64 deadline_us, cpu_us, memory_us; /* when each is to be looked at; G_MAXINT64: never */
};

/* NOW_US is the moment of the acquisition, of g_get_monotonic_time, as are all times here. */
void watchdog_start (struct watchdog *watchdog, struct sandbox *sandbox, const struct limits *limits,
                     guint cpus, gint64 now_us);

/* From now on only memory is watched. */
void watchdog_leave_memory (struct watchdog *watchdog);

/* When watchdog_check must be called at the latest. */
gint64 watchdog_next_us (const struct watchdog *watchdog);

/* Looks at what is due. Returns the limit that was reached, or STOP_NONE. */
enum stop watchdog_check (struct watchdog *watchdog);
