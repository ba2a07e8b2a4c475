/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's handle of a sandbox: its descriptors, its control group, what is known of it. Made and closed
 * by its pool's thread; in between it belongs to one run. */
#pragma once

#include <glib.h>

#include "containers/order.h"
#include "engine/files/workspace.h"
#include "engine/host/scratch.h"
#include "engine/pool/channel.h"
#include "engine/pool/sandbox_spec.h"
#include "engine/pool/usage.h"
#include "runner/wire.h"
#include "sandbox/cgroup.h"

struct egress;
struct pool;
struct zygote;

/* What a zygote told about itself; shared by its sandboxes, which may outlive it (g_atomic_rc_box). */
struct zygote_info {
  char *version;                     /* Python's */
  GStrv warnings;                    /* a line for each module that could not be loaded */
  struct container_facts *container; /* in which it is; NULL: in none */
};
struct zygote_info *zygote_info_ref (struct zygote_info *info);
void zygote_info_unref (struct zygote_info *info);

struct sandbox {
  struct pool *pool;
  struct zygote *zygote; /* good only on the pool's thread */
  struct zygote_info *info;
  guint64 number; /* counts up in this process; names the control group */

  struct channel channel; /* its socket */
  int socket_fd, stdout_fd, stderr_fd, exit_fd;
  int worker_fd, init_fd; /* pidfds */
  int workspace_fd;
  int listener_fd;             /* where the proxy answers, in a network namespace of its own; else -1 */
  struct scratch_place *place; /* the workspace's, when it is a directory of the host */
  gboolean contained;          /* it has a container of its own, whose end is its end */
  gboolean apart; /* in a kernel of its own, which is all of it that the host sees: PLACE has copies of its
                     files (engine/request/ferry.h) */
  pid_t worker_pid, init_pid; /* on the host; without namespaces there is no init: 0 */

  struct sandbox_spec spec; /* what it was parked with */
  struct wire_ready ready;
  struct usage_mark parked;
  struct workspace_mark workspace_mark;

  struct egress *egress; /* what may be reached through listener_fd, once a run or session has the sandbox; or
                        NULL. Of a branch its leader's alone */

  struct cgroup *cgroup; /* NULL: there is none */
  int memory_fd; /* readable when the group is out of memory and the kernel kills but one process; or -1 */
  struct cgroup_limits cgroup_limits;

  gboolean has_exit; /* EXIT is the zygote's report */
  gboolean ended;    /* the worker has ended, with or without a report */
  gboolean gone;     /* and so has all else of it */
  gboolean crashed;  /* counts against the zygote's budget */
  struct wire_exit exit;
  gboolean is_settled; /* what was used is SETTLED; later nobody could tell */
  struct usage settled;

  /* Sessions. One and its branches (branch.h) share the pid namespace of the first, their leader, with its
   * init, and its workspace. The leader is kept until the last of them is gone. */
  struct sandbox *leader; /* of a branch; else NULL */
  char *branch;           /* of a branch: its name among the workspace's branches */
  gint shared;            /* of a leader, atomic: branches share its workspace, or did */
  gint refs;              /* of a leader, atomic: itself and its branches */

  gboolean prefaulted; /* parked with WIRE_SPAWN_PREFAULT */
  gboolean
      taken; /* a run has or had it, so it counts; under the pools' lock until it is discarded, as the next */
  guint64 reserved_bytes; /* of the budget */
  gint64 deadline_us;     /* parking: when it must be ready; ending: when its end must be reported */
  GList link;
};

/* Makes a sandbox with its socket and pipes, and its workspace in SCRATCH unless that is NULL; RET_SPAWN gets
 * the ends that go to the zygote (enum wire_spawn_fd), and on success the spec's own descriptor; the
 * caller's. */
struct sandbox *sandbox_new (struct pool *pool, const struct sandbox_spec *spec, struct scratch *scratch,
                             int ret_spawn[WIRE_SPAWN_FDS], GError **error);

/* Takes over the descriptors that came with SPAWNED (enum wire_spawned_fd). */
gboolean sandbox_adopt (struct sandbox *sandbox, const int fds[WIRE_SPAWNED_FDS], GError **error);

/* Makes a branch of FROM, with its descriptors: RET_FDS gets those that go to the sandbox (enum
 * wire_branch_fd), the caller's. Its process is not there yet. */
struct sandbox *sandbox_new_branch (struct sandbox *from, guint64 number, int ret_fds[WIRE_BRANCH_FDS],
                                    GError **error);

/* A number that no other sandbox of this process has. */
guint64 sandbox_next_number (void);

/* The process of SANDBOX, a branch, is that of PIDFD, which is taken over. */
gboolean sandbox_adopt_branch (struct sandbox *sandbox, int pidfd, GError **error);

/* Of a branch; others are their own. */
struct sandbox *sandbox_leader (struct sandbox *sandbox);

/* Whether it shares its pid namespace and workspace with others now. */
gboolean sandbox_is_shared (const struct sandbox *sandbox);

/* Whether how full the workspace is tells of this sandbox alone. */
gboolean sandbox_fills_alone (const struct sandbox *sandbox);

/* Whose descendants are the sandbox's processes. Returns their number, 1 or 2. When it is shared, whom a
 * process left to the init belongs to nobody. */
gsize sandbox_roots (const struct sandbox *sandbox, pid_t ret_roots[2]);

/* Ends all processes of the sandbox at once, but none of those that share it; does not wait. */
void sandbox_kill (struct sandbox *sandbox);

/* Whether the end of SANDBOX, which is parked, was reported, or cannot be any more. */
gboolean sandbox_has_died (const struct sandbox *sandbox);

/* Returns FALSE when something may still live in its container WAIT_MS after it was killed. */
gboolean sandbox_is_empty (const struct sandbox *sandbox, int wait_ms);

/* Takes the report of the end, or notes it, if it is there. Returns whether the worker has
 * ended. */
gboolean sandbox_read_exit (struct sandbox *sandbox);

/* Drops SANDBOX's reference to its leader. Returns whether it was the last: then the leader is to be
 * ended. */
gboolean sandbox_unref (struct sandbox *sandbox);

/* Removes the control group and closes everything. Its processes are dead, or die of it. NULL is allowed. */
void sandbox_free (struct sandbox *sandbox);

/* The same when all else ends as well, by whoever has SANDBOX: a leader goes with the last that shares
 * it. */
void sandbox_release (struct sandbox *sandbox);

/* For others than who has SANDBOX: has its worker killed, whose end the owner sees. */
void sandbox_kill_worker (const struct sandbox *sandbox);
