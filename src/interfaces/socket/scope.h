/* SPDX-License-Identifier: Apache-2.0 */
/* A control group to divide, from systemd, for a process that nobody gave one. */
#pragma once

#include <glib.h>

/* The words that run PROGRAM (a path) with ARGUMENTS (without a name of the program, ending in NULL) in a
 * scope of its own, which is delegated to it: level 3 instead of 2. Process, descriptors and environment stay
 * the same. NULL where the host has no systemd with control groups v2, or it makes no scope for us. The
 * caller's. */
char **scope_command (const char *program, const char *const *arguments);
