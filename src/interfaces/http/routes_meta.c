/* SPDX-License-Identifier: Apache-2.0 */
/* Routes about the server itself. */
#include <string.h>

#include "cluster/cluster.h"
#include "common/json.h"
#include "interfaces/http/http_private.h"
#include "library/library.h"
#include "store/store.h"

static const struct field health_fields[] = {
    {.name = "status", .types = FIELD_TEXT, .pattern = "^ok$", .text = "`ok`."},
    FIELD_END ("Health"),
};
static const struct field *const health_replies[] = {health_fields, NULL};

static const struct field ready_fields[] = {
    {.name = "status", .types = FIELD_TEXT, .pattern = "^ready$", .text = "`ready`."},
    FIELD_END ("Readiness"),
};
static const struct field *const ready_replies[] = {ready_fields, NULL};

static void
get_health (struct http_request *request)
{
  http_reply_json (request, 200, json_pack ("{s:s}", "status", "ok"));
}

/* The engine's serving pools, as in its status. */
static gboolean
is_serving (AdderEngine *engine)
{
  g_autoptr (json_t) status = library_status (engine);
  const json_t *pools = json_object_get (status, "pools");
  gsize i;
  json_t *pool;
  json_array_foreach (pools, i, pool)
  {
    if (json_integer_value (json_object_get (pool, "parked")) > 0 ||
        json_integer_value (json_object_get (pool, "running")) > 0)
      return TRUE;
  }
  return FALSE;
}

/* Of a gateway: whether a node serves. */
static gboolean
is_cluster_serving (struct cluster *cluster)
{
  g_autoptr (json_t) list = cluster_list (cluster);
  gsize i;
  json_t *node;
  json_array_foreach (json_object_get (list, "nodes"), i, node)
  {
    if (!json_is_true (json_object_get (node, "gateway")) &&
        strcmp (json_member_text (node, "state"), "serving") == 0)
      return TRUE;
  }
  return FALSE;
}

static void
get_ready (struct http_request *request)
{
  struct service *service = http_service (request);
  g_autoptr (GError) away = NULL;
  g_mutex_lock (&service->lock);
  gboolean ending = service->ending;
  g_mutex_unlock (&service->lock);
  gboolean gateway = service->config->cluster_gateway && service->engine->cluster;
  if (ending)
    http_reply_fault (request, 503, "the daemon is ending");
  else if (service_is_draining (service))
    http_reply_fault (request, 503, "this node is draining");
  else if (gateway && !is_cluster_serving (service->engine->cluster))
    http_reply_fault (request, 503, "no node of the cluster serves");
  else if (!gateway && !is_serving (service->engine))
    http_reply_fault (request, 503, "no sandbox is ready yet");
  else if (!store_is_reachable (service->engine->store, &away))
    http_reply_problem_status (request, 503, away);
  else
    http_reply_json (request, 200, json_pack ("{s:s}", "status", "ready"));
}

static void
get_openapi (struct http_request *request)
{
  const char *text = http_server_openapi (http_server_of (request));
  http_reply_text (request, 200, g_strdup (text), NULL);
}

static void
get_metrics (struct http_request *request)
{
  g_autofree char *text = metrics_text (http_service (request));
  http_reply_bytes (request, 200, "text/plain; version=0.0.4; charset=utf-8", text, strlen (text));
}

const struct http_route http_routes_meta[] = {
    {
        .method = "GET",
        .path = "/healthz",
        .operation = "getHealth",
        .tag = "server",
        .title = "Whether the server answers",
        .text = "For a watchdog: the daemon runs and answers.",
        .flags = HTTP_OPEN,
        .replies = health_replies,
        .status = 200,
        .handle = get_health,
    },
    {
        .method = "GET",
        .path = "/readyz",
        .operation = "getReady",
        .tag = "server",
        .title = "Whether runs would begin at once",
        .text = "For a load balancer: a sandbox is parked, where records and files are kept answers, and the "
                "daemon is not ending. 503 otherwise.",
        .flags = HTTP_OPEN,
        .replies = ready_replies,
        .status = 200,
        .handle = get_ready,
    },
    {
        .method = "GET",
        .path = "/metrics",
        .operation = "getMetrics",
        .tag = "server",
        .title = "Numbers for Prometheus",
        .text = "Runs by outcome, how long they took, pools, sessions, memory, denials, requests; in the "
                "text format "
                "0.0.4. Nothing in it names an owner.",
        .role = ROLE_ADMIN,
        .status = 200,
        .reply_type = "text/plain",
        .handle = get_metrics,
    },
    {
        .method = "GET",
        .path = "/openapi.json",
        .operation = "getOpenapi",
        .tag = "server",
        .title = "This description",
        .text = "OpenAPI 3.1 of all that can be asked for here.",
        .flags = HTTP_OPEN,
        .status = 200,
        .handle = get_openapi,
    },
    {0},
};
