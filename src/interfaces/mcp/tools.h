/* SPDX-License-Identifier: Apache-2.0 */
/* The tool table as a provider. */
#pragma once

#include "interfaces/mcp/mcp.h"

extern const struct mcp_provider mcp_provider_tools;

/* The toolset whose tools REQUEST's caller sees. */
const struct toolset *mcp_toolset (const struct mcp_request *request);

/* That toolset's description as a whole for a model. The caller's. */
char *mcp_tools_prompt (struct mcp_request *request);
