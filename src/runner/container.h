/* SPDX-License-Identifier: Apache-2.0 */
/* What a zygote in a container finds out about the container, and how it keeps its one sandbox, which has the
 * same user id, away from itself. */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "sandbox/namespaces.h"

/* Makes the parts of the workspace. To be done before anything looks for /tmp. Returns 0, or a negative errno
 * with FAULT. */
int container_make_workspace (struct fault *fault);

/* Verifies that the calling process is the first of a container that shares neither files, processes, network
 * nor ipc with OUTSIDE, whose tree is read-only and which is not root's. *RET_MECHANISMS has the bits of enum
 * wire_mechanism that its sandbox has by that. Returns 0, or a negative errno with FAULT. */
int container_verify (const struct namespaces_seen *outside, uint32_t *ret_mechanisms, struct fault *fault);

/* From here on the calling process, which is the container's first, cannot be looked into (/proc/1, ptrace),
 * and of signals of its container none does anything but SIGCHLD, which is blocked like the rest. To be done
 * when all that it wants of its own /proc is read. */
int container_hide (struct fault *fault);

/* Has the calling process, which is to become the sandbox, be the first that the kernel kills when the
 * container is out of memory: the zygote, which tells how it ended, shall not be. */
int container_offer_to_oom_killer (struct fault *fault);
