/* SPDX-License-Identifier: Apache-2.0 */
/* What the library answers, as fields: for the replies of routes. The result of a run is in
 * operations/result_fields.h. */
#pragma once

#include "operations/fields.h"
#include "operations/file_fields.h"
#include "operations/result_fields.h"
#include "operations/session_fields.h"
#include "store/record_fields.h"

/* clang-format off */
#define ASK_CONVERSATION \
  ASK_TEXT ("conversation", TOOL_CONVERSATION_MOST, "To which it belongs, as the caller names it.")
/* clang-format on */

extern const struct field no_fields[];
extern const struct field files_fields[];
