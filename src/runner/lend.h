/* SPDX-License-Identifier: Apache-2.0 */
/* adder-zygote as it lends a directory or a file: it makes a mount of it (sandbox/directory.h, file.h), sends
 * that, and ends.
 */
#pragma once

#include "base/fault.h"

/* ARGUMENTS are those of wire.h. Answers WIRE_LENT on success; else a negative errno with FAULT. */
int lend (int count, char **arguments, struct fault *fault);
