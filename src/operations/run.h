/* SPDX-License-Identifier: Apache-2.0 */
/* What operations that run code share with interfaces that also stream events. */
#pragma once

#include "operations/operation.h"

/* The library's request that PARAMS of "run.new" or "session.cell" mean, for CALLER: with their owner, role,
 * profiles and watch, and their descriptor as work directory. The caller's. ADDER_ERROR_INVALID,
 * ADDER_ERROR_REFUSED, ADDER_ERROR_NOT_FOUND; ADDER_ERROR_ENDED of a session. */
AdderRequest *run_request_read (const struct operation_caller *caller, const json_t *params, GError **error);

/* The same for "session.new" and "session.replay", whose `name` is the session's and not the code's. */
AdderRequest *run_options_read (const struct operation_caller *caller, const json_t *params, GError **error);

/* Pulls RUN, which CALLER began, to its end, in the table of active runs. SESSION may be NULL. The
 * caller's. */
AdderResult *run_pull (const struct operation_caller *caller, AdderRun *run, const char *session,
                       const char *conversation);

/* Begins "session.replay" with PARAMS. The caller's, or NULL with ERROR. */
AdderReplay *replay_begin (const struct operation_caller *caller, const json_t *params, GError **error);
json_t *session_replay (const struct operation_call *call, GError **error);

/* The view of a run, active or ended; the outcome of a replay. */
extern const struct field run_show_fields[], replay_fields[];
