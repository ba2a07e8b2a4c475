/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one server's inputs, tasks and subscriptions. */
#pragma once

#include "interfaces/mcp/mcp_private.h"
#include "interfaces/mcp/state.h"

struct mcp_tasks;
struct mcp_subscriptions;

struct mcp_memory {
  struct mcp_server *server;
  struct service *service;
  const struct config *config;
  struct mcp_state_key key; /* of request states */
  struct mcp_tasks *tasks;
  struct mcp_subscriptions *subscriptions;
};

/* ---- tasks.c ---- */

struct mcp_tasks *mcp_tasks_new (struct mcp_memory *memory);
void mcp_tasks_free (struct mcp_tasks *tasks);

/* Whether REQUEST runs as a task, so that its client is asked through that. If not, it can no longer become
 * one: its reply asks. */
gboolean mcp_task_hold (struct mcp_request *request);
/* Asks through REQUEST's task and waits; answers are checked. */
gboolean mcp_task_ask (struct mcp_request *request, struct mcp_ask *asks, gsize count, guint64 wait_ms,
                       GError **error);
/* What tasks/get returns for the task ID of OWNER; NULL: there is none. The caller's. */
json_t *mcp_task_show (struct mcp_tasks *tasks, const char *owner, const char *id);

/* ---- subscriptions.c ---- */

struct mcp_subscriptions *mcp_subscriptions_new (struct mcp_memory *memory);
void mcp_subscriptions_free (struct mcp_subscriptions *subscriptions);
/* The task ID of OWNER changed. */
void mcp_subscriptions_task (struct mcp_subscriptions *subscriptions, const char *owner, const char *id);
