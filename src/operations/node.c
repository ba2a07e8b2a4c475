/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on the nodes of a cluster: the daemons that [cluster] nats connects. */
#include "cluster/cluster.h"
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
    TEXT ("state", "`serving`, or `ending`: it takes no more work."),
    WHOLE ("running", "Its runs."),
    WHOLE ("waiting", "Runs that wait for a sandbox."),
    WHOLE ("sessions", "Its sessions."),
    LIST ("pools", pool_fields, "Its environments."),
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
    {0},
};
