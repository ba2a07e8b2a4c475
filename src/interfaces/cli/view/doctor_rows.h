/* SPDX-License-Identifier: Apache-2.0 */
/* How `adder doctor` prints what it found. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Before a line: whether it is good. */
void doctor_print_mark (gboolean good);

/* A line for each of ROWS, a list of {"name", "good", "text"}. Below what is not good stand its "cost" and,
 * after the words TO, its "remedy", where it has them. */
void doctor_print_rows (const json_t *rows, const char *to);
