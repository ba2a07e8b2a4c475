/* SPDX-License-Identifier: Apache-2.0 */
/* Which era a message belongs to, and what it says of its client. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* Whether VERSION is a supported legacy version. The table's own text, or NULL. */
const char *era_legacy_version (const char *version);

/* ["2026-07-28"]: what server/discover and MCP_UNSUPPORTED_VERSION name. The caller's. */
json_t *era_versions (void);

/* Fills in what REQUEST's params._meta, SESSION and HEADER (of HTTP; may be NULL) say: era, version, the
 * client's capabilities. FALSE with an error (not yet owned by anybody) if a request has no era, or an
 * unsupported one. A notification is never refused. */
gboolean era_decide (struct mcp_request *request, const char *method, const char *header,
                     struct mcp_reply *ret_reply);
