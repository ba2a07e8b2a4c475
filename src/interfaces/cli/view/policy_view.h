/* SPDX-License-Identifier: Apache-2.0 */
/* The system call policy as `adder doctor --policy` shows it: from the table that the filter is built from,
 * so that it shows what is in force. */
#pragma once

#include <glib.h>
#include <stdio.h>

#include "sandbox/seccomp_build.h"

/* Prints the policy for HOST, as text for people or (JSON true) as one object. FALSE: the filter cannot be
 * built here, and nothing was printed. */
gboolean policy_print (const struct seccomp_host *host, gboolean json, FILE *stream, GError **error);
