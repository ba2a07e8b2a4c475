/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the nodes of a cluster: the daemons that [cluster] nats connects. */
#include <string.h>

#include "cluster/tunnel.h"
#include "common/config.h"
#include "common/json.h"
#include "engine/engine.h"
#include "engine/host/host.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"

/* NULL with ERROR: this daemon is not in one. */
static struct cluster *
cluster_of (const struct operation_call *call, GError **error)
{
  struct cluster *cluster = call->caller->engine->cluster;
  if (!cluster)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "this daemon is in no cluster: [cluster] nats in adder.conf names its servers");
  return cluster;
}

static json_t *
node_list (const struct operation_call *call, GError **error)
{
  struct cluster *cluster = cluster_of (call, error);
  return cluster ? cluster_list (cluster) : NULL;
}

static json_t *
node_show (const struct operation_call *call, GError **error)
{
  struct cluster *cluster = cluster_of (call, error);
  return cluster ? cluster_show (cluster, operation_text (call, "node"), error) : NULL;
}

/* Another node is asked by a request as a gateway passes it on, of the caller, who is an admin. */
static json_t *
node_ask_drain (struct cluster *cluster, const struct operation_call *call, const char *tag, GError **error)
{
  const struct operation_caller *caller = call->caller;
  const json_t *wait = json_object_get (call->params, "wait_ms");
  g_autofree char *target = g_strdup_printf ("/v1/nodes/%s/drain", tag);
  g_autoptr (json_t) asked = json_object ();
  if (json_is_integer (wait))
    json_object_set_new (asked, "wait_ms", json_integer (json_integer_value (wait)));
  g_autofree char *body = json_to_text (asked);
  g_autoptr (json_t) head =
      json_pack ("{s:s, s:s, s:[[s, s]], s:{s:s, s:s}}", "method", "POST", "target", target, "headers",
                 "Content-Type", "application/json", "caller", "role", role_name (caller->role), "owner",
                 caller->owner ? caller->owner : "");
  const struct tunnel_request request = {
      .node = tag, .head = head, .body = body, .length = strlen (body), .watch_fd = caller->watch_fd};
  return tunnel_call (cluster, &request, error);
}

static json_t *
node_drain (const struct operation_call *call, GError **error)
{
  const AdderEngine *engine = call->caller->engine;
  struct cluster *cluster = cluster_of (call, error);
  g_autoptr (json_t) node = cluster ? cluster_show (cluster, operation_text (call, "node"), error) : NULL;
  if (!node)
    return NULL;
  if (!json_is_true (json_object_get (node, "here")))
    return node_ask_drain (cluster, call, json_member_text (node, "tag"), error);
  const json_t *wait = json_object_get (call->params, "wait_ms");
  engine->daemon.drain (engine->daemon.data, json_is_integer (wait)
                                                 ? (guint64)json_integer_value (wait)
                                                 : engine->engine->host->config->cluster_drain_ms);
  json_object_set_new (node, "state", json_string ("draining"));
  return g_steal_pointer (&node);
}

/* ---- the fields ---- */

static const struct field pool_fields[] = {
    TEXT ("environment", "Whose sandboxes these are."),
    TEXT ("backend", "`native`, or the container engine."),
    WHOLE ("parked", "Sandboxes that are ready."),
    {0},
};
static const struct field node_fields[] = {
    TEXT ("node", "Its name, `[store] node`."),
    TEXT ("tag", "Six digits by which the ids that it makes end."),
    TEXT ("instance", "Another one after each start."),
    TEXT ("version", "Of Adder."),
    WHOLE ("protocol", "Of the messages between nodes."),
    TEXT ("started", "When it began, in UTC."),
    FLAG ("gateway", "Whether it only passes requests on, and runs nothing."),
    TEXT ("state",
          "`serving`; `draining`: it takes no new work, and ends after what is under way; `ending`."),
    WHOLE ("running", "Its runs."),
    WHOLE ("waiting", "Runs that wait for a sandbox."),
    WHOLE ("sessions", "Its sessions."),
    TEXTS ("guests", "Ids of those that it took over from nodes that drained."),
    {.name = "owners",
     .types = FIELD_OBJECT,
     .items = FIELD_INTEGER,
     .optional = TRUE,
     .text = "How many sessions each owner has there."},
    LIST ("pools", pool_fields, "Its environments."),
    FLAG ("signed", "Whether it has the secret of this cluster; nodes of earlier versions do not show it."),
    FLAG ("here", "Whether it is the one that answers."),
    {.name = "seen_ms", .types = FIELD_INTEGER, .unit = "ms", .text = "Time since it was last heard of."},
    FIELD_END ("Node"),
};
static const struct field list_fields[] = {
    FLAG ("connected", "Whether this node has a connection to a NATS server."),
    TEXT_0 ("problem", "What keeps it out of the cluster."),
    LIST ("nodes", node_fields, "By name. One that is silent for three seconds is gone."),
    FIELD_END ("NodeList"),
};
static const struct field show_params[] = {
    {.name = "node", .types = FIELD_TEXT, .maximum = 200, .text = "Its name or tag."},
    {0},
};
#define DRAIN_MAX_MS (7 * 24 * 3600 * 1000) /* as of [cluster] drain_ms */
static const struct field drain_params[] = {
    {.name = "node", .types = FIELD_TEXT, .maximum = 200, .text = "Its name or tag."},
    {.name = "wait_ms",
     .types = FIELD_INTEGER,
     .optional = TRUE,
     .maximum = DRAIN_MAX_MS,
     .unit = "ms",
     .text = "Longest time for what is under way to end; by default its `[cluster] drain_ms`."},
    {0},
};
static const struct field *const node_replies[] = {node_fields, NULL};
static const struct field *const list_replies[] = {list_fields, NULL};

/* ---- the table ---- */

const struct operation node_operations[] = {
    {
        .name = "node.list",
        .title = "List the nodes of the cluster",
        .text = "The daemons of the cluster, and what each has to do.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = no_params,
        .replies = list_replies,
        .run = node_list,
        .http = {"GET", "/v1/nodes", "listNodes", 200},
    },
    {
        .name = "node.show",
        .title = "Show a node",
        .text = "One daemon of the cluster.",
        .role = ROLE_ADMIN,
        .flags = OPERATION_KEPT,
        .params = show_params,
        .replies = node_replies,
        .run = node_show,
        .http = {"GET", "/v1/nodes/{node}", "showNode", 200},
    },
    {
        .name = "node.drain",
        .title = "Drain a node",
        .text =
            "Has a node take no new work, hand over sessions that another node can make again, and end when "
            "its runs and sessions have, or when the time is over: then its runs are cancelled, and its "
            "sessions end.",
        .role = ROLE_ADMIN,
        .params = drain_params,
        .replies = node_replies,
        .run = node_drain,
        .http = {"POST", "/v1/nodes/{node}/drain", "drainNode", 200},
    },
    {0},
};
