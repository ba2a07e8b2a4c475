/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that other nodes of the cluster pass on to this one. */
#pragma once

#include "cluster/tunnel.h"
#include "interfaces/http/http_server.h"

/* As tunnel_host_options has them; DATA is the server. */
gboolean http_node_is_closed (gpointer data);
int http_node_connect (gpointer data, const json_t *head, char **ret_text, GError **error);
