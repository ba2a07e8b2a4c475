/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox, seen from the daemon: its descriptors, its control group, what is known of it. Made and closed
 * by its pool's thread; in between it belongs to one run. */
#pragma once

#include <glib.h>

#include "containers/order.h"
#include "engine/channel.h"
#include "engine/scratch.h"
#include "engine/shape.h"
#include "engine/usage.h"
#include "engine/workspace.h"
#include "runner/wire.h"
#include "sandbox/cgroup.h"

struct gate;
struct pool;
struct zygote;

/* What a zygote told about itself; shared by its boxes, which may outlive it (g_atomic_rc_box). */
struct zygote_info {
  char *version;                     /* Python's */
  GStrv warnings;                    /* a line for each module that could not be loaded */
  struct container_facts *container; /* in which it is; NULL: in none */
};
struct zygote_info *zygote_info_ref (struct zygote_info *info);
void zygote_info_unref (struct zygote_info *info);

struct box {
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
                     files (engine/ferry.h) */
  pid_t worker_pid, init_pid; /* on the host; without namespaces there is no init: 0 */

  struct shape shape; /* what it was parked with */
  struct wire_ready ready;
  struct usage_mark parked;
  struct workspace_mark workspace_mark;

  struct gate *gate; /* what may be reached through listener_fd, once a run or session has the box; or NULL.
                        Of a branch its trunk's alone */

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

  /* Sessions. One and its branches (branch.h) live in the sandbox of the first, the trunk: its pid namespace,
   * with its init, and its workspace. That one is kept until the last of them is gone. */
  struct box *trunk; /* of a branch; else NULL */
  char *branch;      /* of a branch: its name among the workspace's branches */
  gint shared;       /* of a trunk, atomic: others live in its workspace, or did */
  gint members;      /* of a trunk, atomic: the boxes that live in it, at first itself */

  gboolean prefaulted; /* parked with WIRE_SPAWN_PREFAULT */
  gboolean
      taken; /* a run has or had it, so it counts; under the pools' lock until it is discarded, as the next */
  guint64 reserved_bytes; /* of the budget */
  gint64 deadline_us;     /* parking: when it must be ready; ending: when its end must be reported */
  GList link;
};

/* Makes a box with its socket and pipes, and its workspace in SCRATCH unless that is NULL; RET_SPAWN gets the
 * ends that go to the zygote (enum wire_spawn_fd), and on success the shape's own descriptor; the caller's.
 */
struct box *box_new (struct pool *pool, const struct shape *shape, struct scratch *scratch,
                     int ret_spawn[WIRE_SPAWN_FDS], GError **error);

/* Takes over the descriptors that came with SPAWNED (enum wire_spawned_fd). */
gboolean box_adopt (struct box *box, const int fds[WIRE_SPAWNED_FDS], GError **error);

/* Makes a branch of FROM, with its descriptors: RET_FDS gets those that go to the sandbox (enum
 * wire_branch_fd), the caller's. Its process is not there yet. */
struct box *box_new_branch (struct box *from, guint64 number, int ret_fds[WIRE_BRANCH_FDS], GError **error);

/* A number that no other box of this process has. */
guint64 box_next_number (void);

/* The process of BOX, a branch, is that of PIDFD, which is taken over. */
gboolean box_adopt_branch (struct box *box, int pidfd, GError **error);

/* Of a member of a trunk; others are their own. */
struct box *box_trunk (struct box *box);

/* Whether others live in the same sandbox. */
gboolean box_has_company (const struct box *box);

/* Whether how full the workspace is tells of this box alone. */
gboolean box_fills_alone (const struct box *box);

/* Whose descendants are the box's processes. Returns their number, 1 or 2. In company, whom a process left to
 * the init belongs to nobody. */
gsize box_roots (const struct box *box, pid_t ret_roots[2]);

/* Ends all processes of the box at once, but none of those that live with it; does not wait. */
void box_kill (struct box *box);

/* Whether the end of BOX, which is parked, was reported, or cannot be any more. */
gboolean box_has_died (const struct box *box);

/* Returns FALSE when something may still live in its container WAIT_MS after it was killed. */
gboolean box_is_empty (const struct box *box, int wait_ms);

/* Takes the report of the end, or notes it, if it is there. Returns whether the worker has
 * ended. */
gboolean box_read_exit (struct box *box);

/* BOX lives no longer in its sandbox. Returns whether it was the last: then the trunk is to be ended. */
gboolean box_leave (struct box *box);

/* Removes the control group and closes everything. Its processes are dead, or die of it. NULL is allowed. */
void box_free (struct box *box);

/* The same when all else ends as well, by whoever has BOX: a trunk goes with the last that lives in it. */
void box_release (struct box *box);

/* For others than who has BOX: has its worker killed, whose end he sees. */
void box_strike (const struct box *box);
