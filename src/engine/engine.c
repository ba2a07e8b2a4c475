/* SPDX-License-Identifier: Apache-2.0 */
/* The engine. */
#include "engine/engine.h"

#include "adder_types.h"
#include "build-config.h"
#include "common/config.h"
#include "common/notifications.h"
#include "engine/host/environment.h"
#include "engine/host/host.h"
#include "engine/network/proxy.h"
#include "engine/pool/pool.h"
#include "engine/session/sessions.h"

struct engine *
engine_new (struct config *config, GError **error)
{
  struct host *host = host_new (config, error);
  if (!host)
    return NULL;
  struct engine *engine = g_new0 (struct engine, 1);
  g_atomic_ref_count_init (&engine->references);
  engine->host = host;
  engine->proxy = proxy_new (host, error);
  engine->notifications = notifications_new ();
  engine->sessions = engine->proxy ? sessions_new (host, engine->notifications, error) : NULL;
  if (!engine->sessions) {
    proxy_free (engine->proxy);
    notifications_unref (engine->notifications);
    host_free (host);
    g_free (engine);
    return NULL;
  }
  engine->pools = pools_new (host);
  engine->started_us = g_get_monotonic_time ();
  return engine;
}

struct engine *
engine_ref (struct engine *engine)
{
  g_atomic_ref_count_inc (&engine->references);
  return engine;
}

void
engine_unref (struct engine *engine)
{
  if (!engine || !g_atomic_ref_count_dec (&engine->references))
    return;
  sessions_free (engine->sessions);
  pools_free (engine->pools);
  proxy_free (engine->proxy);
  notifications_unref (engine->notifications);
  host_free (engine->host);
  g_free (engine);
}

void
engine_close (struct engine *engine)
{
  sessions_close (engine->sessions);
  pools_close (engine->pools);
}

gboolean
engine_warm (struct engine *engine, const char *environment, GError **error)
{
  /* Nothing is made ready that no run could use. */
  if (!host_check (engine->host, ISOLATION_AUTO, host_least_level (engine->host, ISOLATION_AUTO), error))
    return FALSE;
  struct pool *pool =
      pools_get (engine->pools, environment ? environment : environment_default (engine->host->config),
                 ISOLATION_AUTO, NETWORK_NONE, NULL, error);
  gboolean warm = pool && pool_warm (pool, error);
  pools_put (pool);
  return warm;
}

/* ---- status ---- */

json_t *
engine_status (struct engine *engine)
{
  static const char *const modes[] = {[CGROUP_NONE] = "none", [CGROUP_V1] = "v1", [CGROUP_V2] = "v2"};
  const struct host *host = engine->host;
  json_t *status = json_pack ("{s:s, s:I, s:s, s:s?, s:i}", "version", ADDER_VERSION, "uptime_ms",
                              (json_int_t)((g_get_monotonic_time () - engine->started_us) / 1000), "cgroup",
                              modes[host->cgroups ? cgroup_node_mode (host->cgroups) : CGROUP_NONE],
                              "cgroup_reason", host->cgroup_reason, "cpus", (int)host->cpus);
  json_t *pools = pools_status (engine->pools);
  json_object_update (status, pools);
  json_decref (pools);
  json_object_set_new (status, "sessions", sessions_status (engine->sessions));
  json_object_set_new (status, "runs", totals_outcomes (&engine->totals));
  json_object_set_new (status, "totals", totals_to_json (&engine->totals));
  return status;
}
