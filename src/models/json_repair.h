/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as models and their servers write it, repaired. What is repaired is only what cannot mean anything
 * else: line ends and other control characters that stand bare in a string, "\'", halves of characters and
 * NUL (which become U+FFFD), bytes that are not UTF-8, Python's strings between three quotes. Never the
 * structure: where a bracket is missing, something else may be missing too. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* What begins and ends a string of Python's: three quotes begin nothing in JSON. */
#define JSON_REPAIR_LONG_QUOTE "\"\"\""

/* Any JSON value in LENGTH bytes; NULL where there is none, and where it is nested in more than 64 levels.
 * The caller's. */
json_t *json_repair (const char *text, gsize length);

/* Arguments of a call: an object, one that is written as a string or between code fences, or nothing at all,
 * which is the empty one. NULL: none of these. The caller's. */
json_t *json_repair_arguments (const char *text, gsize length);
