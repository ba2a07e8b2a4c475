/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation of one analysis with a model, as forced calls of tools that exist for their schemas alone:
 * what the model writes into a call is the step's outcome, and what came of it is the call's result. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "models/model.h"

/* Tokens. A model that reads no more has a short conversation. */
#define DIALOGUE_SHORT_CONTEXT 16384

struct dialogue;

/* MODEL must outlive it. CANCEL_FD as struct model_question has it. */
struct dialogue *dialogue_new (struct model *model, int cancel_fd);
/* No more than so many TOKENS for all of it, read and written, by what the model's server says or else by a
 * guess: whoever wants to ask beyond that gets ADDER_ERROR_REFUSED, which names SETTING as what bounds it. */
void dialogue_limit (struct dialogue *dialogue, guint64 tokens, const char *setting);
/* NULL is allowed. */
void dialogue_free (struct dialogue *dialogue);

/* Whether nothing was said yet. */
gboolean dialogue_is_new (const struct dialogue *dialogue);

/* Whether the model is known to read little (DIALOGUE_SHORT_CONTEXT): it is told only what it needs, asked
 * for code as a block and not in a call, since a small model loses the question in a long prompt, copies
 * what stands there into its code, and reads each of them for long on a small machine. FALSE for no dialogue.
 */
gboolean dialogue_is_short (const struct dialogue *dialogue);

/* What the model hears next: the result of its last call, IS_ERROR where it has to be made again, or, where
 * it made none, a message. */
void dialogue_tell (struct dialogue *dialogue, const char *text, gboolean is_error);

/* Whether ARGUMENTS of a call are what its schema says; *RET_WHY, the caller's, what is wrong. */
typedef gboolean (*dialogue_check) (const json_t *arguments, char **ret_why);

/* Has the model call TOOL, and returns the arguments, the caller's. What is no such call goes back to it,
 * twice. TEXT_MEMBER (may be NULL): the one argument that may be written as a block of code.
 * MODEL_ERROR_MALFORMED when there is none even then. */
json_t *dialogue_call (struct dialogue *dialogue, const char *tool, dialogue_check check,
                       const char *text_member, GError **error);

/* The same where it can be done without: *RET_ARGUMENTS is NULL when the model makes no such call. */
gboolean dialogue_try (struct dialogue *dialogue, const char *tool, dialogue_check check,
                       json_t **ret_arguments, GError **error);

/* What the model says, without a call; never empty. The caller's. */
char *dialogue_say (struct dialogue *dialogue, GError **error);

/* {"name", "provider", "replay"} and {"input_tokens", "output_tokens", "cost"}, the last null where it is not
 * known. The caller's. */
json_t *dialogue_model (const struct dialogue *dialogue);
json_t *dialogue_usage (const struct dialogue *dialogue);
