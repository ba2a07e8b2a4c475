/* SPDX-License-Identifier: Apache-2.0 */
/* What a client is told while a tool runs code. */
#pragma once

#include "common/guarded.h"
#include "interfaces/mcp/mcp.h"

LOCK_CLASS (mcp_watched);

struct mcp_watched {
  struct mcp_request *request;
  gint64 started_us;
  gint64 filled_us; /* when the allowance was last updated */
  double allowance; /* messages that may be sent now */
  GString *unsent;  /* NULL: not requested */
  GThread *pulse;   /* reports that the call is still active, when nothing else does; or NULL */
  MUTEX (mcp_watched) lock;
  GCond ended_cond;
  GUARDED_BY (mcp_watched) gboolean ended;
  GUARDED_BY (mcp_watched) gint64 told_us; /* when something was last sent */
  GUARDED_BY (mcp_watched) gint64 told_ms; /* and its progress value */
};

/* Reports CALLER's runs as progress of REQUEST, until mcp_progress_end. The caller keeps WATCHED. */
void mcp_progress_watch (struct mcp_watched *watched, struct mcp_request *request,
                         struct tool_caller *caller);
void mcp_progress_end (struct mcp_watched *watched);
