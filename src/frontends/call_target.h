/* SPDX-License-Identifier: Apache-2.0 */
/* Where the calls of tools go: a daemon, or an engine in this very process. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/tools.h"

struct call_target;

/* A daemon is found, or started, by the first call; with NO_DAEMON the engine is made now. NULL with ERROR.
 */
struct call_target *call_target_new (gboolean no_daemon, GError **error);
/* NULL is allowed. */
void call_target_free (struct call_target *target);

/* Carries out QUESTION (server_tools.h), which comes with the descriptor DIRECTORY_FD (-1: none). The answer
 * is the caller's. */
json_t *call_target_call (struct call_target *target, const json_t *question, int directory_fd,
                          GError **error);

/* From any thread: ends the call under way, and those that follow, as ADDER_ERROR_CANCELLED, until
 * call_target_resume. */
void call_target_cancel (struct call_target *target);
void call_target_resume (struct call_target *target);

/* From any thread: the call under way ends with what it has, and its answer still comes; one that cannot ends
 * as cancelled, by its reply. */
void call_target_interrupt (struct call_target *target);

/* From now on SAW (NULL: nobody) is told how far calls are, in their thread. */
void call_target_watch (struct call_target *target,
                        void (*saw) (gpointer data, const struct tool_progress *progress), gpointer data);

/* Asks about what is kept (server_store.h), with COUNT descriptors, which stay the caller's. *RET_FD (may be
 * NULL): the descriptor that comes with the answer, the caller's, or -1. The answer is the caller's. */
json_t *call_target_ask_store (struct call_target *target, const json_t *question, const int *fds,
                               gsize count, int *ret_fd, GError **error);

/* Asks about approvals (server_approval.h); fits struct approval_way. */
json_t *call_target_ask (gpointer data, const json_t *question, GError **error);
