/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that repeat parts of a modern message, so that intermediaries can route it without parsing it. They
 * must match the message, or those that read only headers are deceived. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* A header of the request by its name, or NULL. */
typedef const char *(*mcp_header_get) (gpointer data, const char *name);

/* Compares MESSAGE, a request, with the headers from GET. MIRRORS: arguments of its tool that have headers,
 * ends with a row without a parameter; NULL: none. FALSE with MCP_HEADER_MISMATCH as *RET_REPLY. Legacy
 * messages have no such headers. */
gboolean mcp_headers_check (const struct mcp_message *message, const struct mcp_mirror *mirrors,
                            mcp_header_get get, gpointer data, struct mcp_reply *ret_reply);

/* The meaning of VALUE in a header: surrounding blanks are dropped, "=?base64?...?=" is decoded. NULL:
 * malformed. The caller's. */
char *mcp_header_decode (const char *value);
