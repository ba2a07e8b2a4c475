/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host/processor.h"

void
processor_pin (struct processor_pin *ret_pin, pid_t pid)
{
  int here = sched_getcpu ();
  cpu_set_t only;
  ret_pin->pid = 0;
  if (pid <= 0 || here < 0 || here >= CPU_SETSIZE ||
      sched_getaffinity (pid, sizeof ret_pin->before, &ret_pin->before) != 0 ||
      !CPU_ISSET ((gsize)here, &ret_pin->before))
    return;
  CPU_ZERO (&only);
  CPU_SET ((gsize)here, &only);
  if (sched_setaffinity (pid, sizeof only, &only) == 0)
    ret_pin->pid = pid;
}

void
processor_unpin (const struct processor_pin *pin)
{
  if (pin->pid > 0)
    (void)sched_setaffinity (pin->pid, sizeof pin->before, &pin->before);
}
