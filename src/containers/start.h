/* SPDX-License-Identifier: Apache-2.0 */
/* One container for one run, from its order to its end. */
#pragma once

#include "containers/order.h"

/* What `adder-container start` does, with the descriptors of enum wire_launch_fd. Returns when the container
 * is removed, or FALSE with ERROR where there was none. */
gboolean container_start (const struct container_order *order, GError **error);
