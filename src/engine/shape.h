/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a sandbox: what is fixed when it is parked. All else is set when it is handed out. Who asks
 * for a sandbox says of what shape; a pool keeps those of shape_default parked, and for sessions the same
 * with SESSION, and makes others on demand. */
#pragma once

#include <glib.h>

#include "sandbox/isolation.h"
#include "sandbox/limits.h"

struct shape {
  struct limits limits; /* of these, those that limit_table says are of the shape */
  gboolean session;     /* it may be kept and branched */

  /* A directory of the host that is its /work, lent to the one caller who has this number; 0: none. The mount
   * (lend.h) is the caller's; the pool duplicates it when it makes the sandbox. */
  guint64 lent;
  int directory_fd;
  gboolean overlay; /* what is changed there stays in the workspace */
};

struct shape shape_default (void);

/* Whether a sandbox of ISOLATION that was parked as A will do for B. */
gboolean shape_same (const struct shape *a, const struct shape *b, enum isolation isolation);

/* Whether sandboxes of SHAPE are kept parked, be it for sessions. */
gboolean shape_is_kept (const struct shape *shape, enum isolation isolation);
