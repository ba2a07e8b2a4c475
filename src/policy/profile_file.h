/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the file of a profile. */
#pragma once

#include "common/ini.h"
#include "policy/profile.h"

/* The profile NAME in FILE, with all PROBLEMS (struct ini_problem, in order; the caller's). NULL with ERROR:
 * the file cannot be read; ADDER_ERROR_NOT_FOUND when it is missing. */
struct profile *profile_read_file (const char *name, const char *file, GPtrArray **ret_problems,
                                   GError **error);

/* The same for LENGTH bytes of TEXT, followed by a zero byte. */
struct profile *profile_read_text (const char *name, const char *text, gsize length,
                                   GPtrArray **ret_problems);
