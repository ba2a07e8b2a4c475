/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities: all of them, for good. */
#pragma once

#include "base/fault.h"

/* Empties the ambient, bounding, permitted, effective and inheritable sets of the calling thread, locks the
 * securebits so that uid 0 means nothing, and then reads all of it back. Call after the last unshare of a
 * user namespace, which fills every set again. Returns 0, or a negative errno with FAULT; what was dropped by
 * then stays dropped. */
int capabilities_drop (struct fault *fault);

/* The same for a process without the right to change its bounding set: the other four sets. With no_new_privs
 * the bounding set gives nothing. */
int capabilities_clear (struct fault *fault);

/* Whether that bounding set is empty, as a container engine leaves it. Returns 0, or a negative errno with
 * FAULT. */
int capabilities_check_bounds (struct fault *fault);
