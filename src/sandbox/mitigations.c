/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mitigations.h"

#include <errno.h>
#include <linux/prctl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

/* Newer than some kernels' headers: Linux 5.14 and 5.16. */
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE        62
#define PR_SCHED_CORE_GET    0
#define PR_SCHED_CORE_CREATE 1
#endif
#ifndef PR_SCHED_CORE_SCOPE_THREAD
#define PR_SCHED_CORE_SCOPE_THREAD       0
#define PR_SCHED_CORE_SCOPE_THREAD_GROUP 1
#endif
#ifndef PR_SPEC_L1D_FLUSH
#define PR_SPEC_L1D_FLUSH 2
#endif

const char *const mitigation_names[] = {
    [MITIGATION_CORE_SCHEDULING] = "core_scheduling",
    [MITIGATION_STORE_BYPASS] = "store_bypass",
    [MITIGATION_INDIRECT_BRANCH] = "indirect_branch",
    [MITIGATION_L1D_FLUSH] = "l1d_flush",
    [MITIGATIONS] = NULL,
};

/* For prctl(); HELD: what PR_GET_SPECULATION_CTRL says when it is so, for the process or for the whole host.
 */
static const struct {
  enum mitigation mitigation;
  unsigned long which, value;
  int held;
} speculation[] = {
    {MITIGATION_STORE_BYPASS, PR_SPEC_STORE_BYPASS, PR_SPEC_FORCE_DISABLE,
     PR_SPEC_DISABLE | PR_SPEC_FORCE_DISABLE},
    {MITIGATION_INDIRECT_BRANCH, PR_SPEC_INDIRECT_BRANCH, PR_SPEC_FORCE_DISABLE,
     PR_SPEC_DISABLE | PR_SPEC_FORCE_DISABLE},
    {MITIGATION_L1D_FLUSH, PR_SPEC_L1D_FLUSH, PR_SPEC_ENABLE, PR_SPEC_ENABLE},
};

int
mitigation_find (const char *name)
{
  for (int i = 0; i < MITIGATIONS; i++)
    if (strcmp (mitigation_names[i], name) == 0)
      return i;
  return -1;
}

/* A cookie of its own, which children have as well: threads of a core run together only where theirs is the
 * same. */
static bool
has_own_cores (void)
{
  return prctl (PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, PR_SCHED_CORE_SCOPE_THREAD_GROUP, 0) == 0 ||
         errno == ENODEV;
}

uint32_t
mitigations_apply (uint32_t wanted)
{
  uint32_t core = UINT32_C (1) << MITIGATION_CORE_SCHEDULING;
  uint32_t held = (wanted & core) && has_own_cores () ? core : 0;
  for (size_t i = 0; i < sizeof speculation / sizeof speculation[0]; i++) {
    uint32_t bit = UINT32_C (1) << speculation[i].mitigation;
    if (!(wanted & bit))
      continue;
    /* It may fail since the host does so anyway: what counts is how it stands. */
    prctl (PR_SET_SPECULATION_CTRL, speculation[i].which, speculation[i].value, 0, 0);
    int now = prctl (PR_GET_SPECULATION_CTRL, speculation[i].which, 0, 0, 0);
    if (now == PR_SPEC_NOT_AFFECTED || (now > 0 && (now & speculation[i].held)))
      held |= bit;
  }
  return held;
}

int
mitigations_ask_core_scheduling (void)
{
  uint64_t cookie;
  return prctl (PR_SCHED_CORE, PR_SCHED_CORE_GET, 0, PR_SCHED_CORE_SCOPE_THREAD, &cookie) < 0 ? -errno : 0;
}
