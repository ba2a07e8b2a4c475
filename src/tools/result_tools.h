/* SPDX-License-Identifier: Apache-2.0 */
/* Long output for agents: the tool that reads the rest of it, shared by several toolsets, and previews of
 * it. */
#pragma once

#include "tools/call.h"

/* clang-format off */
#define TOOL_PEEK_RESULT(lowest_role) \
  { \
      .name = "peek_result", \
      .title = "Read on in long output", \
      .description = "Reads a part of the whole output of an earlier run whose reply was cut, by the result_id of that reply: " \
                     "text from the byte offset on, with next_offset for the next part; or, with grep, only the lines in which " \
                     "a regular expression is found, with their numbers. Output is kept for a day.", \
      .guidance = "When a reply was cut, look for what you need with grep before you page through the text.", \
      .role = (lowest_role), \
      .hints = TOOL_READ_ONLY | TOOL_IDEMPOTENT, \
      .parameters = peek_parameters, \
      .replies = peek_replies, \
      .handle = peek_result_tool, \
  }
/* clang-format on */

extern const struct field peek_parameters[];
extern const struct field *const peek_replies[];
void peek_result_tool (struct call *call);

/* TEXT of a run's STREAM as it is, or its head and tail if it exceeds MOST characters and is kept whole. The
 * caller's. */
char *ran_preview (const struct ran *ran, const char *stream, const char *text, glong most);

/* If the reply truncates the output: the id under which it is kept. NULL: not truncated, or not kept. */
const char *ran_result_id (const struct ran *ran);
