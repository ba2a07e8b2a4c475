/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a sandbox: what is fixed when it is parked. All else is set when it is handed out. Who asks
 * for a sandbox says of what shape. A pool keeps those for most runs parked, and once somebody asked for
 * them some of the other kinds; all others are made on demand. */
#pragma once

#include <glib.h>

#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/mounts.h"
#include "sandbox/network.h"

struct shape {
  struct limits limits; /* of these, those that limit_table says are of the shape */
  gboolean session;     /* it may be kept and branched */
  enum network network;
  uint32_t mitigations; /* those of the profile's that the configuration does not have for all */

  /* What is lent to the one caller who has this number; 0: nothing. The mounts (engine/lend.h) are the
   * caller's; the pool duplicates them when it makes the sandbox. */
  guint64 lent;
  int lent_fd[MOUNTS_LENT]; /* -1: not there; SHAPE_LOST */
  GPtrArray *files;     /* paths below the workspace, of the single files among them; NULL: there are none */
  GRefString *own_path; /* where the directory is as well; NULL: nowhere */
  gboolean overlay;     /* what is changed in the directory stays in the workspace */
  gboolean read_only;   /* nothing in the directory can be changed */
};

/* SHAPE is made for one caller from now on: FD, his, is what is lent as WHICH. */
void shape_lend (struct shape *shape, enum mounts_lent which, int fd);

/* The same for the file that shall be at PATH ("work/data.csv"). There must be room (MOUNTS_FILES). */
void shape_lend_file (struct shape *shape, const char *path, int fd);

/* Whether sockets of the host have names in a sandbox of ISOLATION: in a directory that it is lent as it is,
 * without an overlay. */
gboolean shape_has_host_sockets (const struct shape *shape, enum isolation isolation);

/* Takes all of these back. */
void shape_unlend_files (struct shape *shape);

/* What a shape without anything lent has for LENT_FD. */
void shape_init_lent (struct shape *shape);

/* Has SHAPE descriptors of its own, or closes those. What cannot be had is SHAPE_LOST: a sandbox without it
 * would be another than was asked for. */
#define SHAPE_LOST (-2)
void shape_keep (struct shape *shape);
void shape_close (struct shape *shape);

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

/* Whether LIMIT of a sandbox of ISOLATION cannot be set any more when it is parked. */
gboolean shape_fixes (enum limit limit, enum isolation isolation);

/* Whether a sandbox of ISOLATION that was parked as A will do for B. */
gboolean shape_same (const struct shape *a, const struct shape *b, enum isolation isolation);

enum shape_kind shape_kind (const struct shape *shape, enum isolation isolation);
