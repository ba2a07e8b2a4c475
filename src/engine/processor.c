/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/processor.h"

void
processor_hold (struct processor_hold *ret_hold, pid_t pid)
{
  int here = sched_getcpu ();
  cpu_set_t only;
  ret_hold->pid = 0;
  if (pid <= 0 || here < 0 || here >= CPU_SETSIZE ||
      sched_getaffinity (pid, sizeof ret_hold->before, &ret_hold->before) != 0 ||
      !CPU_ISSET ((gsize)here, &ret_hold->before))
    return;
  CPU_ZERO (&only);
  CPU_SET ((gsize)here, &only);
  if (sched_setaffinity (pid, sizeof only, &only) == 0)
    ret_hold->pid = pid;
}

void
processor_release (const struct processor_hold *hold)
{
  if (hold->pid > 0)
    (void)sched_setaffinity (hold->pid, sizeof hold->before, &hold->before);
}
