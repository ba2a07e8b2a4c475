/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: the host's facts, the pools, and the runs that use them. Shared by the program that made it and
 * by each run; it may be used from any number of threads. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/news.h"
#include "engine/host.h"
#include "engine/pool.h"
#include "engine/result.h"
#include "engine/totals.h"

struct engine {
  gatomicrefcount references;
  struct host *host;
  struct pools *pools;
  struct sessions *sessions;
  struct proxy *proxy;
  struct news *news; /* of sessions and files */
  gint64 started_us;
  struct totals totals;
};

/* CONFIG becomes the engine's, also on failure. */
struct engine *engine_new (struct config *config, GError **error);
struct engine *engine_ref (struct engine *engine);
void engine_unref (struct engine *engine);

/* Ends every session, sandbox and zygote and waits for them. Runs under way end as cancelled; what they hold
 * goes with them. */
void engine_close (struct engine *engine);

/* Waits until a sandbox of ENVIRONMENT (NULL: the configured one) is parked. */
gboolean engine_warm (struct engine *engine, const char *environment, GError **error);

json_t *engine_status (struct engine *engine);

/* To be called by `adder serve`, before it makes an engine: the process is Adder's own. It may be moved into
 * another control group so that groups of sandboxes can be made beside it (cgroup v2), takes as many
 * descriptors as it may have, and says how the C library keeps memory. A library in somebody's process may
 * not. */
void engine_own_process (void);
gboolean engine_owns_process (void);
