/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the nodes of a cluster send each other. Clients cannot: gateways do not pass them on. */
#include "interfaces/http/http_private.h"
#include "interfaces/service/cluster_handover.h"
#include "tools/table.h"

static void
routes_node_take (struct http_request *request)
{
  if (request->connection->vouched)
    http_reply_json (request, 200,
                     cluster_handover_take (http_service (request),
                                            json_object_get (http_body (request), "session"),
                                            http_watch_fd (request)));
  else
    http_reply_fault (request, 404, "there is nothing here");
}

static const struct field take_body[] = {
    {.name = "session", .types = FIELD_OBJECT, .items = FIELD_ANY, .text = "What it is made from."},
    {0},
};

const struct http_route http_routes_node[] = {
    {
        .method = "POST",
        .path = CLUSTER_HANDOVER_PATH,
        .title = "Take a session over",
        .role = ROLE_ADMIN,
        .body = take_body,
        .status = 200,
        .handle = routes_node_take,
    },
    {0},
};
