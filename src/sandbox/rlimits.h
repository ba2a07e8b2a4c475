/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of a sandbox's processes. They are set at parking, to the maxima of acquisition: the daemon
 * can lower them from outside but, without CAP_SYS_RESOURCE, never raise them again. */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "sandbox/limits.h"

/* Sets all but RLIMIT_NPROC, soft and hard alike, never above the present hard limit. */
int rlimits_apply (const struct limits *limits, struct fault *fault);

/* Sets RLIMIT_NPROC, to OTHERS more than the limit. In a user namespace of the sandbox's own OTHERS is 0; to
 * be called in it, since set before, it becomes that namespace's ceiling on the whole count of the user
 * outside, and sandboxes starve each other. Elsewhere all tasks of the user count: rlimits_count_tasks. */
int rlimits_apply_processes (const struct limits *limits, uint64_t others, struct fault *fault);

/* The tasks (processes and their threads) of the calling process's user, as /proc shows them; 0 without it.
 */
uint64_t rlimits_count_tasks (void);

/* Sets RLIMIT_DATA to the memory limit and HAVE_BYTES beyond, which the process has already. */
int rlimits_apply_memory (const struct limits *limits, uint64_t have_bytes, struct fault *fault);
