/* SPDX-License-Identifier: Apache-2.0 */
/* The end of containers. */
#pragma once

#include "containers/client.h"

/* Ends and removes the container NAME, whatever state it is in. Does not give up while the engine is away or
 * fails, for some minutes. UNSURE: whether it was created is not known, as the engine did not answer, so it
 * may yet come. */
void container_remove_surely (struct container_client *client, const char *name, gboolean unsure);

/* Removes what daemons of this user's that are no more have left. Returns how many, or -1 with ERROR. */
int container_sweep (struct container_client *client, GError **error);
