/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: a second opinion on the file tree. The mount tree decides what can be seen; these rules hold even
 * where a mount was forgotten or a descriptor leads out, and they scope what the file tree cannot: abstract
 * sockets (the network namespace is shared by a zygote's sandboxes), signals, TCP. */
#pragma once

#include "base/fault.h"

/* The kernel's Landlock version, or 0 when it has none or was started without it. */
int landlock_abi (void);

/* Confines the calling thread: read and execute everywhere, write below /work, /tmp and /dev/shm, nothing
 * else; to the letter that ABI (at least 1) knows. Needs no_new_privs, and all mounting to be done. */
int landlock_confine (int abi, struct fault *fault);
