/* SPDX-License-Identifier: Apache-2.0 */
/* What a client was asked, and whether its answer is one: elicitation/create, sampling/createMessage,
 * roots/list. Answers are hostile like all that comes from outside. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whether CONTENT has what SCHEMA, a flat object of an elicitation, asks for. Members that it does not ask
 * for are none of its business. ADDER_ERROR_INVALID says what is wrong. */
gboolean mcp_form_check (const json_t *schema, const json_t *content, GError **error);

/* Whether ANSWER is an answer to a request of METHOD with PARAMS. */
gboolean mcp_answer_check (const char *method, const json_t *params, const json_t *answer, GError **error);

/* What a client has to be able to do to be asked so: {"elicitation": {}}, {"elicitation": {"url": {}}},
 * {"sampling": {}}, {"roots": {}}. The caller's. NULL: METHOD is nothing that clients are asked. */
json_t *mcp_answer_needs (const char *method, const json_t *params);

/* Whether CAPABILITIES, as the client declares them, has all that NEEDS has. */
gboolean mcp_answer_is_able (const json_t *capabilities, const json_t *needs);
