/* SPDX-License-Identifier: Apache-2.0 */
/* A node that drains hands its idle sessions over to others. */
#pragma once

#include "interfaces/service/service.h"

/* Where a node of a cluster takes one: POST, {"session": as library_handover_write has it}; the reply is
 * {"taken", "reason": why not, "differs": whether no other node could either}. */
#define CLUSTER_HANDOVER_PATH "/v1/handover"

/* Begins it in the background; again and for a gateway nothing happens. */
void cluster_handover_start (struct service *service);
/* Stops it: sessions that have not left stay. Before the engine is closed. */
void cluster_handover_end (struct service *service);

/* Takes the session WHOLE here, as that reply says. The caller's. */
json_t *cluster_handover_take (struct service *service, const json_t *whole, int watch_fd);
