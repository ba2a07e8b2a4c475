/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that several tools have. */
#pragma once

#include "operations/fields.h"
#include "operations/session_fields.h"
#include "tools/table.h"

/* clang-format off */
#define FIELD_DESCRIPTION \
  {.name = "description", .types = FIELD_TEXT, .optional = TRUE, .standard = "\"\"", .maximum = 1000, \
   .text = "What the code is for, in one sentence, for the people who watch."}
#define FIELD_TIMEOUT(standard_value, most) \
  {.name = "timeout", .types = FIELD_INTEGER, .optional = TRUE, .standard = (standard_value), .minimum = 1, \
   .maximum = (most), .unit = "s", .text = "The longest that the code may run."}
/* clang-format on */
