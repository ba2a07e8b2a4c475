/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/service/cluster_node.h"

#include "common/json.h"
#include "common/log.h"
#include "engine/engine.h"
#include "engine/host/id.h"
#include "engine/pool/pool.h"
#include "engine/session/sessions.h"
#include "library/library.h"

static json_t *
cluster_node_pools (const json_t *status)
{
  json_t *list = json_array ();
  gsize i;
  json_t *pool;
  json_array_foreach (json_object_get (status, "pools"), i, pool)
  {
    json_t *shown = json_object ();
    static const char *const members[] = {"environment", "backend", "parked"};
    for (gsize k = 0; k < G_N_ELEMENTS (members); k++)
      json_object_set (shown, members[k], json_object_get (pool, members[k]));
    json_array_append_new (list, shown);
  }
  return list;
}

static const char *
cluster_node_state (struct service *service)
{
  if (service_is_ending (service))
    return "ending";
  return service_is_draining (service) ? "draining" : "serving";
}

static json_t *
cluster_node_describe (gpointer data)
{
  struct service *service = data;
  /* Nothing of the store, which a database that does not answer would delay. */
  g_autoptr (json_t) status = engine_status (service->engine->engine);
  json_t *entry =
      json_pack ("{s:b, s:s, s:o, s:O, s:O, s:O, s:o, s:o}", "gateway", service->config->cluster_gateway,
                 "state", cluster_node_state (service), "pools", cluster_node_pools (status), "running",
                 json_object_get (status, "running"), "waiting", json_object_get (status, "waiting"),
                 "sessions", json_object_get (json_object_get (status, "sessions"), "live"), "guests",
                 sessions_guests (service->engine->engine->sessions), "owners",
                 sessions_owners (service->engine->engine->sessions));
  return entry;
}

/* A user of another machine may be somebody else, with the same number. */
static guint
cluster_node_elsewhere (gpointer data, const char *owner)
{
  return g_str_has_prefix (owner, "uid:") ? 0 : cluster_count_sessions (data, owner);
}

static void
cluster_node_announce (gpointer data)
{
  cluster_announce (data);
}

gboolean
cluster_node_join (struct service *service, struct cluster **ret_cluster, GError **error)
{
  const struct cluster_options options = {
      .config = service->config,
      .node = store_node (service->engine->store),
      .describe = cluster_node_describe,
      .tagged = id_set_node,
      .data = service,
  };
  *ret_cluster = NULL;
  if (!service->config->cluster_nats && service->config->cluster_gateway) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                         "a gateway needs a cluster: [cluster] nats in adder.conf names its servers");
    return FALSE;
  }
  if (!service->config->cluster_nats)
    return TRUE;
  if (!store_is_shared (service->config))
    log_warning (
        "cluster: [store] records is not in PostgreSQL: records, tokens and results are each node's own");
  *ret_cluster = cluster_new (&options, error);
  service->engine->cluster = *ret_cluster;
  if (*ret_cluster)
    sessions_set_elsewhere (
        service->engine->engine->sessions,
        &(struct sessions_elsewhere){cluster_node_elsewhere, cluster_node_announce, *ret_cluster});
  if (service->config->cluster_gateway)
    pools_refuse (service->engine->engine->pools, ADDER_ERROR_UNSUPPORTED,
                  "this daemon is a gateway, which runs nothing itself: ask it over HTTP (adder --url)", 0);
  return *ret_cluster != NULL;
}

void
cluster_node_leave (struct service *service, struct cluster *cluster)
{
  service->engine->cluster = NULL;
  sessions_set_elsewhere (service->engine->engine->sessions, &(struct sessions_elsewhere){0});
  cluster_free (cluster);
}
