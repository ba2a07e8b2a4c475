/* SPDX-License-Identifier: Apache-2.0 */
/* What a pool's thread does with boxes: has them made, parks them, buries them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/log.h"
#include "engine/pool_private.h"

/* A parking takes some ten milliseconds of a processor; this long means that it will not. */
#define PARK_US (20 * G_USEC_PER_SEC)

/* The zygote reports the end of a killed sandbox within milliseconds, unless it is stuck. */
#define END_US (20 * G_USEC_PER_SEC)

/* After the first failure in a row, doubled with each further one. */
#define SPAWN_RETRY_US   (G_USEC_PER_SEC / 100)
#define SPAWN_RETRY_MOST (5 * G_USEC_PER_SEC)

/* ---- ends ---- */

static void
bury (struct pool *pool, struct box *box)
{
  struct box *trunk = box->trunk && box_leave (box) ? box->trunk : NULL;
  if (box->zygote)
    box->zygote->boxes--;
  g_queue_unlink (&pool->ending, &box->link);
  box_free (box);
  if (trunk)
    pool_box_end (pool, trunk);
}

void
pools_wake_waiting (struct pools *pools, const struct pool *except)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, pools->pools);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct pool *other = value;
    if (other != except && other->waiting > 0)
      pool_wake (other);
  }
}

/* The first of a session and its branches, which live on: its sandbox is kept for them. */
static void
leave_trunk (struct pool *pool, struct box *trunk)
{
  box_kill (trunk);
  if (box_leave (trunk))
    pool_box_end (pool, trunk);
  g_mutex_lock (&pool->pools->lock);
  budget_release (&pool->pools->budget, trunk->taken, trunk->taken ? trunk->reserved_bytes : 0,
                  trunk->taken ? 0 : trunk->reserved_bytes);
  trunk->taken = FALSE;
  trunk->reserved_bytes = 0;
  pools_dispatch (pool->pools);
  pools_wake_waiting (pool->pools, pool);
  g_mutex_unlock (&pool->pools->lock);
}

void
pool_box_end (struct pool *pool, struct box *box)
{
  box_kill (box);
  if (box->contained)
    zygote_leave (box->zygote);
  if (!box->taken)
    pool_unwatch (pool, box);
  box->deadline_us = g_get_monotonic_time () + END_US;
  g_queue_push_tail_link (&pool->ending, &box->link);
}

/* Takes over what runs gave back. */
void
pool_take_discarded (struct pool *pool)
{
  GQueue discarded;
  g_mutex_lock (&pool->pools->lock);
  discarded = pool->discarded;
  g_queue_init (&pool->discarded);
  g_mutex_unlock (&pool->pools->lock);

  for (GList *link; (link = g_queue_pop_head_link (&discarded));) {
    struct box *box = link->data;
    if (box->crashed)
      zygote_note_crash (box_trunk (box)->zygote, pool->pools->host->config->crash_budget);
    if (!box->trunk && box_has_company (box))
      leave_trunk (pool, box);
    else
      pool_box_end (pool, box);
  }
}

void
pool_bury_ended (struct pool *pool)
{
  struct pools *pools = pool->pools;
  guint runs = 0, others = 0;
  guint64 running_bytes = 0, parked_bytes = 0;
  for (GList *link = pool->ending.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (!box->gone)
      continue;
    runs += box->taken;
    others += !box->taken;
    *(box->taken ? &running_bytes : &parked_bytes) += box->reserved_bytes;
    bury (pool, box);
  }
  if (runs + others == 0)
    return;
  g_mutex_lock (&pools->lock);
  budget_release (&pools->budget, runs, running_bytes, parked_bytes);
  pools_dispatch (pools);
  pools_wake_waiting (pools, pool);
  g_mutex_unlock (&pools->lock);
}

/* Parked boxes of other zygotes than the present one go, the oldest first, but for KEEP of them. Those of a
 * bare one go in any case: what a run finds loaded must not depend on the moment. */
void
pool_discard_old (struct pool *pool, guint keep)
{
  GQueue old = G_QUEUE_INIT;
  guint kept = 0;
  g_mutex_lock (&pool->pools->lock);
  for (GList *link = pool->parked.tail, *prev; link; link = prev) {
    struct box *box = link->data;
    prev = link->prev;
    if (box->zygote == pool->current)
      continue;
    if (!box->zygote->bare && kept < keep) {
      kept++;
      continue;
    }
    g_queue_unlink (&pool->parked, link);
    g_queue_push_tail_link (&old, link);
  }
  g_mutex_unlock (&pool->pools->lock);
  for (GList *link; (link = g_queue_pop_head_link (&old));)
    pool_box_end (pool, link->data);
  pool->old_parked = kept > 0;
}

/* One of the present zygote's was parked: with those of the one before it, there are no more than are to be
 * kept. */
static void
replace_old (struct pool *pool)
{
  guint64 parked = pool->pools->host->config->parked;
  guint fresh = 0;
  g_mutex_lock (&pool->pools->lock);
  for (GList *link = pool->parked.head; link; link = link->next)
    fresh += ((struct box *)link->data)->zygote == pool->current;
  g_mutex_unlock (&pool->pools->lock);
  pool_discard_old (pool, (guint)(fresh < parked ? parked - fresh : 0));
}

/* Sandboxes of ZYGOTE, which is dead, that were being parked. */
void
pool_abandon_parking (struct pool *pool, const struct zygote *zygote)
{
  for (GList *link = pool->parking.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (box->zygote != zygote)
      continue;
    g_queue_unlink (&pool->parking, link);
    pool_box_end (pool, box);
  }
}

/* ---- making ---- */

void
pool_spawn_failed (struct pool *pool, const struct shape *shape, const GError *error)
{
  if (pool->isolation == ISOLATION_CONTAINER) {
    pool_container_failed (pool, shape, error);
    return;
  }
  /* What is wrong with somebody's directory is his alone; and where no network namespace can be had, runs
   * that need none go on. */
  if (shape->lent > 0 || shape->network == NETWORK_ALLOW) {
    log_warning ("a sandbox of %s could not be made: %s", pool->name, error->message);
    pool_fail_shape (pool, shape, error);
    return;
  }
  pool->failures++;
  pool->spawn_us =
      g_get_monotonic_time () + pool_retry_delay (SPAWN_RETRY_US, SPAWN_RETRY_MOST, pool->failures);
  log_warning ("a sandbox of %s could not be made: %s", pool->name, error->message);
  if (pool->failures < POOL_FAILURES_OK)
    return;
  g_autoptr (GError) told = g_error_copy (error);
  g_prefix_error (&told, "no sandbox of the environment %s can be made: ", pool->name);
  g_mutex_lock (&pool->pools->lock);
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (told);
  pool_fail_waiters (pool, told);
  g_mutex_unlock (&pool->pools->lock);
}

/* Whether one of BOXES is what WAITER waits for and is not in TAKEN yet, where it is put then. */
static gboolean
claim (const struct waiter *waiter, GQueue *boxes, GHashTable *taken)
{
  for (GList *link = boxes->head; link; link = link->next)
    if (pool_box_suits (link->data, waiter) && g_hash_table_add (taken, link->data))
      return TRUE;
  return FALSE;
}

static void
count_kept (const struct pool *pool, const struct box *box, guint64 kept[SHAPE_KINDS + 1])
{
  kept[shape_kind (&box->shape, pool->isolation)]++;
}

/* How many boxes of KIND shall be parked. */
static guint64
kept_most (const struct pool *pool, enum shape_kind kind)
{
  const struct config *config = pool->pools->host->config;
  const guint64 most[SHAPE_KINDS] = {
      [SHAPE_PLAIN] = config->parked,
      [SHAPE_SESSION] = config->sessions_parked,
      [SHAPE_NETWORK] = config->network_parked,
  };
  if (!pool->keeps[kind])
    return 0;
  if (!pool->current->bare)
    return most[kind];
  /* While the processors have modules to load, one more than is waited for is enough. */
  return kind == SHAPE_PLAIN ? MIN (most[kind], 1) : 0;
}

void
pool_choose_waited (struct pool *pool, struct pool_choice *choice)
{
  struct pools *pools = pool->pools;
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  struct budget_round *round = &choice->round;
  for (struct queue_place *place = queue_first (pools->queue); place && !choice->chosen;
       place = queue_next (place)) {
    struct waiter *waiter = (struct waiter *)place;
    enum budget_answer answer = budget_ask (round, &waiter->claim, 0);
    if (answer == BUDGET_END)
      break;
    if (answer == BUDGET_SHORT)
      continue;
    choice->promised += waiter->claim.bytes;
    gboolean served_here =
        waiter->pool == pool && !waiter->kept && !(waiter->needs_modules && pool->current->bare);
    if (served_here || budget_is_due (&pools->budget, &waiter->claim))
      budget_hold (round, &waiter->claim);
    if (!served_here)
      continue;
    choice->waited = TRUE;
    if (!claim (waiter, &pool->parking, taken) && !claim (waiter, &pool->parked, taken)) {
      choice->shape = waiter->shape;
      /* Its owner may leave as soon as the lock is open. */
      shape_keep (&choice->shape);
      choice->chosen = TRUE;
    }
  }
}

/* What the next sandbox should be, and reserves memory for it: what a caller waits for, else one more of the
 * kind that is kept. *RET_CALM: it is among the last quarter of those, which are handed out first, and nobody
 * waits. */
static gboolean
choose_shape (struct pool *pool, struct shape *ret_shape, gboolean *ret_calm)
{
  struct pools *pools = pool->pools;
  struct pool_choice choice = {.round = {.budget = &pools->budget}};
  guint64 kept[SHAPE_KINDS + 1] = {0};
  for (GList *link = pool->parking.head; link; link = link->next)
    count_kept (pool, link->data, kept);

  g_mutex_lock (&pools->lock);
  pool_choose_waited (pool, &choice);
  /* Of other shapes none stays parked. Old ones are few, or soon to be replaced. */
  for (GList *link = pool->parked.head; link; link = link->next)
    if (!pool->old_parked || ((struct box *)link->data)->zygote == pool->current)
      count_kept (pool, link->data, kept);
  guint64 parked = kept_most (pool, SHAPE_PLAIN);
  *ret_calm = !choice.waited && kept[SHAPE_PLAIN] + MAX (parked / 4, 1) >= parked;
  gboolean room =
      !choice.round.first_short && budget_may_park (&pools->budget, BUDGET_PARKED_BYTES, choice.promised);
  for (enum shape_kind kind = 0; kind < SHAPE_KINDS && !choice.chosen && room; kind++)
    if (kept[kind] < kept_most (pool, kind)) {
      choice.shape = shape_of_kind (kind, pool->network);
      choice.chosen = TRUE;
    }
  if (choice.chosen)
    budget_park (&pools->budget, BUDGET_PARKED_BYTES);
  g_mutex_unlock (&pools->lock);
  *ret_shape = choice.shape;
  return choice.chosen;
}

/* What was put off until now is so no longer: a time that lies behind would be no deadline for the thread. */
static void
end_delay (struct pool *pool)
{
  if (g_get_monotonic_time () >= pool->spawn_us)
    pool->spawn_us = 0;
}

static gboolean
may_spawn (const struct pool *pool)
{
  /* Parking is work for a processor: more at once than there are would only delay the first. */
  return pool->current && !pool->current->spawning && !pool->stale &&
         pool->parking.length <= pool->pools->host->cpus && pool->spawn_us == 0;
}

/* BOX (or NULL) was chosen, and could not be asked for. */
static void
drop_chosen (struct pool *pool, struct box *box)
{
  box_free (box);
  g_mutex_lock (&pool->pools->lock);
  budget_release (&pool->pools->budget, 0, 0, BUDGET_PARKED_BYTES);
  g_mutex_unlock (&pool->pools->lock);
}

/* Pages touched ahead are five times the memory, so only who is next in line has those of many runs. */
static uint32_t
spawn_flags (const struct pool *pool, const struct shape *shape, gboolean filtered, gboolean calm)
{
  uint32_t flags = (shape->session ? WIRE_SPAWN_SESSION : 0) |
                   (shape->lent_fd[MOUNTS_DIRECTORY] >= 0 ? WIRE_SPAWN_LENT : 0) |
                   (shape->overlay ? WIRE_SPAWN_OVERLAY : 0) | (shape->read_only ? WIRE_SPAWN_READ_ONLY : 0) |
                   (filtered ? WIRE_SPAWN_FILTERED : 0) |
                   (shape->lent_fd[MOUNTS_INPUTS_WORK] >= 0 ? WIRE_SPAWN_INPUTS_WORK : 0) |
                   (shape->lent_fd[MOUNTS_INPUTS_TMP] >= 0 ? WIRE_SPAWN_INPUTS_TMP : 0) |
                   (shape->network != NETWORK_NONE ? WIRE_SPAWN_ONLINE : 0) |
                   (shape->network == NETWORK_ALLOW ? WIRE_SPAWN_NETWORK : 0) |
                   (shape->mitigations | pool->pools->host->mitigations) << WIRE_MITIGATIONS;
  if (!pool->pools->host->config->touch_ahead)
    return flags | WIRE_SPAWN_UNTOUCHED;
  return flags | (calm ? WIRE_SPAWN_PREFAULT : 0);
}

/* A sandbox that has another network than its zygote, or sockets of the host, comes with a seccomp program of
 * its own. */
static gboolean
add_filter (struct pool *pool, const struct shape *shape, int spawn[WIRE_SPAWN_FDS], GError **error)
{
  gboolean host_sockets = shape_has_host_sockets (shape, pool->isolation);
  if (shape->network != NETWORK_ALLOW && !host_sockets)
    return TRUE;
  spawn[WIRE_SPAWN_FILTER] =
      host_open_filter (pool->pools->host, pool->isolation, shape->network, host_sockets, error);
  for (int i = 0; i < WIRE_SPAWN_FDS && spawn[WIRE_SPAWN_FILTER] < 0; i++)
    fd_close (&spawn[i]);
  return spawn[WIRE_SPAWN_FILTER] >= 0;
}

void
pool_spawn_next (struct pool *pool)
{
  g_autoptr (GError) error = NULL;
  struct shape shape;
  gboolean calm;
  int spawn[WIRE_SPAWN_FDS];
  end_delay (pool);
  if (!may_spawn (pool) || !choose_shape (pool, &shape, &calm))
    return;
  struct scratch *scratch = pool->isolation == ISOLATION_NAMESPACES ? NULL : pool->pools->host->scratch;
  struct box *box = box_new (pool, &shape, scratch, spawn, &error);
  if (!box || !add_filter (pool, &shape, spawn, &error)) {
    if (!box)
      shape_close (&shape);
    drop_chosen (pool, box);
    pool_spawn_failed (pool, &shape, error);
    return;
  }
  uint32_t flags = spawn_flags (pool, &shape, spawn[WIRE_SPAWN_FILTER] >= 0, calm);
  if (!zygote_spawn (pool->current, box, spawn, flags, &error)) {
    drop_chosen (pool, box);
    pool_lose_zygote (pool, error);
    return;
  }
  box->reserved_bytes = BUDGET_PARKED_BYTES;
  box->prefaulted = calm;
  box->zygote = pool->current;
  box->zygote->boxes++;
}

/* ---- parking ---- */

/* The engine made the group, and set its limits. Where it cannot be read, less is known of what is used. */
static void
find_cgroup (struct box *box)
{
  struct fault fault;
  if (cgroup_adopt (box->worker_pid, &box->cgroup, &box->cgroup_limits, &fault) == 0)
    box->memory_fd = cgroup_watch_memory (box->cgroup);
  else
    log_debug ("no control group of a container is known: %s: %s", fault.step, g_strerror (fault.err));
}

/* The limits that most runs have are set ahead, so that hand-out need not. */
static gboolean
put_into_cgroup (struct pool *pool, struct box *box, GError **error)
{
  struct cgroup_node *node = pool->pools->host->cgroups;
  struct fault fault = {0};
  char name[32];
  if (box->contained)
    find_cgroup (box);
  if (box->contained || !node)
    return TRUE;
  g_snprintf (name, sizeof name, "run-%" G_GUINT64_FORMAT, box->number);
  box->cgroup_limits = (struct cgroup_limits){
      .memory_bytes = limit_table[LIMIT_MEMORY].standard,
      .pids = limit_table[LIMIT_PIDS].standard,
      .cpu_percent = (uint32_t)box->shape.limits.value[LIMIT_CPU_PERCENT],
  };
  if (cgroup_create (node, name, &box->cgroup_limits, &box->cgroup, &fault) == 0 &&
      cgroup_attach (box->cgroup, box->worker_pid, &fault) == 0) {
    box->memory_fd = cgroup_watch_memory (box->cgroup);
    return TRUE;
  }
  cgroup_remove (g_steal_pointer (&box->cgroup), NULL);
  return error_from_fault (&fault, error);
}

/* Where its files are, when it has a kernel of its own. */
static gboolean
make_place (struct pool *pool, struct box *box, GError **error)
{
  if (box->apart)
    box->place = scratch_make (pool->pools->host->scratch, &box->workspace_fd, error);
  return !box->apart || box->place;
}

/* The zygote of BOX has answered: a sandbox is on its way. One that its control group does not hold is not
 * made do with: what the kernel was to count, the filter allows. */
void
pool_box_spawned (struct pool *pool, struct box *box)
{
  g_autoptr (GError) error = NULL;
  /* Of one that died meanwhile, its socket says why. */
  gboolean settled =
      make_place (pool, box, &error) && (box_has_died (box) || put_into_cgroup (pool, box, &error));
  if (!settled && !box_has_died (box)) {
    const struct shape shape = box->shape;
    pool_box_end (pool, box);
    pool_spawn_failed (pool, &shape, error);
    return;
  }
  box->deadline_us = g_get_monotonic_time () + PARK_US;
  g_queue_push_tail_link (&pool->parking, &box->link);
}

/* All boxes of a zygote are alike when they are parked, so the dear question is asked once. */
static guint64
own_bytes (struct box *box)
{
  guint64 *known = &box->zygote->own_bytes[box->prefaulted ? 1 : 0];
  if (*known == 0)
    *known = process_private (box->worker_pid);
  return *known;
}

static gboolean
is_kept (const struct pool *pool, const struct box *box)
{
  enum shape_kind kind = shape_kind (&box->shape, pool->isolation);
  return box->contained ? pool_keeps_like (pool, box) : kind != SHAPE_OTHER && pool->keeps[kind];
}

/* BOX is ready: for a caller who waits, or to be kept. One that nobody wants any more, because its caller has
 * left or its zygote is replaced, ends. */
static void
park (struct pool *pool, struct box *box)
{
  struct pools *pools = pool->pools;
  struct epoll_event end = {.events = EPOLLIN, .data.ptr = box};
  /* Unwatched, one that dies is found out when it is taken. */
  if (epoll_ctl (pool->parked_fd, EPOLL_CTL_ADD, box->exit_fd, &end) < 0)
    log_warning ("cannot watch a parked sandbox of %s: %s", pool->name, g_strerror (errno));
  usage_mark (box);
  if (!box->cgroup)
    box->parked.own_bytes = own_bytes (box);
  if (!box->place)
    workspace_measure (box->workspace_fd, &box->workspace_mark);
  g_queue_unlink (&pool->parking, &box->link);
  gboolean bare = box->zygote->bare;
  /* That a bare one serves says nothing of those that failed. */
  if (!bare)
    pool->failures = 0;
  if (box->contained)
    pool->start_failures = 0;

  g_mutex_lock (&pools->lock);
  if (!bare)
    g_clear_error (&pool->failure);
  gboolean wanted = !pool->stale && (box->contained || box->zygote == pool->current);
  if (wanted) {
    g_queue_push_tail_link (&pool->parked, &box->link);
    pool->parkings += !bare;
    g_cond_broadcast (&pools->parked);
    pools_dispatch (pools);
    wanted = box->taken || is_kept (pool, box);
    pool->serving |= box->contained;
    if (!wanted)
      g_queue_unlink (&pool->parked, &box->link);
  }
  g_mutex_unlock (&pools->lock);

  if (!wanted)
    pool_box_end (pool, box);
  else if (box->contained)
    pool_shed_containers (pool);
  else if (pool->old_parked)
    replace_old (pool);
}

static gint64
parking_bound (uint32_t kind)
{
  switch (kind) {
  case WIRE_LISTENER:
    return 0;
  case WIRE_READY:
    return sizeof (struct wire_ready);
  case WIRE_FAULT:
    return sizeof (struct fault);
  default:
    return -1;
  }
}

static void
set_ended (GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "it ended while it was being parked");
}

static gboolean
take_ready (struct box *box, uint32_t kind, const char *data, gsize length, GError **error)
{
  if (kind == WIRE_READY && length == sizeof box->ready) {
    memcpy (&box->ready, data, sizeof box->ready);
    /* What comes from now on may be code's. */
    box->channel.takes_fd = FALSE;
    if (box->ready.version == WIRE_VERSION && (box->shape.network != NETWORK_ALLOW || box->listener_fd >= 0))
      return TRUE;
  }
  struct fault fault;
  if (kind == WIRE_FAULT && length == sizeof fault) {
    memcpy (&fault, data, sizeof fault);
    fault.step[FAULT_STEP_BYTES - 1] = '\0';
    return error_from_fault (&fault, error);
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "it is of another version of Adder");
  return FALSE;
}

static void
parking_failed (struct pool *pool, struct box *box, const GError *error)
{
  const struct shape shape = box->shape;
  g_queue_unlink (&pool->parking, &box->link);
  pool_box_end (pool, box);
  pool_spawn_failed (pool, &shape, error);
}

void
pool_box_speaks (struct pool *pool, struct box *box)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = NULL;
  uint32_t kind;
  gsize length;
  switch (channel_receive (&box->channel, parking_bound, &kind, &data, &length)) {
  case CHANNEL_WAIT:
    return;
  case CHANNEL_FRAME:
    if (kind == WIRE_LISTENER) {
      box->listener_fd = fd_steal (&box->channel.in_fd);
      return;
    }
    if (!take_ready (box, kind, data, length, &error))
      break;
    /* Without an id it was dead when we heard of it. */
    if (box->worker_pid > 0) {
      park (pool, box);
      return;
    }
    set_ended (&error);
    break;
  default:
    set_ended (&error);
  }
  parking_failed (pool, box, error);
}

void
pool_expire_parking (struct pool *pool)
{
  gint64 now = g_get_monotonic_time ();
  for (GList *link = pool->parking.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (now < box->deadline_us)
      continue;
    g_autoptr (GError) error = NULL;
    pool_set_late (pool, box, &error);
    parking_failed (pool, box, error);
  }
}

/* Parked sandboxes ended: killed from outside, or by the kernel for memory. */
void
pool_parked_boxes_ended (struct pool *pool)
{
  struct epoll_event ends[32];
  int count = epoll_wait (pool->parked_fd, ends, G_N_ELEMENTS (ends), 0);
  for (int i = 0; i < count; i++) {
    struct box *box = ends[i].data.ptr;
    g_mutex_lock (&pool->pools->lock);
    /* A run may have it by now, and sees to it itself. */
    gboolean parked = g_queue_find (&pool->parked, box) != NULL;
    if (parked)
      g_queue_unlink (&pool->parked, &box->link);
    g_mutex_unlock (&pool->pools->lock);
    if (parked)
      pool_box_end (pool, box);
  }
}

/* When one of the boxes is late: -1 for never. */
gint64
pool_boxes_deadline_us (struct pool *pool)
{
  gint64 deadline_us = -1;
  GQueue *const lists[] = {&pool->parking, &pool->ending};
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    for (GList *link = lists[i]->head; link; link = link->next)
      deadline_us = pool_earlier (deadline_us, ((struct box *)link->data)->deadline_us);
  if (pool->current && pool->spawn_us > 0)
    deadline_us = pool_earlier (deadline_us, pool->spawn_us);
  return deadline_us;
}
