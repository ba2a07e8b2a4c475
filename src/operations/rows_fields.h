/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and replies of operations that give a page of a table's rows. */
#pragma once

#include "common/field_rows.h"
#include "operations/operation.h"

/* clang-format off */
#define ASK_ROWS \
  {.name = "offset", .types = FIELD_INTEGER, .optional = TRUE, .standard = "0", .maximum = 1LL << 40, \
   .unit = "rows", .text = "The first row of the page."}, \
  {.name = "limit", .types = FIELD_INTEGER, .optional = TRUE, .standard = "100", .minimum = 1, \
   .maximum = 1000, .unit = "rows", .text = "How many rows at most."}, \
  ASK_TEXT ("sort", 200, "The column to sort by, by its name; missing values come last."), \
  ASK_FLAG ("descending", "Whether to sort in descending order."), \
  ASK_TEXT ("filter", 200, "Only rows with a cell that contains this text, ignoring case.")
/* clang-format on */

extern const struct field *const rows_replies[];

/* The ASK_ROWS of CALL, and `name`, as the sandbox is asked. The caller's. */
json_t *rows_page (const struct operation_call *call);
