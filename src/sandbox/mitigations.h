/* SPDX-License-Identifier: Apache-2.0 */
/* Restrictions of the scheduler and the processor while code of a sandbox runs, so that it learns less of its
 * neighbours by timing, and they of it. Each has a cost and is off by default. */
#pragma once

#include <stdint.h>

enum mitigation {
  MITIGATION_CORE_SCHEDULING, /* no thread of another sandbox's, or of the host's, runs beside one on a core
                               */
  MITIGATION_STORE_BYPASS,    /* no load is tried before the stores ahead of it have addresses */
  MITIGATION_INDIRECT_BRANCH, /* no branch goes where other code trained the predictor to go */
  MITIGATION_L1D_FLUSH,       /* the first cache is emptied whenever the processor goes to other code */
  MITIGATIONS,
};

/* Their names, and then NULL. */
extern const char *const mitigation_names[];

/* The mitigation called NAME, or -1. */
int mitigation_find (const char *name);

/* Requests WANTED (bits: 1 << enum mitigation) for the calling process, which must have one thread, and for
 * all its descendants. Returns those in force or not needed here. Undoing them needs prctl(), which code in a
 * sandbox does not have. */
uint32_t mitigations_apply (uint32_t wanted);

/* Whether the kernel can keep sandboxes from sharing a core: 0; -ENODEV: no core has two threads; else a
 * negative errno. */
int mitigations_ask_core_scheduling (void);
