/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a tool's code, described for a model. */
#pragma once

#include "common/config.h"
#include "tools/table.h"

/* The description of TOOL of TOOLSET for a caller whose own interpreter is PYTHON (NULL: none). If the tool
 * runs in that (TOOL_OWN_ENVIRONMENT), it ends with the packages installed there, or the reason why it is
 * unusable. The caller's. */
char *installed_describe (const struct toolset *toolset, const struct tool *tool, const struct config *config,
                          const char *python);
