/* SPDX-License-Identifier: Apache-2.0 */
/* What a run used. */
#include "engine/usage.h"

#include <string.h>

#include "engine/box.h"

/* Of a run's memory at most, before it is believed to be over its limit. */
#define COUNTS_MOST 5

static guint64
minus (guint64 a, guint64 b)
{
  return a > b ? a - b : 0;
}

static gboolean
read_cgroup (struct box *box, struct cgroup_usage *ret_usage)
{
  return box->cgroup && cgroup_read_usage (box->cgroup, ret_usage, NULL) == 0;
}

void
usage_mark (struct box *box)
{
  memset (&box->parked, 0, sizeof box->parked);
  struct cgroup_usage *group = &box->parked.cgroup;
  gboolean grouped = read_cgroup (box, group);
  /* What the group counts need not be asked of processes, which is dearer. */
  if (!(grouped && group->cpu_known)) {
    guint64 init_us = 0;
    process_clock (box->worker_pid, &box->parked.clock_us);
    process_clock (box->init_pid, &init_us);
    box->parked.clock_us += init_us;
  }
  if (!(grouped && group->memory_known && group->peak_bytes > 0))
    process_memory (box->worker_pid, &box->parked.memory);
}

/* Of all processes of the box: by the zygote's report when they are reaped, else of those that live and what
 * they waited for. */
static guint64
cpu_of_tree (const struct box *box)
{
  /* Of a branch the kernel tells only how it ended. */
  if (box->has_exit && !box->trunk)
    return minus ((guint64)MAX (box->exit.user_us + box->exit.system_us, 0), box->parked.clock_us);
  struct process_tree tree;
  pid_t roots[2];
  process_tree (roots, box_roots (box, roots), FALSE, &tree);
  return minus (tree.cpu_us, box->parked.clock_us);
}

void
usage_mark_again (struct box *box)
{
  struct cgroup_usage group;
  if (read_cgroup (box, &group)) {
    box->parked.cgroup = group;
    if (group.cpu_known)
      return;
  }
  box->parked.clock_us += cpu_of_tree (box);
}

static guint64
peak_of_worker (const struct box *box)
{
  struct process_memory memory;
  guint64 peak = 0;
  if (box->has_exit)
    peak = (guint64)MAX (box->exit.peak_rss_bytes, 0);
  else if (process_memory (box->worker_pid, &memory))
    peak = memory.peak_bytes;
  return minus (peak, box->parked.memory.resident_bytes) + box->parked.own_bytes;
}

void
usage_settle (struct box *box)
{
  if (!box->contained || box->is_settled || box->worker_pid <= 0)
    return;
  usage_read (box, &box->settled);
  box->is_settled = TRUE;
}

void
usage_read (struct box *box, struct usage *ret_usage)
{
  struct cgroup_usage group = {0};
  if (box->is_settled) {
    *ret_usage = box->settled;
    return;
  }
  gboolean grouped = read_cgroup (box, &group);
  *ret_usage = (struct usage){
      .oom_kills = minus (group.oom_kills, box->parked.cgroup.oom_kills),
      .pids_refused = minus (group.pids_refused, box->parked.cgroup.pids_refused),
  };
  if (grouped && group.cpu_known)
    ret_usage->cpu_us = minus (group.cpu_us, box->parked.cgroup.cpu_us);
  else
    ret_usage->cpu_us = cpu_of_tree (box);
  if (grouped && group.memory_known && group.peak_bytes > 0)
    ret_usage->peak_bytes = group.peak_bytes;
  else
    ret_usage->peak_bytes = peak_of_worker (box);
}

guint64
usage_cpu_now (struct box *box)
{
  struct cgroup_usage group;
  if (read_cgroup (box, &group) && group.cpu_known)
    return minus (group.cpu_us, box->parked.cgroup.cpu_us);
  return cpu_of_tree (box);
}

guint64
usage_memory_now (struct box *box)
{
  guint64 bytes;
  if (box->cgroup && cgroup_read_memory (box->cgroup, &bytes) == 0)
    return bytes;
  struct process_tree tree;
  pid_t roots[2];
  gsize count = box_roots (box, roots);
  /* What is shared with branches shall count once in all. */
  process_tree (roots, count, !box_fills_alone (box) && box->shape.session, &tree);
  if (tree.proportional_bytes > 0)
    return tree.proportional_bytes + tree.table_bytes;
  return minus (tree.private_bytes, box->parked.memory.private_bytes) + box->parked.own_bytes;
}

static gboolean
is_over (const struct box *box, const pid_t *roots, gsize count, guint64 limit, guint64 *ret_private)
{
  struct process_tree tree;
  guint64 shared = box->parked.memory.private_bytes;
  process_tree (roots, count, FALSE, &tree);
  *ret_private = minus (tree.private_bytes, shared);
  if (*ret_private <= limit)
    return FALSE;
  /* Alone, with its init, the worker shares only with the zygote, and that is accounted for. */
  if (tree.count <= 2)
    return TRUE;
  /* Forks share their pages: counted so that none counts twice, which is dearer. What they share with the
   * zygote is taken off whole though only a part of it was counted: in doubt for the run. One process is
   * looked at after the other, so what the first shares with those that are forked meanwhile counts twice: a
   * count is good when nobody came or went since the one before, or when that never happens. */
  for (int tries = 0; tries < COUNTS_MOST; tries++) {
    gsize before = tree.count;
    process_tree (roots, count, TRUE, &tree);
    guint64 held = tree.proportional_bytes > 0 ? tree.proportional_bytes + tree.table_bytes
                                               : tree.private_bytes / MAX (tree.count, 1);
    if (minus (held, shared) <= limit)
      return FALSE;
    if (tree.count == before)
      break;
  }
  return TRUE;
}

gboolean
usage_is_over_memory (struct box *box, guint64 limit, guint64 *ret_private)
{
  const struct box *trunk = box_trunk (box);
  gint members = g_atomic_int_get (&trunk->members);
  pid_t roots[2];
  guint64 ignored;
  if (is_over (box, roots, box_roots (box, roots), limit, ret_private))
    return TRUE;
  /* What a process left to the init is nobody's, in company. All together may hold as much as all may. */
  const pid_t all[] = {trunk->worker_pid, trunk->init_pid};
  return members > 1 && is_over (box, all, G_N_ELEMENTS (all), limit * (guint64)members, &ignored);
}
