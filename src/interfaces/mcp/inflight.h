/* SPDX-License-Identifier: Apache-2.0 */
/* Active requests of one connection or session, so that they can be cancelled by id. Each has a socket whose
 * peer hangs up on cancellation: runs and sessions watch it. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct mcp_inflight;

/* At most MOST at once. */
struct mcp_inflight *mcp_inflight_new (guint most);
/* Call when none is active. NULL is allowed. */
void mcp_inflight_free (struct mcp_inflight *inflight);

/* Adds the request ID; LASTS: it ends only when the client ends it. Returns what to watch, the table's until
 * mcp_inflight_remove; -1 at the limit, or if one with that id is active: *RET_TAKEN says which. From any
 * thread, as all of them. */
int mcp_inflight_add (struct mcp_inflight *inflight, const json_t *id, gboolean lasts, gboolean *ret_taken);
void mcp_inflight_remove (struct mcp_inflight *inflight, const json_t *id);
/* An unknown id is ignored. */
void mcp_inflight_cancel (struct mcp_inflight *inflight, const json_t *id);
void mcp_inflight_cancel_all (struct mcp_inflight *inflight);
/* Those that last. */
void mcp_inflight_cancel_lasting (struct mcp_inflight *inflight);
