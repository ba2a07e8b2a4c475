/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: calls that go on when their request was answered. They belong to an owner, have bounds ([mcp] of the
 * configuration), and live in memory: for as long as the daemon does, and some time after they ended. May be
 * used from any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "interfaces/mcp/mcp.h"

struct task_table;
struct task;

/* Told that a task changed; must not wait, nor ask about tasks. */
typedef void (*task_changed) (gpointer data, const char *owner, const char *id);

/* CONFIG must outlive it. */
struct task_table *task_table_new (const struct config *config, task_changed changed, gpointer data);
/* When nobody holds a task any more. */
void task_table_free (struct task_table *table);

/* A task of OWNER that works. CANCEL_FD, a socket that is taken, is shut down when the task is cancelled.
 * ADDER_ERROR_BUSY where there is no room, and nothing was taken. The caller holds it until task_end. */
struct task *task_new (struct task_table *table, const char *owner, int cancel_fd, GError **error);
const char *task_id (const struct task *task);
/* What a call is answered with that became TASK, without the result's type. The caller's. */
json_t *task_describe (struct task *task);

/* How it goes, in words: of the first line, the beginning. */
void task_say (struct task *task, const char *text);
/* Asks through TASK for COUNT things, and waits for them, at most WAIT_MS. Answers are TASK's. */
gboolean task_ask (struct task *task, struct mcp_ask *asks, gsize count, guint64 wait_ms, GError **error);
/* It ended with RESULT or with ERROR, of which one is taken; where it was cancelled, they count for nothing.
 * The caller holds it no more. */
void task_end (struct task *task, json_t *result, json_t *error);

/* All that there is to say of the task ID of OWNER; NULL: there is none. The caller's. */
json_t *task_show (struct task_table *table, const char *owner, const char *id);
/* Takes in what ANSWERS, an object, has of what the task waits for. ADDER_ERROR_NOT_FOUND, and
 * ADDER_ERROR_INVALID for an answer that is none: those that are, count. */
gboolean task_update (struct task_table *table, const char *owner, const char *id, const json_t *answers,
                      GError **error);
/* Ends it as cancelled. FALSE: there is none. One that has ended stays as it is. */
gboolean task_cancel (struct task_table *table, const char *owner, const char *id);
void task_cancel_all (struct task_table *table);
