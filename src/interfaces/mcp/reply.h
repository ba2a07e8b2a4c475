/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's reply as a result of MCP. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* REPLY on the wire, as the client of REQUEST takes it (output.h): structuredContent that fits the tool's
 * outputSchema; a text with the same information for a model; pictures as images, files and long output as
 * links. The caller's. */
json_t *mcp_reply_result (const struct mcp_request *request, const struct tool_reply *reply);

/* The text alone. The caller's. */
char *mcp_reply_text (const json_t *value);
