/* SPDX-License-Identifier: Apache-2.0 */
/* What all interfaces of one daemon share: the engine, the tools, what is under way, and whether it is
 * ending. */
#pragma once

#include <glib.h>

#include "adder.h"
#include "common/config.h"
#include "common/guarded.h"
#include "interfaces/service/metrics.h"
#include "operations/operation.h"
#include "tools/tools.h"

struct mcp_server;
struct cluster_handover;

LOCK_CLASS (service);

struct service {
  AdderEngine *engine;
  struct tools *tools;
  const struct config *config; /* the engine's */
  struct metrics *metrics;
  struct mcp_server *mcp; /* who made the service makes it, and frees it before */

  MUTEX (service) lock;
  GUARDED_BY (service) guint running;
  GCond idle;                         /* told when it is 0 */
  GUARDED_BY (service) guint64 works; /* since the start */
  GUARDED_BY (service) gboolean ending;
  GUARDED_BY (service) gint64 drains_us, drained_us;      /* from when to when it drains, monotonic; 0: not */
  GUARDED_BY (service) gint64 kept_until_us;              /* monotonic */
  GUARDED_BY (service) struct cluster_handover *handover; /* while it drains; or NULL */
};

/* ENGINE must outlive it. */
struct service *service_new (AdderEngine *engine);
/* When nothing is under way any more. NULL is allowed. */
void service_free (struct service *service);

/* Counts a run or a call in. ADDER_ERROR_BUSY when the daemon is ending: nothing was done, and the caller may
 * go to the next one. */
gboolean service_begin (struct service *service, GError **error);
void service_end (struct service *service);

/* The same for OPERATION, which is counted where it runs code. */
gboolean service_begin_operation (struct service *service, const struct operation *operation, GError **error);
void service_end_operation (struct service *service, const struct operation *operation);

/* From now on nothing begins. */
void service_set_ending (struct service *service);
gboolean service_is_ending (struct service *service);

/* No new work begins, within a second, in which what others have just sent here is still taken; after
 * WAIT_MS, or once nothing is under way, service_drain_is_over. A later call can only shorten the wait. */
void service_drain (struct service *service, guint64 wait_ms);
gboolean service_is_draining (struct service *service);
gboolean service_drain_is_over (struct service *service);

/* What would be lost with the daemon: sessions that live, approvals that wait or are not used yet. */
struct service_holding {
  guint sessions, approvals;
};
struct service_holding service_holding (struct service *service);

/* What is kept in memory for a caller to come back to is kept for MS more. */
void service_keep_ms (struct service *service, guint64 ms);

/* Whether anything runs or lives that a daemon without connections must not end for: all of it expires. */
gboolean service_is_kept (struct service *service);
