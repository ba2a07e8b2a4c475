/* SPDX-License-Identifier: Apache-2.0 */
/* What the conformance suite expects of a server: tools, prompts and resources by the names that it has for
 * them. */
#pragma once

#include "interfaces/mcp/mcp.h"

extern const struct mcp_provider fixture_provider;

/* TEXT, which is JSON, with every {NAME} within its texts replaced by the text that VALUES has for NAME. The
 * caller's. */
json_t *fixture_json (const char *text, const json_t *values);
