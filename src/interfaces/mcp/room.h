/* SPDX-License-Identifier: Apache-2.0 */
/* The room in a message: clients refuse larger ones than they read at once. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* Bytes of JSON for the result of REQUEST ([mcp] reply_bytes, without its envelope). */
gsize mcp_room (const struct mcp_request *request);

/* How many bytes VALUE (NULL: none) has on the wire. */
gsize mcp_room_of (const json_t *value);

/* Cuts the longest text below VALUE to about half: head and tail, and between them a note to the reader.
 * FALSE: none is long. */
gboolean mcp_room_shorten (json_t *value);
