/* SPDX-License-Identifier: Apache-2.0 */
/* Fields shared by several tools. */
#pragma once

#include "operations/fields.h"
#include "operations/session_fields.h"
#include "tools/table.h"

/* clang-format off */
#define FIELD_DESCRIPTION \
  {.name = "description", .types = FIELD_TEXT, .optional = TRUE, .marks = FIELD_IN_FULL, .standard = "\"\"", .maximum = 1000, \
   .text = "What the code is for, in one sentence, for the people who watch."}
#define FIELD_TIMEOUT(standard_value, most) \
  {.name = "timeout", .types = FIELD_INTEGER, .optional = TRUE, .standard = (standard_value), .minimum = 1, \
   .maximum = (most), .unit = "s", .text = "The longest that the code may run."}
/* A part of a long text. */
#define FIELDS_OF_READING(offset_says, limit_says) \
  {.name = "offset", .types = FIELD_INTEGER, .optional = TRUE, .standard = "0", .minimum = 0, \
   .maximum = G_GINT64_CONSTANT (1) << 40, .unit = "bytes", .text = (offset_says)}, \
  {.name = "limit", .types = FIELD_INTEGER, .optional = TRUE, .standard = "10000", .minimum = 64, \
   .maximum = 30000, .unit = "bytes", .text = (limit_says)}
/* clang-format on */
