/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a command line against the lists of sandbox/programs.h: every program that it names, wherever it
 * stands, and all that is wrong at once. It is the first of two: what escapes it meets a sandbox without
 * those programs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runner/script.h"

#define CHECK_VIOLATIONS_MAX 100
#define CHECK_TEXT_BYTES     120

struct check_violation {
  const char *rule;            /* static */
  char text[CHECK_TEXT_BYTES]; /* as it is written, cut */
  struct script_place place;
  const char *hint; /* static */
};

struct check {
  struct check_violation violations[CHECK_VIOLATIONS_MAX];
  size_t count;
  char host[CHECK_TEXT_BYTES]; /* the first command that is for the network, or "" */

  const char
      *functions; /* names that the script itself defines, a space before and after each; the check's own */
  size_t functions_length;
  int depth;
};

/* Holds the LENGTH bytes of TEXT against the lists. Returns whether nothing is wrong. */
bool check_script (struct check *check, const char *text, size_t length);
