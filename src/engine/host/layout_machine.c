/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as many processors as code may use (sched_getaffinity): the C library counts the lines, and must get
 * the same number. What the host's processors do is hidden. */
#include "engine/host/layout_machine.h"

#include <time.h>

/* In whole seconds, rounded down: a process started since has a positive age. */
static gint64
start_of_machine (void)
{
  struct timespec up;
  if (clock_gettime (CLOCK_BOOTTIME, &up) < 0)
    return 0;
  return (g_get_real_time () - up.tv_sec * G_USEC_PER_SEC - up.tv_nsec / 1000) / G_USEC_PER_SEC;
}

char *
layout_stat (guint cpus)
{
#define NOTHING " 0 0 0 0 0 0 0 0 0 0\n"
  GString *text = g_string_new ("cpu " NOTHING);
  for (guint i = 0; i < cpus; i++)
    g_string_append_printf (text, "cpu%u" NOTHING, i);
  g_string_append_printf (text,
                          "intr 0\nctxt 0\nbtime %" G_GINT64_FORMAT
                          "\nprocesses 0\nprocs_running 1\nprocs_blocked 0\nsoftirq" NOTHING,
                          start_of_machine ());
  return g_string_free (text, FALSE);
}

char *
layout_cpuinfo (guint cpus)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < cpus; i++)
    g_string_append_printf (text,
                            "processor\t: %u\nphysical id\t: 0\nsiblings\t: %u\ncore id\t\t: %u\n"
                            "cpu cores\t: %u\napicid\t\t: %u\n\n",
                            i, cpus, i, cpus, i);
  return g_string_free (text, FALSE);
}
