/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the MCP code share about requests, beside mcp.h. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* "debug" ... "emergency". FALSE where TEXT (may be NULL) is none of them. */
gboolean mcp_level_parse (const char *text, enum mcp_level *ret_level);
const char *mcp_level_name (enum mcp_level level);

/* What an error's code is answered with on HTTP, where ERA's request came to its handler. */
int mcp_status_of (enum mcp_era era, int code);

/* The response to REQUEST, of its result or error, complete; NULL where nothing is to be sent. */
void mcp_request_finish (struct mcp_request *request, struct mcp_reply *ret_reply);
