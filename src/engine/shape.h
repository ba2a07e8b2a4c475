/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a sandbox: what is fixed when it is parked. All else is set when it is handed out. Who asks
 * for a sandbox says of what shape. A pool keeps those for most runs parked, and once somebody asked for
 * them some of the other kinds; all others are made on demand. */
#pragma once

#include <glib.h>

#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/network.h"

struct shape {
  struct limits limits; /* of these, those that limit_table says are of the shape */
  gboolean session;     /* it may be kept and branched */
  enum network network;

  /* A directory of the host that is its /work, lent to the one caller who has this number; 0: none. The mount
   * (lend.h) is the caller's; the pool duplicates it when it makes the sandbox. */
  guint64 lent;
  int directory_fd;
  gboolean overlay; /* what is changed there stays in the workspace */
};

/* The kinds of which some are kept parked. */
enum shape_kind {
  SHAPE_PLAIN,   /* for most runs */
  SHAPE_SESSION, /* the same for sessions */
  SHAPE_NETWORK, /* for runs that reach chosen hosts */
  SHAPE_KINDS,
  SHAPE_OTHER = SHAPE_KINDS,
};

/* One of KIND, from a pool whose zygotes have NETWORK: the host's, or none. */
struct shape shape_of_kind (enum shape_kind kind, enum network network);

/* Whether a sandbox of ISOLATION that was parked as A will do for B. */
gboolean shape_same (const struct shape *a, const struct shape *b, enum isolation isolation);

enum shape_kind shape_kind (const struct shape *shape, enum isolation isolation);
