/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of a sandbox's processes. They are set when it is parked, at the most that hand-out may ask
 * for: the daemon can lower them from outside but, without CAP_SYS_RESOURCE, never raise them again. */
#pragma once

#include "base/fault.h"
#include "sandbox/limits.h"

/* Sets all but RLIMIT_NPROC, soft and hard alike, never above the hard limit that is there already. */
int rlimits_apply (const struct limits *limits, struct fault *fault);

/* Sets RLIMIT_NPROC. Only to be called in the sandbox's own user namespace: set before, it becomes that
 * namespace's ceiling on the whole count of the user outside, and sandboxes starve each other. */
int rlimits_apply_processes (const struct limits *limits, struct fault *fault);
