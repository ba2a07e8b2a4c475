/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that say again what a message of the modern era says, so that those in between can route it
 * without reading it. What they say must be the same: else one who looks at headers alone is deceived. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* A header of the request by its name, or NULL. */
typedef const char *(*mcp_header_get) (gpointer data, const char *name);

/* Holds MESSAGE, a request, against the headers that GET has. MIRRORS: arguments of its tool that have
 * headers, ends with a row without a parameter; NULL: none. FALSE with MCP_HEADER_MISMATCH as *RET_REPLY. A
 * message of the legacy era has no such headers. */
gboolean mcp_headers_check (const struct mcp_message *message, const struct mcp_mirror *mirrors,
                            mcp_header_get get, gpointer data, struct mcp_reply *ret_reply);

/* What VALUE, as it stands in a header, says: blanks around it go, "=?base64?...?=" is decoded. NULL: it is
 * not what it claims to be. The caller's. */
char *mcp_header_decode (const char *value);
