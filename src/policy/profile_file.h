/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the file of a profile. */
#pragma once

#include "common/ini.h"
#include "policy/profile.h"

/* The profile NAME as FILE says it, with all PROBLEMS (struct ini_problem, the first ones first; the
 * caller's). NULL with ERROR: the file cannot be read; ADDER_ERROR_NOT_FOUND when there is none. */
struct profile *profile_read_file (const char *name, const char *file, GPtrArray **ret_problems,
                                   GError **error);

/* The same for LENGTH bytes of TEXT, after which stands a zero byte. */
struct profile *profile_read_text (const char *name, const char *text, gsize length,
                                   GPtrArray **ret_problems);
