/* SPDX-License-Identifier: Apache-2.0 */
/* The server, for the other parts of the MCP code. */
#pragma once

#include "interfaces/mcp/mcp.h"

struct mcp_server {
  struct service *service;
  struct mcp_memory *memory; /* inputs, tasks, subscriptions */
  GPtrArray *providers;      /* of const struct mcp_provider */
  struct mcp_http *http;
};

/* The row of METHOD in ERA, a notification's or a request's, or NULL. */
const struct mcp_method *server_find_method (const char *method, enum mcp_era era, gboolean notice);

/* {"name", "version"}, and with TITLED its title for people. The caller's. */
json_t *server_info (gboolean titled);

/* The lifetime and audience of RESULT, if it does not state them. */
void server_add_cache_hints (struct mcp_server *server, json_t *result);

/* Those of all providers, for REQUEST's era. The caller's. */
json_t *server_capabilities (struct mcp_request *request);

/* The description of the server as a whole for a model. The caller's. */
char *server_instructions (struct mcp_request *request);

/* ---- handlers (methods.c) ---- */

void method_initialize (struct mcp_request *request);
void method_initialized (struct mcp_request *request);
void method_discover (struct mcp_request *request);
void method_ping (struct mcp_request *request);
void method_set_level (struct mcp_request *request);
void method_ignore (struct mcp_request *request);
void method_list_tools (struct mcp_request *request);
void method_list_resources (struct mcp_request *request);
void method_list_templates (struct mcp_request *request);
void method_list_prompts (struct mcp_request *request);
void method_call_tool (struct mcp_request *request);
void method_read_resource (struct mcp_request *request);
void method_get_prompt (struct mcp_request *request);
void method_complete (struct mcp_request *request);
