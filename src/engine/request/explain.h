/* SPDX-License-Identifier: Apache-2.0 */
/* What a verdict means, in words: the `error` of a result, for a person or a model that has to act on it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/request/outcome.h"
#include "engine/request/request.h"

/* The error object of a run that ended as VERDICT. PYTHON_ERROR is what the result message brought, or NULL:
 * it is kept, with a hint where it has none; so is what the code itself raised. MAXIMA: how far limits may be
 * raised. Returns NULL for a run that went well. The caller's. */
json_t *explain_verdict (const struct verdict *verdict, const struct facts *facts,
                         const struct limits *limits, const struct limits *maxima, enum request_voice voice,
                         const char *environment, json_t *python_error);

/* "ADVICE, or ask for a higher pids (HOW at most 4096)." where it may be raised. A tool has one for time
 * alone, and no HOW. The caller's. */
char *explain_advice (const char *advice, enum limit limit, enum request_voice voice, const char *how,
                      const struct limits *limits, const struct limits *maxima);

/* The error object for what went wrong outside any sandbox: {type, message} and nothing else, in the words of
 * who asked for REQUEST (NULL: this process' command line). The caller's. */
json_t *explain_error (AdderOutcome outcome, const GError *error, const struct run_request *request);

/* The same for a run on an overlay of which nobody can tell what it changed. The caller's. */
json_t *explain_unread (const GError *error);

/* The same for a run that waits for the approval ID, with how it is had. The caller's. */
json_t *explain_approval (const GError *error, const char *id);

/* Which outcome a caller gets for ERROR. */
AdderOutcome explain_outcome_of (const GError *error);

/* "SIGSEGV"; static, or NULL for 0. */
const char *explain_signal (int signal);
