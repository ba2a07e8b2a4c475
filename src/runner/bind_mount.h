/* SPDX-License-Identifier: Apache-2.0 */
/* adder-zygote as it bind-mounts a directory or a file: it makes a mount of it (sandbox/directory.h, file.h),
 * sends that, and ends. */
#pragma once

#include "base/fault.h"

/* ARGUMENTS as in wire.h. Answers WIRE_BIND_MOUNT on success; else a negative errno with FAULT. */
int bind_mount_send (int count, char **arguments, struct fault *fault);
