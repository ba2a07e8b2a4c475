/* SPDX-License-Identifier: Apache-2.0 */
/* What a model is told of the environment that a tool's code runs in. */
#pragma once

#include "common/config.h"
#include "tools/table.h"

/* The description of TOOL of TOOLSET for a caller whose own interpreter is PYTHON (NULL: they have none). Of
 * a tool that runs in that (TOOL_OWN_ENVIRONMENT) it ends with the packages that are installed there, or with
 * why it cannot be used. The caller's. */
char *installed_describe (const struct toolset *toolset, const struct tool *tool, const struct config *config,
                          const char *python);
