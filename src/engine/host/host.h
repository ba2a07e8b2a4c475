/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine found out once about the host and shares among its pools: nothing here changes afterwards,
 * except what host_prepare makes. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "common/guarded.h"
#include "engine/host/scratch.h"
#include "runner/wire.h"
#include "sandbox/cgroup.h"
#include "sandbox/isolation.h"
#include "sandbox/network.h"
#include "sandbox/probe.h"

LOCK_CLASS (host);

struct host {
  struct config *config;
  struct probe probe;
  char *libexec;               /* folder of the runner */
  char *launcher;              /* adder-zygote in it */
  char *container_launcher;    /* adder-container */
  enum isolation isolation;    /* the best kind that the host and the configuration allow */
  int init_fd;                 /* adder-init */
  struct cgroup_node *cgroups; /* NULL: none */
  char *cgroup_reason;         /* why there are none, for people; NULL: available */
  struct workspace_owner owner;
  guint cpus;
  uint32_t mitigations; /* for all sandboxes: the configuration's */

  /* Made, under the lock, when a kind of isolation is first wanted, and then constant like the rest. */
  MUTEX (host) lock;
  /* Sealed memfds: the seccomp programs of its sandboxes, without and with the host's sockets inside. */
  int filter_fd[ISOLATIONS][NETWORKS][2];
  struct scratch *scratch; /* workspaces, if sandboxes have no mounts of their own */
};

/* CONFIG becomes the host's. Returns NULL with ERROR when something that every run needs is missing: the
 * runner's files, or the control groups that the configuration requires. A lower isolation level is no
 * error. */
struct host *host_new (struct config *config, GError **error);
void host_free (struct host *host);

/* The most descriptors for sandboxes, zygotes and what a program has open anyway. */
guint64 host_descriptors (const struct config *config);

/* Whether a host could be made with CONFIG: checks its mitigations. */
gboolean host_check_config (const struct config *config, GError **error);

/* Whether WORD is a mitigation (sandbox/mitigations.h). */
gboolean host_check_mitigation (const char *word, GError **error);

/* The highest level: in a container, with a kernel of its own. */
#define HOST_LEVELS 4

/* The lowest level at which the configuration lets ISOLATION run. */
guint host_least_level (const struct host *host, enum isolation isolation);

/* Whether a run may be made with ISOLATION (ISOLATION_AUTO: the host's best) at the level WANTED or higher:
 * FALSE with ADDER_ERROR_UNSUPPORTED saying what the host lacks and how to get it. */
gboolean host_check (const struct host *host, enum isolation isolation, guint wanted, GError **error);

/* Prepares what zygotes of ISOLATION need if their sandboxes have NETWORK. HOST_SOCKETS: the host's sockets
 * are reachable by name there. */
gboolean host_prepare (struct host *host, enum isolation isolation, enum network network,
                       gboolean host_sockets, GError **error);

/* A descriptor of the seccomp program of single sandboxes with NETWORK and HOST_SOCKETS, the caller's; or -1
 * with ERROR. */
int host_open_filter (struct host *host, enum isolation isolation, enum network network,
                      gboolean host_sockets, GError **error);

/* The isolation level of a sandbox of ISOLATION that REACHED those mechanisms (enum wire_mechanism). The
 * names of those it lacks are added to MISSING (static strings), which may be NULL. GROUPED: it is in a
 * control group. */
guint host_isolation (uint32_t reached, enum isolation isolation, gboolean grouped, GPtrArray *missing);

/* To be called by `adder serve`, before it makes an engine: the process is Adder's own. It may be moved into
 * another control group so that groups of sandboxes can be made beside it (cgroup v2), raises its descriptor
 * limit, and tunes the C library's allocator. A library in somebody else's process may not. PARENT_TOO: the
 * parent does nothing but wait for this process, and is moved with it. */
void host_own_process (gboolean parent_too);
gboolean host_owns_process (void);
