/* SPDX-License-Identifier: Apache-2.0 */
/* This daemon as a node of a cluster. */
#pragma once

#include "cluster/cluster.h"
#include "interfaces/service/service.h"

/* Joins the cluster that [cluster] names, and gives it to the engine's operations; *RET_CLUSTER is NULL if it
 * names none. FALSE with ERROR. */
gboolean cluster_node_join (struct service *service, struct cluster **ret_cluster, GError **error);

/* NULL is allowed. */
void cluster_node_leave (struct service *service, struct cluster *cluster);
