/* SPDX-License-Identifier: Apache-2.0 */
/* All that a model is told, and the schemas of the tools that it answers by: data. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define PROMPT_TOOL_PLAN   "submit_plan"
#define PROMPT_TOOL_CHECKS "submit_checks"
#define PROMPT_TOOL_CODE   "submit_code"

/* The second for models that read little. */
extern const char prompt_instructions[], prompt_instructions_short[];

/* What a step asks for. */
extern const char prompt_ask_plan[], prompt_ask_code[], prompt_ask_code_short[];
/* With a place for a text: the checks that there are, the result, a plan that was given, what is wrong with
 * code, and with the paragraph. */
extern const char prompt_ask_checks[], prompt_ask_answer[], prompt_given_plan[], prompt_code_failed[],
    prompt_code_failed_short[], prompt_answer_wrong[];
/* After the last, where the same code failed before. */
extern const char prompt_code_repeated[];
/* Calls that are none; the first two have a place for the tool's name. */
extern const char prompt_no_call[], prompt_other_call[], prompt_no_json[], prompt_one_call[],
    prompt_no_block[];

/* TEXT with VALUE in its place. The caller's. */
char *prompt_with (const char *text, const char *value);

/* [{"name", "description", "parameters"}]: the three, each with a strict schema. The caller's. */
json_t *prompt_tools (void);
