/* SPDX-License-Identifier: Apache-2.0 */
/* Rows shared by operations of several nouns, and by routes that are no operations. */
#pragma once

#include "adder_types.h"
#include "common/field_rows.h"

#define WAIT_MAX_MS 600000

/* For operations without parameters. */
extern const struct field no_params[];

/* What "caller.show" replies, and HTTP to who signs in. */
extern const struct field *const caller_replies[];

/* For "record.export", which HTTP has as a stream. */
extern const struct field record_export_params[];

/* clang-format off */
#define FIELD_ID(member, says) \
  {.name = (member), .types = FIELD_TEXT, .pattern = "^[0-9a-fA-F-]{4,36}$", .pattern_words = "an id", \
   .text = (says)}

#define CODE_MAX (1 << 20) /* characters; code_bytes bounds the bytes */
#define FIELD_CODE(says) \
  {.name = "code", .types = FIELD_TEXT, .maximum = CODE_MAX, .text = (says)}

#define ASK_CONVERSATION \
  ASK_TEXT ("conversation", ADDER_CONVERSATION_BYTES, "The caller's name for the conversation.")

#define ASK_OWNER \
  ASK_TEXT ("owner", 200, "The owner (admins only); \"all\" for everybody's. The caller by default.")
#define ASK_WAIT \
  {.name = "wait_ms", .types = FIELD_INTEGER, .optional = TRUE, .standard = "0", .maximum = WAIT_MAX_MS, \
   .unit = "ms", .text = "Maximum time to wait."}
/* clang-format on */
