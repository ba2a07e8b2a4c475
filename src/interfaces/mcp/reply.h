/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's reply as a result of MCP. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* What REPLY is on the wire, as the client of REQUEST takes it (output.h): structuredContent, which fits the
 * tool's outputSchema; a text that says the same to a model; pictures as images, files and long output as
 * links. The caller's. */
json_t *mcp_reply_result (const struct mcp_request *request, const struct tool_reply *reply);

/* The text alone. The caller's. */
char *mcp_reply_text (const json_t *value);
