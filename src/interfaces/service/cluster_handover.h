/* SPDX-License-Identifier: Apache-2.0 */
/* A draining node hands its idle sessions over to others. */
#pragma once

#include "interfaces/service/service.h"

/* The route by which a node takes a session: POST {"session": what library_handover_write returned}. The
 * reply is {"taken", "reason": why not, "differs": whether other nodes could not take it either}. */
#define CLUSTER_HANDOVER_PATH "/v1/handover"

/* Starts handing over in the background. Does nothing on a gateway, or when it has started already. */
void cluster_handover_start (struct service *service);
/* Stops handing over; the remaining sessions stay. To be called before the engine is closed. */
void cluster_handover_end (struct service *service);

/* Takes the session WHOLE over to this node. Returns that reply, which the caller owns. */
json_t *cluster_handover_take (struct service *service, const json_t *whole, int watch_fd);
