/* SPDX-License-Identifier: Apache-2.0 */
/* What a container is made of: the body of the request that creates it. */
#pragma once

#include "containers/client.h"
#include "containers/image.h"
#include "containers/order.h"

/* JOIN is the directory with the socket and the files below. The caller's. */
json_t *container_spec (const struct container_client *client, const struct container_order *order,
                        const struct container_image *image, const char *join);

/* How the name of a runtime begins that is gVisor's. */
#define CONTAINER_GVISOR "runsc"

/* What else is in JOIN: the filter, for engines that read it from a file, and what /etc/hosts and
 * /etc/resolv.conf are. */
#define CONTAINER_FILTER  "filter.json"
#define CONTAINER_HOSTS   "hosts"
#define CONTAINER_SERVERS "resolv.conf"
