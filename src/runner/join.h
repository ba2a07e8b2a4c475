/* SPDX-License-Identifier: Apache-2.0 */
/* How a zygote in a container comes by what adder-zygote hands one on the host. */
#pragma once

#include "base/fault.h"
#include "runner/wire.h"

/* Connects to the launcher's socket at PATH and takes what it sends: descriptor 0 is /dev/null then, 1 and 2
 * are the message pipe, and WIRE_LAUNCH_CONTROL and WIRE_LAUNCH_FILTER what they are called. Every other
 * descriptor is closed, so nothing may be open yet that is still wanted. Returns 0 with *RET_JOIN, or a
 * negative errno with FAULT. */
int join_launcher (const char *path, struct wire_join *ret_join, struct fault *fault);
