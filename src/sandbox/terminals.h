/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's own pseudo-terminals. */
#pragma once

#include "base/fault.h"

/* At once, in one sandbox. The kernel has some thousand for all (kernel.pty.max), and keeps a quarter of them
 * for the host's own. */
#define TERMINALS_MAX 8

/* Makes a detached devpts, with only the terminals opened through it. *RET_FD is -1 if the kernel offers
 * none: then there are no terminals. */
int terminals_make (int *ret_fd, struct fault *fault);
