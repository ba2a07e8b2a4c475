/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the host that is /workspace in one container (order.h). */
#pragma once

#include "containers/client.h"
#include "containers/order.h"

/* Whether ORDER comes with WIRE_LAUNCH_BIND. Otherwise that number is free, for whatever is opened next. */
gboolean work_directory_is_mount (const struct container_order *order);

/* Whether the engine behind CLIENT can be asked for what ORDER bind-mounts. */
gboolean work_directory_check (const struct container_order *order, const struct container_client *client,
                               GError **error);

/* Where work_directory_is_mount: puts the mount into the container of PID_FD, whose zygote waits to be handed
 * over and has made no workspace yet. For who may do what root may. */
gboolean work_directory_attach (const struct container_order *order, int pid_fd, GError **error);
