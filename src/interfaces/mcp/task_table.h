/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: calls that continue after their request was answered. They belong to an owner, have bounds ([mcp] of
 * the configuration), and live in memory: as long as the daemon, and for some time after their end. May be
 * used from any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "interfaces/mcp/mcp.h"

struct task_table;
struct task;

/* A task changed; must not wait, nor ask about tasks. */
typedef void (*task_changed) (gpointer data, const char *owner, const char *id);

/* CONFIG must outlive it. */
struct task_table *task_table_new (const struct config *config, task_changed changed, gpointer data);
/* Call when nobody holds a task. */
void task_table_free (struct task_table *table);

/* A task of OWNER that works. CANCEL_FD, a socket that is taken, is shut down when the task is cancelled.
 * ADDER_ERROR_BUSY without room, and then nothing was taken. The caller holds it until task_end. */
struct task *task_new (struct task_table *table, const char *owner, int cancel_fd, GError **error);
const char *task_id (const struct task *task);
/* The answer to a call that became TASK, without the result's type. The caller's. */
json_t *task_describe (struct task *task);

/* Its progress in words: the beginning of the first line. */
void task_say (struct task *task, const char *text);
/* Asks through TASK for COUNT things, and waits for the answers, at most WAIT_MS. Answers are TASK's. */
gboolean task_ask (struct task *task, struct mcp_ask *asks, gsize count, guint64 wait_ms, GError **error);
/* It ended with RESULT or with ERROR, of which one is taken; if it was cancelled, they are ignored. The
 * caller no longer holds it. */
void task_end (struct task *task, json_t *result, json_t *error);

/* The description of the task ID of OWNER; NULL: there is none. The caller's. */
json_t *task_show (struct task_table *table, const char *owner, const char *id);
/* Takes those members of ANSWERS, an object, that the task waits for. ADDER_ERROR_NOT_FOUND, and
 * ADDER_ERROR_INVALID for an invalid answer: the valid ones count. */
gboolean task_update (struct task_table *table, const char *owner, const char *id, const json_t *answers,
                      GError **error);
/* Ends it as cancelled. FALSE: not found. A finished one stays as it is. */
gboolean task_cancel (struct task_table *table, const char *owner, const char *id);
void task_cancel_all (struct task_table *table);
