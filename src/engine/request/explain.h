/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts in words: the `error` of a result, for a person or a model that has to act on it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/request/outcome.h"
#include "engine/request/request.h"

/* The error object of a run that ended as VERDICT. PYTHON_ERROR comes from the result message, or is NULL: it
 * is kept, with a hint added if it has none; so is the code's own exception. MAXIMA: how far limits may be
 * raised. Returns NULL for a successful run. The caller's. */
json_t *explain_verdict (const struct verdict *verdict, const struct facts *facts,
                         const struct limits *limits, const struct limits *maxima, enum request_voice voice,
                         const char *environment, json_t *python_error);

/* "ADVICE, or ask for a higher pids (HOW at most 4096)." if it may be raised. Tools can raise only time,
 * without HOW. The caller's. */
char *explain_advice (const char *advice, enum limit limit, enum request_voice voice, const char *how,
                      const struct limits *limits, const struct limits *maxima);

/* The error object for a failure outside any sandbox: only {type, message}, worded for the caller of REQUEST
 * (NULL: this process' command line). The caller's. */
json_t *explain_error (AdderOutcome outcome, const GError *error, const struct run_request *request);

/* The same for a run on an overlay whose changes cannot be determined. The caller's. */
json_t *explain_unread (const GError *error);

/* The same for a run that waits for the approval ID, with how to get it. The caller's. */
json_t *explain_approval (const GError *error, const char *id);

/* The outcome for ERROR. */
AdderOutcome explain_outcome_of (const GError *error);

/* "SIGSEGV"; static, or NULL for 0. */
const char *explain_signal (int signal);
