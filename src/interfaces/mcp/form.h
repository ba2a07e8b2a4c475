/* SPDX-License-Identifier: Apache-2.0 */
/* What a client was asked, and whether its answer is valid: elicitation/create, sampling/createMessage,
 * roots/list. Answers are hostile like all outside input. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whether CONTENT satisfies SCHEMA, a flat object of an elicitation. Other members are ignored.
 * ADDER_ERROR_INVALID says what is wrong. */
gboolean mcp_form_check (const json_t *schema, const json_t *content, GError **error);

/* Whether ANSWER is a valid answer to a request of METHOD with PARAMS. */
gboolean mcp_answer_check (const char *method, const json_t *params, const json_t *answer, GError **error);

/* The capabilities that a client needs for this question: {"elicitation": {}}, {"elicitation": {"url": {}}},
 * {"sampling": {}}, {"roots": {}}. The caller's. NULL: METHOD is no question to clients. */
json_t *mcp_answer_needs (const char *method, const json_t *params);

/* Whether CAPABILITIES, as the client declares them, include NEEDS. */
gboolean mcp_answer_is_able (const json_t *capabilities, const json_t *needs);
