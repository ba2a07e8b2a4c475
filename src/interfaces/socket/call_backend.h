/* SPDX-License-Identifier: Apache-2.0 */
/* Where the calls of tools go: a daemon, or an engine in this very process. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "tools/tools.h"

struct call_backend;

/* A daemon is found, or started, by the first call; with NO_DAEMON the engine is made now. NULL with ERROR.
 */
struct call_backend *call_backend_new (gboolean no_daemon, GError **error);
/* NULL is allowed. */
void call_backend_free (struct call_backend *backend);

/* Carries out QUESTION (server_tools.h), which comes with the descriptor DIRECTORY_FD (-1: none). The answer
 * is the caller's. */
json_t *call_backend_call (struct call_backend *backend, const json_t *question, int directory_fd,
                           GError **error);

/* From any thread: ends the call under way, and those that follow, as ADDER_ERROR_CANCELLED, until
 * call_backend_resume. */
void call_backend_cancel (struct call_backend *backend);
void call_backend_resume (struct call_backend *backend);

/* From any thread: the call under way ends with what it has, and its answer still comes; one that cannot ends
 * as cancelled, by its reply. */
void call_backend_interrupt (struct call_backend *backend);

/* From now on SAW (NULL: nobody) is told how far calls are, in their thread. */
void call_backend_watch (struct call_backend *backend,
                         void (*saw) (gpointer data, const struct tool_progress *progress), gpointer data);

/* Does OPERATION (operations/operation.h); PARAMS are taken. The value is the caller's. Fits struct
 * approval_way. */
json_t *call_backend_operation (gpointer data, const char *operation, json_t *params, GError **error);

/* The same with the descriptor FD (-1: none) beside it, which stays the caller's. *RET_FD (may be NULL): the
 * descriptor that comes with the value, the caller's, or -1. */
json_t *call_backend_operation_with (struct call_backend *backend, const char *operation, json_t *params,
                                     int fd, int *ret_fd, GError **error);
