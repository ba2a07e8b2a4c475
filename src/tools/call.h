/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a tool, for its handler. A handler reads checked arguments, builds requests of include/adder.h,
 * and gives one reply. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"
#include "tools/conversation_state.h"
#include "tools/tools.h"

struct tools {
  AdderEngine *engine;
  const struct config *config;
  struct tool_enablement *enablement;
  struct conversation_states *conversation_states;
  struct conversation_states *attached_files; /* files: id by name (attached_files.h) */
};

struct call {
  struct tools *tools;
  const struct toolset *toolset;
  const struct tool *tool;
  const json_t *arguments; /* complete, with defaults */
  const struct tool_caller *caller;
  struct tool_reply *reply;  /* not given yet: its value is NULL */
  char *attached;            /* files for this call's run alone (attached_files.c), or NULL */
  int cancel_fd;             /* from call_cancel_fd, or -1 */
  gint64 told_us, told_part; /* when progress was last reported, and how much */
};

/* ---- arguments ---- */

/* NULL where it is null. */
const char *call_text (const struct call *call, const char *name);
gint64 call_integer (const struct call *call, const char *name);
gboolean call_flag (const struct call *call, const char *name);

/* ---- operations ---- */

/* Calls the operation NAME (operations/operation.h) for the caller; PARAMS are taken. The value is the
 * caller's of this, or NULL with ERROR. */
json_t *call_operation (const struct call *call, const char *name, json_t *params, GError **error);

/* ---- runs ---- */

/* A request for CODE with PROFILE (NULL: the standard one), for the tool's caller. The caller of this
 * function owns it. */
AdderRequest *call_request (const struct call *call, const char *code, const char *profile);

/* Sets the time limit of REQUEST with PROFILE (NULL: the standard one). */
gboolean call_set_timeout (const struct call *call, AdderRequest *request, const char *profile,
                           gint64 seconds, GError **error);

/* Makes REQUEST run in the caller's own directory, if they named one, with their variables and in their own
 * environment. */
gboolean call_set_directory (const struct call *call, AdderRequest *request, GError **error);

struct ran {
  AdderOutcome outcome;
  int exit_code;
  json_t *result; /* docs/results.md; owned */
};
void ran_clear (struct ran *ran);

/* Whether the time limit was reached: of the clock or, if a profile gives no more of it, of the
 * processors. */
gboolean ran_is_timeout (const struct ran *ran);

/* Takes REQUEST and runs it to its end. FALSE when the handler is done: if the code did not run (no room,
 * cancelled, approval needed, an error of Adder's or of the input) the answer is error_reply, for every
 * tool. */
gboolean call_run (struct call *call, AdderRequest *request, struct ran *ret_ran);

/* Its two halves, for handlers that want a run's events: the next one, which is also reported to the tool's
 * caller; FALSE when it is the result, which is this caller's. Then the evaluation of the result; takes
 * RESULT. */
gboolean call_next (struct call *call, AdderRun *run, AdderEvent *event);
gboolean call_take_result (struct call *call, AdderResult *result, struct ran *ret_ran);

/* A member of the result's error, "" if absent. */
const char *ran_error (const struct ran *ran, const char *member);
const char *ran_text (const struct ran *ran, const char *member);

/* Why code was refused, in lines: each violation with its hint, or the error's single sentence. The
 * caller's. */
char *ran_refusal (const struct ran *ran);

/* Advice, in lines: what the sandbox refused, with hints, or the error's own hint. The caller's. */
char *ran_advice (const struct ran *ran);

/* What a plain interpreter would have written on standard error: the code's own output, then the traceback,
 * or one line about another end. The caller's. */
char *ran_stderr (const struct ran *ran);

/* ---- work outside runs (progress.c) ---- */

/* Reports progress to the caller: TEXT is a line for people, "3 of 10 providers, 812 rows"; OF 0: unknown
 * total. Cheap, and may be called at any rate: reports that follow too soon are dropped, unless another
 * hundredth is done. */
void call_progress (struct call *call, const char *text, gint64 done, gint64 of);

/* Reports that a step of the work begins or has ended, after DONE ended ones: TEXT is a line for people, STEP
 * what tool_progress has for programs. Always reported, so steps must be few. */
void call_step (struct call *call, const char *text, gint64 done, const json_t *step);

/* Becomes readable once the caller hung up or stopped the call. The call's; -1: they cannot, or descriptors
 * ran out. A later run needs adder_request_set_watch (request, -1). */
int call_cancel_fd (struct call *call);

/* Releases the resources of the two. */
void call_progress_clear (struct call *call);

/* ---- replies ---- */

/* Takes VALUE, which gets the member "run_id" of RAN (NULL: null). */
void call_reply (struct call *call, json_t *value, const struct ran *ran);

/* VALUE, which is taken, or PROBLEM where it is NULL. */
void call_reply_value (struct call *call, json_t *value, const GError *problem);

/* The same for JSON text from a library function, which is taken; NULL: PROBLEM is the reply. */
void call_reply_text (struct call *call, char *text, const GError *problem);

/* error_reply. */
void call_fail (struct call *call, const GError *problem);
