/* SPDX-License-Identifier: Apache-2.0 */
/* Names that commands had in the version before: they work in this one, with a notice. */
#pragma once

#include <glib.h>

/* ARGV with the words of a former name replaced by those of the present one, and a notice of that on standard
 * error; or NULL: nothing in ARGV is a former name. *ARGC counts what is returned, which the caller frees
 * (g_free); the words are argv's or static. */
char **old_names_replace (int *argc, char **argv);

/* Prints each former name and the present one on a line, for tests: "record list\thistory list". */
void old_names_print (void);
