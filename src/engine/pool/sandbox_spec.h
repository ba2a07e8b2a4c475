/* SPDX-License-Identifier: Apache-2.0 */
/* The spec of a sandbox: what is fixed at parking. Everything else is set at leasing. A caller requests a
 * sandbox by its spec. A pool keeps those for most runs parked, and some of the other kinds once requested;
 * all others are made on demand. */
#pragma once

#include <glib.h>

#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/mounts.h"
#include "sandbox/network.h"

struct bind_mount; /* engine/files/bind_mount.h */

struct sandbox_spec {
  struct limits limits; /* only those that limit_table marks for the spec */
  gboolean session;     /* it may be kept and branched */
  enum network network;
  uint32_t mitigations; /* the profile's, without those that the configuration has for all */

  /* The bind mounts are for the one caller with this number; 0: none. They (engine/files/bind_mount.h) are
   * the caller's; the pool duplicates them when it makes the sandbox. */
  guint64 bind_caller;
  int bind_fd[MOUNTS_BINDS];     /* -1: not there; SANDBOX_SPEC_LOST */
  int launcher_fd[MOUNTS_BINDS]; /* of the caller's spec alone; -1: none */
  GPtrArray *files;              /* paths below the workspace, of the single files among them; NULL: none */
  GRefString *own_path;          /* where the directory is as well; NULL: nowhere */
  gboolean overlay;              /* changes in the directory stay in the workspace */
  gboolean read_only;            /* the directory is read-only */
};

/* Reserves SPEC for one caller: BIND_MOUNT becomes SPEC's mount WHICH. */
void sandbox_spec_bind (struct sandbox_spec *spec, enum mounts_bind which,
                        const struct bind_mount *bind_mount);

/* The same for a file at PATH ("work/data.csv"). There must be room (MOUNTS_FILES). */
void sandbox_spec_bind_file (struct sandbox_spec *spec, const char *path,
                             const struct bind_mount *bind_mount);

/* Whether the host's sockets are reachable by name in a sandbox of ISOLATION: in a directory that is
 * bind-mounted without an overlay. */
gboolean sandbox_spec_has_host_sockets (const struct sandbox_spec *spec, enum isolation isolation);

/* Undoes all bind mounts. */
void sandbox_spec_unbind_files (struct sandbox_spec *spec);

/* The value of BIND_FD in a spec without bind mounts. */
void sandbox_spec_init_binds (struct sandbox_spec *spec);

/* Gives SPEC its own descriptors, or closes those and waits for the launchers. A descriptor that cannot be
 * duplicated is SANDBOX_SPEC_LOST: a sandbox without it would differ from the request. */
#define SANDBOX_SPEC_LOST (-2)
void sandbox_spec_keep (struct sandbox_spec *spec);
void sandbox_spec_close (struct sandbox_spec *spec);

/* The kinds that are kept parked. */
enum sandbox_spec_kind {
  SANDBOX_SPEC_PLAIN,   /* for most runs */
  SANDBOX_SPEC_SESSION, /* the same for sessions */
  SANDBOX_SPEC_NETWORK, /* for runs that reach selected hosts */
  SANDBOX_SPEC_KINDS,
  SANDBOX_SPEC_OTHER = SANDBOX_SPEC_KINDS,
};

/* One of KIND, from a pool whose zygotes have NETWORK: the host's, or none. */
struct sandbox_spec sandbox_spec_of_kind (enum sandbox_spec_kind kind, enum network network);

/* Whether LIMIT of a sandbox of ISOLATION is fixed once it is parked. */
gboolean sandbox_spec_fixes (enum limit limit, enum isolation isolation);

/* Whether a sandbox of ISOLATION that was parked as A also satisfies B. */
gboolean sandbox_spec_same (const struct sandbox_spec *a, const struct sandbox_spec *b,
                            enum isolation isolation);

enum sandbox_spec_kind sandbox_spec_kind (const struct sandbox_spec *spec, enum isolation isolation);
