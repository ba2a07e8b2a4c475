/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a tool, as its handler sees it. A handler reads arguments, which were checked, builds requests
 * of include/adder.h, and gives one reply. */
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
  struct rates *questions;                    /* of each owner to the daemon's own model */
};

struct call {
  struct tools *tools;
  const struct toolset *toolset;
  const struct tool *tool;
  const json_t *arguments; /* every parameter is there */
  const struct tool_caller *caller;
  struct tool_reply *reply;  /* not given yet: its value is NULL */
  char *attached;            /* files for this call's run alone (attached_files.c), or NULL */
  int cancel_fd;             /* as call_cancel_fd made it, or -1 */
  gint64 told_us, told_part; /* when the caller was last told how far it is, and how far */
};

/* ---- arguments ---- */

/* NULL where it is null. */
const char *call_text (const struct call *call, const char *name);
gint64 call_integer (const struct call *call, const char *name);
gboolean call_flag (const struct call *call, const char *name);

/* ---- operations ---- */

/* Does the operation NAME (operations/operation.h) for the caller; PARAMS are taken. The value is the
 * caller's of this, or NULL with ERROR. */
json_t *call_operation (const struct call *call, const char *name, json_t *params, GError **error);

/* ---- runs ---- */

/* A request for CODE with PROFILE (NULL: the standard one), of the caller. The caller of this owns it. */
AdderRequest *call_request (const struct call *call, const char *code, const char *profile);

/* Ends REQUEST with PROFILE (NULL: the standard one) after so long. */
gboolean call_set_timeout (const struct call *call, AdderRequest *request, const char *profile,
                           gint64 seconds, GError **error);

/* Has REQUEST work in the caller's own directory, where they named one, with their variables and in their own
 * environment. */
gboolean call_set_directory (const struct call *call, AdderRequest *request, GError **error);

struct ran {
  AdderOutcome outcome;
  int exit_code;
  json_t *result; /* docs/results.md; owned */
};
void ran_clear (struct ran *ran);

/* Whether time was over: on the clock or, where a profile gives no more of it than that, of the processors.
 */
gboolean ran_is_timeout (const struct ran *ran);

/* Takes REQUEST and runs it to its end. FALSE when there is nothing more for the handler to do: what was no
 * run of the code (nobody had room for it, it was cancelled, somebody has to say yes first, a fault of
 * Adder's or of the input) is answered as error_reply, whatever the tool. */
gboolean call_run (struct call *call, AdderRequest *request, struct ran *ret_ran);

/* Its two halves, for handlers that want a run's events: the next one, which the caller of the tool is told
 * of as well; FALSE when it is the result, which is this caller's. Then what came of it; takes RESULT. */
gboolean call_next (struct call *call, AdderRun *run, AdderEvent *event);
gboolean call_take_result (struct call *call, AdderResult *result, struct ran *ret_ran);

/* A member of the result's error, "" where there is none. */
const char *ran_error (const struct ran *ran, const char *member);
const char *ran_text (const struct ran *ran, const char *member);

/* Why code was refused, in lines: each violation with its hint, or the one sentence that there is. The
 * caller's. */
char *ran_refusal (const struct ran *ran);

/* What to do about it, in lines: what the sandbox refused, with hints, or the error's own hint. The caller's.
 */
char *ran_advice (const struct ran *ran);

/* What a plain interpreter would have written on standard error: what the code wrote, then the traceback, or
 * in one line what else ended it. The caller's. */
char *ran_stderr (const struct ran *ran);

/* ---- work that is no run (progress.c) ---- */

/* Tells the caller how far the call is: TEXT is a line for people, "3 of 10 providers, 812 rows"; OF 0:
 * nobody knows how much there is. Costs next to nothing and may be called at any rate: what follows too soon
 * on another is left out, unless another hundredth is done. */
void call_progress (struct call *call, const char *text, gint64 done, gint64 of);

/* Can be read once the caller hung up or had enough, and from then on. The call's; -1: they cannot, or the
 * process has no more descriptors. A run that comes after that needs adder_request_set_watch (request, -1).
 */
int call_cancel_fd (struct call *call);

/* Releases what the two needed. */
void call_progress_clear (struct call *call);

/* ---- replies ---- */

/* Takes VALUE, which gets the member "run_id" of RAN (NULL: null). */
void call_reply (struct call *call, json_t *value, const struct ran *ran);

/* VALUE, which is taken, or PROBLEM where it is NULL. */
void call_reply_value (struct call *call, json_t *value, const GError *problem);

/* The same for what a library's function answers as JSON text, which is taken; NULL: PROBLEM is the reply. */
void call_reply_text (struct call *call, char *text, const GError *problem);

/* error_reply. */
void call_fail (struct call *call, const GError *problem);
