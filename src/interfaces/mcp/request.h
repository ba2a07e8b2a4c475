/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the MCP code about requests, beside mcp.h. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* "debug" ... "emergency". FALSE where TEXT (may be NULL) is none of them. */
gboolean mcp_level_parse (const char *text, enum mcp_level *ret_level);
const char *mcp_level_name (enum mcp_level level);

/* The HTTP status for an error code, if ERA's request reached its handler. */
int mcp_status_of (enum mcp_era era, int code);

/* The complete response to REQUEST, from its result or error; NULL to send nothing. */
void mcp_request_finish (struct mcp_request *request, struct mcp_reply *ret_reply);
