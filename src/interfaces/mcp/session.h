/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the client of a legacy session. */
#pragma once

#include "interfaces/mcp/mcp.h"

/* Sends METHOD with PARAMS (taken; may be NULL) on the stream of REQUEST, which has a session, and waits for
 * the client's answer, at most WAIT_MS, or until it is gone. The result, the caller's; or NULL:
 * ADDER_ERROR_REFUSED if the answer was an error. */
json_t *mcp_session_ask (struct mcp_request *request, const char *method, json_t *params, guint64 wait_ms,
                         GError **error);
