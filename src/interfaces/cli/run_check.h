/* SPDX-License-Identifier: Apache-2.0 */
/* `adder run --check`: checks code against the rules of a profile, without running it. */
#pragma once

#include "interfaces/cli/run_options.h"

/* Prints violations, as compilers do, or one JSON object. Returns the exit code, or -1 with ERROR if the code
 * could not be checked. */
int run_check (const struct run_options *options, GError **error);
