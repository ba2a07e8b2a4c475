/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-terminals of a sandbox's own. */
#pragma once

#include "base/fault.h"

/* At once, in one sandbox. The kernel has some thousand for all (kernel.pty.max), and keeps a quarter of them
 * for the host's own. */
#define TERMINALS_MAX 8

/* Makes a devpts, mounted nowhere yet, that knows no terminals but those that are opened through it. *RET_FD
 * is -1 where the kernel offers none: then there are no terminals. */
int terminals_make (int *ret_fd, struct fault *fault);
