/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that move to another node of the cluster. */
#pragma once

#include <jansson.h>

#include "adder.h"

struct session;

/* Returns what another node needs to make SESSION again, and the edition of its history; the caller owns it.
 * Returns NULL and sets ERROR to the reason why SESSION stays, for its owner: ADDER_ERROR_UNSUPPORTED if it
 * stays until it changes. RET_LOGGED is the reason without names from the code. */
json_t *library_handover_write (struct session *session, guint64 *ret_edition, const char **ret_logged,
                                GError **error);

/* Makes the session that WHOLE describes again on this node, with the same id. ADDER_ERROR_UNSUPPORTED: its
 * cells or its state came out differently, as they would on any node. Stops when the peer of WATCH_FD hangs
 * up. */
gboolean library_handover_read (AdderEngine *engine, const json_t *whole, int watch_fd, GError **error);
