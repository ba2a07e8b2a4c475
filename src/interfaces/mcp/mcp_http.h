/* SPDX-License-Identifier: Apache-2.0 */
/* MCP over HTTP: one endpoint for both eras. */
#pragma once

#include "interfaces/mcp/mcp.h"

struct mcp_http;

/* What the endpoint keeps: sessions of the legacy era, threads. SERVER must outlive it. */
struct mcp_http *mcp_http_new (struct mcp_server *server);
/* Ends sessions and waits for what is under way; after the HTTP server. NULL is allowed. */
void mcp_http_free (struct mcp_http *http);

/* Hangs up on the client of REQUEST, who comes again for the rest: of the legacy era, where a stream can be
 * taken up again. FALSE: REQUEST has none that can. */
gboolean mcp_http_pause (struct mcp_request *request);
