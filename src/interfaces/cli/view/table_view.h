/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that code showed, for people. */
#pragma once

#include <glib.h>

/* The table in MARKDOWN with aligned columns, numbers to the right, no line wider than COLUMNS (0: any
 * width): long cells are cut first, then columns left out. Text after the table follows it; nothing in either
 * can drive the terminal. NULL: MARKDOWN does not begin with a table. The caller's. */
char *table_view_align (const char *markdown, guint columns);
