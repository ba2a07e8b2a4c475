/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools that a model writes into its text, as models do that were taught another form than their
 * server reads. No I/O. Of a tool that the question has, these are calls, with arguments as an object or as
 * the text of one:
 *
 *   {"name": ..., "arguments": {...}}             {"function": {"name": ..., "arguments": {...}}}
 *   <tool_call>CALL</tool_call>                   CALLs in a block of code that is marked as JSON or not at
 * all
 *   {...}, where one tool must be called: its arguments, at the beginning of the text or of a block
 *
 * Calls that begin the text, and those from a tag on that begins a line, count in a row; what follows them
 * does not count. Any other is one only where it is the only one. Never a call: what stands in a span of code
 * or in a block of another language, and what stands in a message that the model was sent (a user's or a
 * tool's), since it repeats then what somebody else wrote. Text before "</think>" is not looked at. */
#pragma once

#include "models/question.h"

/* Between two calls stand a line end or two. Some models go on with line ends for ever. */
#define WRITTEN_BLANKS_MAX 64

/* MESSAGE, an assistant's answer to QUESTION, with call parts in place of the calls in its text and of all
 * text after the first; or NULL where there are none. The caller's. */
json_t *written_message (const struct model_question *question, const json_t *message);

/* Whether TEXT, an answer to QUESTION as far as it came, holds all the calls that it can hold, or goes on
 * with blanks alone, or one thing again and again, where a tool must be called. */
gboolean written_is_over (const struct model_question *question, const char *text);

/* The first block of code in TEXT, or NULL. A block that begins with a brace is no code, but a call that
 * cannot be read. The caller's. */
char *written_block (const char *text);
