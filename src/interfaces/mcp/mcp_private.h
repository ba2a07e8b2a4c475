/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of an MCP server. */
#pragma once

#include "interfaces/mcp/mcp.h"

struct mcp_memory;

/* Of SERVER, and freed before it. */
struct mcp_memory *mcp_memory_new (struct mcp_server *server, struct service *service);
/* Ends listeners and tasks, and waits for them. NULL is allowed. */
void mcp_memory_free (struct mcp_memory *memory);

/* ---- from the core, for them (server.c) ---- */

struct mcp_memory *mcp_server_memory (struct mcp_server *server);
/* The providers' tasking, in turn. */
enum mcp_tasking mcp_server_tasking (struct mcp_request *request, const char *name);

/* ---- inputs (input.c) ---- */

/* Reads the state that REQUEST carries from the previous try. FALSE: it is not ours; a reply was made. */
gboolean mcp_input_begin (struct mcp_request *request);
/* Frees it. */
void mcp_input_end (struct mcp_request *request);

/* mcp_input with problems in ERROR instead of a reply: MCP_INPUT_LATER without ERROR means that a reply was
 * made. */
enum mcp_input mcp_input_try (struct mcp_request *request, struct mcp_ask *asks, gsize count, json_t *state,
                              GError **error);

/* ---- approvals (approvals.c) ---- */

/* tools_call, with approvals requested through the client if possible. FALSE: a reply to REQUEST was made,
 * and there is no RET_REPLY. */
gboolean mcp_approved_call (struct mcp_request *request, const char *toolset, const char *name,
                            const json_t *arguments, const struct tool_caller *caller,
                            struct tool_reply *ret_reply);

/* ---- tasks (tasks.c) ---- */

/* tools/call: carries out NAME, in this thread or in one of its own, and replies with its result or with a
 * task. */
void mcp_tasks_call (struct mcp_request *request, const char *name, json_t *arguments);
void mcp_tasks_get (struct mcp_request *request);
void mcp_tasks_update (struct mcp_request *request);
void mcp_tasks_cancel (struct mcp_request *request);

/* ---- subscriptions (subscriptions.c) ---- */

void mcp_subscriptions_listen (struct mcp_request *request);
void mcp_resources_subscribe (struct mcp_request *request);
void mcp_resources_unsubscribe (struct mcp_request *request);
/* Notifies REQUEST's session of changes from now on, until mcp_subscriptions_leave. */
void mcp_subscriptions_join (struct mcp_request *request);
void mcp_subscriptions_leave (struct mcp_session *session);
/* Notifies REQUEST's session of the changes so far. Version 1 clients of the official Python SDK that close a
 * connection after their reply fail when something else arrives then. */
void mcp_subscriptions_settle (struct mcp_request *request);

/* ---- built in, beside the tools ---- */

extern const struct mcp_provider mcp_provider_resources, mcp_provider_files, mcp_provider_prompts,
    mcp_provider_memory;
