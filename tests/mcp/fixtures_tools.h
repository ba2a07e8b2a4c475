/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the provider that are about tools. */
#pragma once

#include "fixtures.h"

json_t *fixture_list_tools (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor);
gboolean fixture_call_tool (struct mcp_request *request, const char *name, json_t *arguments);
enum mcp_tasking fixture_tasking (struct mcp_request *request, const char *name);
const struct mcp_mirror *fixture_mirrors (const char *name);
