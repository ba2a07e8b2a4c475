/* SPDX-License-Identifier: Apache-2.0 */
/* Building the seccomp program of sandboxes: in the daemon, once, with libseccomp. Sandboxes get the bytes.
 */
#pragma once

#include <stdint.h>

#include "base/fault.h"

/* Builds the policy for this machine and a kernel with LANDLOCK_ABI (0: none), as a sealed memfd that holds
 * an array of struct sock_filter, for WIRE_LAUNCH_FILTER. Returns 0 with the caller's *RET_FD, or a negative
 * errno with FAULT. */
int seccomp_build (int landlock_abi, int *ret_fd, struct fault *fault);

/* The same for ARCHITECTURE, a number of libseccomp such as SCMP_ARCH_AARCH64. */
int seccomp_build_for (uint32_t architecture, int landlock_abi, int *ret_fd, struct fault *fault);
