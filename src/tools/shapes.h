/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that several tools have. */
#pragma once

#include "tools/table.h"

#define CODE_MOST     (1 << 20) /* characters; code_bytes bounds the bytes */
#define SESSION_WORDS "a session's name or id: letters, digits, _ and -, at most 64"

/* clang-format off */
#define FIELD_CODE(says) \
  {.name = "code", .types = FIELD_TEXT, .maximum = CODE_MOST, .text = (says)}
#define FIELD_DESCRIPTION \
  {.name = "description", .types = FIELD_TEXT, .optional = TRUE, .standard = "\"\"", .maximum = 1000, \
   .text = "What the code is for, in one sentence, for the people who watch."}
#define FIELD_TIMEOUT(standard_value, most) \
  {.name = "timeout", .types = FIELD_INTEGER, .optional = TRUE, .standard = (standard_value), .minimum = 1, \
   .maximum = (most), .unit = "s", .text = "The longest that the code may run."}
#define FIELD_RUN_ID \
  {.name = "run_id", .types = FIELD_TEXT | FIELD_NULL, .text = "The run, for the record; null where there was none."}
#define FIELD_NAME(field, leave, says) \
  {.name = (field), .types = FIELD_TEXT, .optional = (leave), .pattern = "^[A-Za-z0-9_-]{1,64}$", \
   .pattern_words = SESSION_WORDS, .text = (says)}
/* clang-format on */
