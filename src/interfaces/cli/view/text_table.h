/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on standard output: columns as wide as needed, lines no wider than the terminal. */
#pragma once

#include <glib.h>

#include "interfaces/cli/view/cli_terminal.h"

struct text_table {
  gsize columns;
  GArray *cells; /* row by row; the first row is the heads */
};

void text_table_init (struct text_table *table, const char *const *heads, gsize columns);

/* The next cell, from left to right; takes TEXT over, which is one line of valid UTF-8. */
void text_table_add (struct text_table *table, char *text);
void text_table_add_coloured (struct text_table *table, char *text, enum cli_colour colour);
/* An id, of which commands take the beginning. Where lines are wider than the terminal, only that is printed.
 */
void text_table_add_id (struct text_table *table, char *text);

/* Prints it all, and releases it. */
void text_table_print (struct text_table *table);
