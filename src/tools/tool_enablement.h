/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that are switched off or on, without a restart: tools.conf in the configuration folder, read at most
 * once a second. One group, names as TOOLSET.TOOL; `enabled` is for tools that are off by default:
 *
 *     [tools]
 *     disabled = compute.compute_with_python assistant.run_python
 *     enabled = compute.compute_with_javascript */
#pragma once

#include <glib.h>

#include "tools/table.h"

struct tool_enablement;

struct tool_enablement *tool_enablement_new (void);
void tool_enablement_free (struct tool_enablement *enablement);

/* Whether the tool can be used. An unreadable file switches everything off, and ERROR says so; a tool that is
 * off is ADDER_ERROR_REFUSED. May be called from any thread. */
gboolean tool_enablement_is_on (struct tool_enablement *enablement, const struct toolset *toolset,
                                const struct tool *tool, GError **error);

/* The next query rereads the file, however recent its last reading. */
void tool_enablement_reread (struct tool_enablement *enablement);

/* Rewrites the file, with the tool on or off. Of two simultaneous writers the later one wins. */
gboolean tool_enablement_set (const struct toolset *toolset, const struct tool *tool, gboolean on,
                              GError **error);
