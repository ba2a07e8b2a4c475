/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that another node of the cluster takes over. */
#pragma once

#include <jansson.h>

#include "adder.h"

struct session;

/* All that another node needs to make SESSION again, and *RET_EDITION, that of its history. The caller's;
 * NULL with ERROR, which says why it stays: ADDER_ERROR_UNSUPPORTED, as long as it is as it is. */
json_t *library_handover_write (struct session *session, guint64 *ret_edition, GError **error);

/* Makes the session again that WHOLE is of, here, with its id, unless what comes of its cells differs:
 * ADDER_ERROR_UNSUPPORTED, which no other node would make better. It is given up where WATCH_FD hangs up. */
gboolean library_handover_read (AdderEngine *engine, const json_t *whole, int watch_fd, GError **error);
