/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that other nodes of the cluster pass on to this one. */
#pragma once

#include "cluster/tunnel.h"
#include "interfaces/http/http_server.h"

/* As tunnel_host_options has it; DATA is the server. */
int http_node_connect (gpointer data, const json_t *head, char **ret_text, GError **error);
