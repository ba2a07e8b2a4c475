/* SPDX-License-Identifier: Apache-2.0 */
/* Where an engine listens. */
#pragma once

#include "common/config.h"

/* The path of the socket of the engine that CONFIG names, on which something listens and may be asked. The
 * caller's. NULL with ADDER_ERROR_UNSUPPORTED, which says how to get one. */
char *container_find (const struct config *config, GError **error);

/* Whether the engine that listens there is this user's own, without rights beyond the user's. */
gboolean container_is_rootless (const char *socket);
