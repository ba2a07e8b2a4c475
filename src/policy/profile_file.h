/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the file of a profile, line by line, so that each problem can say where it is. It looks like a
 * GKeyFile without escapes, translations or values of several lines: "[group]", "key = value", and comments
 * that begin with "#". */
#pragma once

#include "policy/profile.h"

#define PROFILE_FILE_BYTES (256 * 1024)
#define PROFILE_LINES_MAX  10000
#define PROFILE_PROBLEMS   100 /* more are not told */

struct profile_problem {
  guint line;        /* 0: of the file as a whole */
  char *group, *key; /* or NULL */
  char *what;
};

/* "FILE:LINE: [group] key: what", as one line. The caller's. */
char *profile_problem_text (const char *file, const struct profile_problem *problem);

/* The profile NAME as FILE says it, with all PROBLEMS (struct profile_problem, the first ones first; the
 * caller's). NULL with ERROR: the file cannot be read; ADDER_ERROR_NOT_FOUND when there is none. */
struct profile *profile_read_file (const char *name, const char *file, GPtrArray **ret_problems,
                                   GError **error);

/* The same for LENGTH bytes of TEXT, after which stands a zero byte. */
struct profile *profile_read_text (const char *name, const char *text, gsize length,
                                   GPtrArray **ret_problems);
