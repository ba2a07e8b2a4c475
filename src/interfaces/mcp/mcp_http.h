/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over HTTP: one endpoint for both eras. */
#pragma once

#include "interfaces/mcp/mcp.h"

struct mcp_http;

/* The endpoint's state: legacy sessions, threads. SERVER must outlive it. */
struct mcp_http *mcp_http_new (struct mcp_server *server);
/* Ends sessions and waits for active requests; after the HTTP server. NULL is allowed. */
void mcp_http_free (struct mcp_http *http);

/* Hangs up on the client of REQUEST, who reconnects for the rest: legacy only, if the stream can be resumed.
 * FALSE: it cannot. */
gboolean mcp_http_pause (struct mcp_request *request);
