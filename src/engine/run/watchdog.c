/* SPDX-License-Identifier: Apache-2.0 */
/* Limits by the clock. */
#include "engine/run/watchdog.h"

/* Between two checks of processor time near the limit. */
#define CPU_STEP_US 2000

/* How fast a run can take memory at most: a fault of 4 KiB costs about a microsecond, on each processor. A
 * check costs some 0.1 ms, so it comes at most every 10 ms, and at least once a second. */
#define MEMORY_BYTES_PER_US 4096
#define MEMORY_STEP_MIN     (10 * 1000)
#define MEMORY_STEP_MAX     G_USEC_PER_SEC

static gint64
cpu_step (const struct watchdog *watchdog, guint64 left_us)
{
  return MAX ((gint64)(left_us / watchdog->cpus), CPU_STEP_US);
}

static gint64
memory_step (const struct watchdog *watchdog, guint64 left_bytes)
{
  gint64 soonest = (gint64)(left_bytes / MEMORY_BYTES_PER_US / watchdog->cpus);
  return CLAMP (soonest, MEMORY_STEP_MIN, MEMORY_STEP_MAX);
}

void
watchdog_start (struct watchdog *watchdog, struct sandbox *sandbox, const struct limits *limits, guint cpus,
                gint64 now_us)
{
  *watchdog = (struct watchdog){
      .sandbox = sandbox,
      .limits = limits,
      .cpus = (guint)CLAMP (limits->value[LIMIT_PIDS], 1, MAX (cpus, 1)),
      .deadline_us = now_us + (gint64)limits->value[LIMIT_WALL] * 1000,
      .memory_us = G_MAXINT64,
  };
  watchdog->cpu_us = now_us + cpu_step (watchdog, limits->value[LIMIT_CPU] * 1000);
  if (!sandbox->cgroup)
    watchdog->memory_us = now_us + memory_step (watchdog, limits->value[LIMIT_MEMORY]);
}

void
watchdog_leave_memory (struct watchdog *watchdog)
{
  watchdog->deadline_us = watchdog->cpu_us = G_MAXINT64;
}

gint64
watchdog_next_us (const struct watchdog *watchdog)
{
  return MIN (watchdog->deadline_us, MIN (watchdog->cpu_us, watchdog->memory_us));
}

static gboolean
is_over_cpu (struct watchdog *watchdog, gint64 now_us)
{
  guint64 limit_us = watchdog->limits->value[LIMIT_CPU] * 1000;
  guint64 used_us = usage_cpu_now (watchdog->sandbox);
  if (used_us >= limit_us)
    return TRUE;
  watchdog->cpu_us = now_us + cpu_step (watchdog, limit_us - used_us);
  return FALSE;
}

static gboolean
is_over_memory (struct watchdog *watchdog, gint64 now_us)
{
  guint64 limit = watchdog->limits->value[LIMIT_MEMORY], held;
  if (usage_is_over_memory (watchdog->sandbox, limit, &held))
    return TRUE;
  watchdog->memory_us = now_us + memory_step (watchdog, limit > held ? limit - held : 0);
  return FALSE;
}

enum stop
watchdog_check (struct watchdog *watchdog)
{
  gint64 now_us = g_get_monotonic_time ();
  if (now_us >= watchdog->cpu_us && is_over_cpu (watchdog, now_us))
    return STOP_CPU;
  if (now_us >= watchdog->memory_us && is_over_memory (watchdog, now_us))
    return STOP_MEMORY;
  if (now_us >= watchdog->deadline_us)
    return STOP_DEADLINE;
  return STOP_NONE;
}
