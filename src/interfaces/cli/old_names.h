/* SPDX-License-Identifier: Apache-2.0 */
/* Names that commands had in the previous version: they still work, with a notice. */
#pragma once

#include <glib.h>

/* ARGV with a former name replaced by the present one, and a notice on standard error; or NULL: ARGV has no
 * former name. *ARGC counts the returned words, which the caller frees (g_free); the words are argv's or
 * static. */
char **old_names_replace (int *argc, char **argv);

/* Prints each former name with the present one on a line, for tests: "record list\thistory list". */
void old_names_print (void);
