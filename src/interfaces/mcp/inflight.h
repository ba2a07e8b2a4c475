/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are under way on one connection, or in one session, so that they can be cancelled by their
 * ids. Each has a socket whose peer hangs up when it is cancelled: what runs and sessions watch. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct mcp_inflight;

/* At most MOST at once. */
struct mcp_inflight *mcp_inflight_new (guint most);
/* When none is under way any more. NULL is allowed. */
void mcp_inflight_free (struct mcp_inflight *inflight);

/* Counts the request ID in; LASTS: it ends only when the client ends it. Returns what to watch, which is the
 * table's until mcp_inflight_remove; -1 where there are as many as may be, or one with that id is under way:
 * *RET_TAKEN says which. From any thread, as all of them. */
int mcp_inflight_add (struct mcp_inflight *inflight, const json_t *id, gboolean lasts, gboolean *ret_taken);
void mcp_inflight_remove (struct mcp_inflight *inflight, const json_t *id);
/* One that is not there is none of anybody's business. */
void mcp_inflight_cancel (struct mcp_inflight *inflight, const json_t *id);
void mcp_inflight_cancel_all (struct mcp_inflight *inflight);
/* Those that last. */
void mcp_inflight_cancel_lasting (struct mcp_inflight *inflight);
