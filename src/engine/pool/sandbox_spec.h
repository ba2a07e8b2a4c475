/* SPDX-License-Identifier: Apache-2.0 */
/* The spec of a sandbox: what is fixed when it is parked. All else is set when it is leased. Who asks for a
 * sandbox says of what spec. A pool keeps those for most runs parked, and once somebody asked for them some
 * of the other kinds; all others are made on demand. */
#pragma once

#include <glib.h>

#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/mounts.h"
#include "sandbox/network.h"

struct bind_mount; /* engine/files/bind_mount.h */

struct sandbox_spec {
  struct limits limits; /* of these, those that limit_table says are of the spec */
  gboolean session;     /* it may be kept and branched */
  enum network network;
  uint32_t mitigations; /* those of the profile's that the configuration does not have for all */

  /* The bind mounts are for the one caller who has this number; 0: there are none. They
   * (engine/files/bind_mount.h) are the caller's; the pool duplicates them when it makes the sandbox. */
  guint64 bind_caller;
  int bind_fd[MOUNTS_BINDS];     /* -1: not there; SANDBOX_SPEC_LOST */
  int launcher_fd[MOUNTS_BINDS]; /* of the caller's spec alone; -1: there is none */
  GPtrArray *files;     /* paths below the workspace, of the single files among them; NULL: there are none */
  GRefString *own_path; /* where the directory is as well; NULL: nowhere */
  gboolean overlay;     /* what is changed in the directory stays in the workspace */
  gboolean read_only;   /* nothing in the directory can be changed */
};

/* SPEC is made for one caller from now on: BIND_MOUNT is what is bind-mounted as WHICH, and SPEC's. */
void sandbox_spec_bind (struct sandbox_spec *spec, enum mounts_bind which,
                        const struct bind_mount *bind_mount);

/* The same for the file that shall be at PATH ("work/data.csv"). There must be room (MOUNTS_FILES). */
void sandbox_spec_bind_file (struct sandbox_spec *spec, const char *path,
                             const struct bind_mount *bind_mount);

/* Whether sockets of the host have names in a sandbox of ISOLATION: in a directory that is bind-mounted into
 * it as it is, without an overlay. */
gboolean sandbox_spec_has_host_sockets (const struct sandbox_spec *spec, enum isolation isolation);

/* Takes all of these back. */
void sandbox_spec_unbind_files (struct sandbox_spec *spec);

/* What a spec without anything bind-mounted has for BIND_FD. */
void sandbox_spec_init_binds (struct sandbox_spec *spec);

/* Has SPEC descriptors of its own, or closes those and waits for the launchers. What cannot be had is
 * SANDBOX_SPEC_LOST: a sandbox without it would be another than was asked for. */
#define SANDBOX_SPEC_LOST (-2)
void sandbox_spec_keep (struct sandbox_spec *spec);
void sandbox_spec_close (struct sandbox_spec *spec);

/* The kinds of which some are kept parked. */
enum sandbox_spec_kind {
  SANDBOX_SPEC_PLAIN,   /* for most runs */
  SANDBOX_SPEC_SESSION, /* the same for sessions */
  SANDBOX_SPEC_NETWORK, /* for runs that reach chosen hosts */
  SANDBOX_SPEC_KINDS,
  SANDBOX_SPEC_OTHER = SANDBOX_SPEC_KINDS,
};

/* One of KIND, from a pool whose zygotes have NETWORK: the host's, or none. */
struct sandbox_spec sandbox_spec_of_kind (enum sandbox_spec_kind kind, enum network network);

/* Whether LIMIT of a sandbox of ISOLATION cannot be set any more when it is parked. */
gboolean sandbox_spec_fixes (enum limit limit, enum isolation isolation);

/* Whether a sandbox of ISOLATION that was parked as A will do for B. */
gboolean sandbox_spec_same (const struct sandbox_spec *a, const struct sandbox_spec *b,
                            enum isolation isolation);

enum sandbox_spec_kind sandbox_spec_kind (const struct sandbox_spec *spec, enum isolation isolation);
