/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a pool: starts zygotes, asks them for sandboxes until enough are parked, and buries those
 * that were used.
 *
 * It is one loop: decide what is to be done now, wait until something happens, take note of it. Nothing that
 * is awaited (a zygote that imports, sandboxes that park, others that end) keeps it from the rest. Boxes and
 * zygotes are freed in one place only, at the beginning of a turn, so that what poll reported can be looked
 * at without care for what an earlier report has led to. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adder.h"
#include "common/error.h"
#include "common/log.h"
#include "engine/pool_private.h"

/* A parking takes some ten milliseconds of a processor; this long means that it will not. */
#define PARK_US (20 * G_USEC_PER_SEC)

/* After the first failure in a row, doubled with each further one. */
#define START_RETRY_US    (G_USEC_PER_SEC / 4)
#define START_RETRY_MOST  (30 * G_USEC_PER_SEC)
#define SPAWN_RETRY_US    (G_USEC_PER_SEC / 100)
#define SPAWN_RETRY_MOST  (5 * G_USEC_PER_SEC)
#define SPAWN_FAILURES_OK 3 /* so many in a row are taken for a passing shortage: callers go on waiting */

static gint64
retry_delay (gint64 first, gint64 most, guint failures)
{
  return failures > 16 ? most : MIN (first << (failures - 1), most);
}

/* ---- ends ---- */

static void
bury (struct pool *pool, struct box *box)
{
  if (box->zygote)
    box->zygote->boxes--;
  g_queue_unlink (&pool->ending, &box->link);
  box_free (box);
}

static void
start_ending (struct pool *pool, struct box *box)
{
  box_kill (box);
  g_queue_push_tail_link (&pool->ending, &box->link);
}

/* Takes over what runs gave back. */
static void
take_discarded (struct pool *pool)
{
  GQueue discarded;
  g_mutex_lock (&pool->pools->lock);
  discarded = pool->discarded;
  g_queue_init (&pool->discarded);
  g_mutex_unlock (&pool->pools->lock);

  for (GList *link; (link = g_queue_pop_head_link (&discarded));) {
    struct box *box = link->data;
    if (box->crashed && zygote_note_crash (box->zygote) == pool->pools->host->config->crash_budget)
      log_warning ("the zygote of %s is replaced: too many of its sandboxes crashed", pool->name);
    start_ending (pool, box);
  }
}

/* Another sandbox may run now: perhaps one of a shape that another pool makes only on demand. */
static void
wake_others (struct pool *pool)
{
  for (struct queue_place *place = queue_first (pool->pools->queue); place; place = queue_next (place)) {
    const struct waiter *waiter = (const struct waiter *)place;
    if (waiter->pool != pool)
      pool_wake (waiter->pool);
  }
}

static void
bury_ended (struct pool *pool)
{
  guint buried = 0;
  for (GList *link = pool->ending.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (!box->ended)
      continue;
    buried += box->taken;
    bury (pool, box);
  }
  if (buried == 0)
    return;
  g_mutex_lock (&pool->pools->lock);
  pool->pools->running -= buried;
  pools_dispatch (pool->pools);
  wake_others (pool);
  g_mutex_unlock (&pool->pools->lock);
}

/* Replaced zygotes go when the last of their boxes is gone. */
static void
free_drained (struct pool *pool)
{
  for (guint i = pool->draining->len; i > 0; i--) {
    struct zygote *zygote = pool->draining->pdata[i - 1];
    if (zygote->boxes > 0)
      continue;
    g_ptr_array_remove_index (pool->draining, i - 1);
    zygote_free (zygote);
  }
}

/* Parked boxes of other zygotes than the present one are no longer handed out. */
static void
discard_old (struct pool *pool)
{
  GQueue old = G_QUEUE_INIT;
  g_mutex_lock (&pool->pools->lock);
  for (GList *link = pool->parked.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (box->zygote == pool->current)
      continue;
    g_queue_unlink (&pool->parked, link);
    g_queue_push_tail_link (&old, link);
  }
  g_mutex_unlock (&pool->pools->lock);
  for (GList *link; (link = g_queue_pop_head_link (&old));)
    start_ending (pool, link->data);
  pool->old_parked = FALSE;
}

/* ---- zygotes ---- */

/* Callers who wait get ERROR unless a zygote serves that may still help them. */
static void
start_failed (struct pool *pool, const GError *error)
{
  struct pools *pools = pool->pools;
  pool->failures++;
  log_warning ("%s", error->message);
  g_mutex_lock (&pools->lock);
  pool->retry_us = g_get_monotonic_time () + retry_delay (START_RETRY_US, START_RETRY_MOST, pool->failures);
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (error);
  if (!pool->current || pool->stale) {
    pool->wanted = FALSE;
    pool_fail_waiters (pool, error);
  }
  g_mutex_unlock (&pools->lock);
}

/* Looks at the environment anew, so that the fingerprint is of what the new zygote will load. */
static gboolean
renew_environment (struct pool *pool, GError **error)
{
  struct environment *environment = environment_find (pool->name, error);
  if (!environment)
    return FALSE;
  g_autofree char *fingerprint = environment_fingerprint (environment);
  g_rw_lock_writer_lock (&pool->environment_lock);
  environment_free (pool->environment);
  pool->environment = environment;
  g_free (pool->fingerprint);
  pool->fingerprint = g_steal_pointer (&fingerprint);
  g_rw_lock_writer_unlock (&pool->environment_lock);
  return TRUE;
}

static void
start_next (struct pool *pool)
{
  g_autoptr (GError) error = NULL;
  g_mutex_lock (&pool->pools->lock);
  pool->starts++;
  g_mutex_unlock (&pool->pools->lock);
  if (host_check (pool->pools->host, &error) && renew_environment (pool, &error))
    pool->next = zygote_start (pool->pools->host, pool->environment, &error);
  if (!pool->next)
    start_failed (pool, error);
}

static gboolean
is_due (const struct pool *pool, const struct zygote *zygote)
{
  const struct config *config = pool->pools->host->config;
  gint64 age_us = g_get_monotonic_time () - zygote->started_us;
  return zygote->runs >= config->zygote_runs || (guint64)age_us / 1000 >= config->zygote_age_ms ||
         zygote->crashes.length >= config->crash_budget;
}

static gboolean
needs_zygote (struct pool *pool)
{
  g_mutex_lock (&pool->pools->lock);
  gboolean needs = pool->stale || (!pool->current && pool->wanted);
  gint64 retry_us = pool->retry_us;
  g_mutex_unlock (&pool->pools->lock);
  if (pool->current && is_due (pool, pool->current))
    needs = TRUE;
  return needs && !pool->next && g_get_monotonic_time () >= retry_us;
}

static gint64
start_deadline_us (const struct pool *pool)
{
  return pool->next->started_us + (gint64)pool->pools->host->config->zygote_start_ms * 1000;
}

static void
give_up_late_start (struct pool *pool)
{
  if (!pool->next || g_get_monotonic_time () < start_deadline_us (pool))
    return;
  g_autoptr (GError) error = NULL;
  g_set_error (&error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "the environment %s did not start within %" G_GUINT64_FORMAT " ms (zygote_start_ms)",
               pool->name, pool->pools->host->config->zygote_start_ms);
  g_clear_pointer (&pool->next, zygote_free);
  start_failed (pool, error);
}

/* The new zygote serves: from now on it alone makes sandboxes. What the old one has parked serves until the
 * first of the new ones is ready. */
static void
succeed (struct pool *pool)
{
  if (pool->current) {
    g_ptr_array_add (pool->draining, pool->current);
    pool->old_parked = TRUE;
  }
  pool->current = g_steal_pointer (&pool->next);
  pool->spawn_us = 0;
  log_info ("the zygote of %s serves after %" G_GINT64_FORMAT " ms (Python %s)", pool->name,
            (g_get_monotonic_time () - pool->current->started_us) / 1000, pool->current->info->version);
  g_mutex_lock (&pool->pools->lock);
  pool->serving = TRUE;
  pool->stale = FALSE;
  pool->retry_us = 0;
  g_clear_error (&pool->failure);
  g_mutex_unlock (&pool->pools->lock);
}

/* Sandboxes of ZYGOTE, which is dead, that were being parked. */
static void
abandon_parking (struct pool *pool, const struct zygote *zygote)
{
  for (GList *link = pool->parking.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (box->zygote != zygote)
      continue;
    g_queue_unlink (&pool->parking, link);
    start_ending (pool, box);
  }
}

/* A zygote died and took its sandboxes with it. Runs see the end of their exit pipes; callers wait for the
 * next zygote. */
static void
lose_current (struct pool *pool, const GError *error)
{
  struct pools *pools = pool->pools;
  log_warning ("%s", error->message);
  abandon_parking (pool, pool->current);
  g_ptr_array_add (pool->draining, g_steal_pointer (&pool->current));
  pool->failures++;
  g_mutex_lock (&pools->lock);
  pool->serving = FALSE;
  pool->wanted = TRUE;
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (error);
  /* The first time at once: it had served, so it will again. */
  pool->retry_us =
      g_get_monotonic_time () +
      (pool->failures > 1 ? retry_delay (START_RETRY_US, START_RETRY_MOST, pool->failures - 1) : 0);
  if (pool->failures > SPAWN_FAILURES_OK)
    pool_fail_waiters (pool, error);
  g_mutex_unlock (&pools->lock);
  discard_old (pool);
}

/* ---- parking ---- */

static void
spawn_failed (struct pool *pool, const GError *error)
{
  pool->failures++;
  pool->spawn_us = g_get_monotonic_time () + retry_delay (SPAWN_RETRY_US, SPAWN_RETRY_MOST, pool->failures);
  log_warning ("a sandbox of %s could not be made: %s", pool->name, error->message);
  if (pool->failures < SPAWN_FAILURES_OK)
    return;
  g_autoptr (GError) told = g_error_copy (error);
  g_prefix_error (&told, "no sandbox of the environment %s can be made: ", pool->name);
  g_mutex_lock (&pool->pools->lock);
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (told);
  pool_fail_waiters (pool, told);
  g_mutex_unlock (&pool->pools->lock);
}

/* Whether one of BOXES has the shape and is not in TAKEN yet, where it is put then. */
static gboolean
claim (GQueue *boxes, const struct limits *limits, GHashTable *taken)
{
  for (GList *link = boxes->head; link; link = link->next) {
    const struct box *box = link->data;
    if (limits_same_shape (&box->limits, limits) && g_hash_table_add (taken, link->data))
      return TRUE;
  }
  return FALSE;
}

/* What the next sandbox should be: of the shape that the first caller waits for who has none in the making,
 * else one more of the kind that is kept. *RET_CALM says that there is time to fault its
 * pages in ahead: nobody waits, and half of those that are kept are there. */
static gboolean
choose_shape (struct pool *pool, struct limits *ret_limits, gboolean *ret_calm)
{
  struct pools *pools = pool->pools;
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  gboolean chosen = FALSE, waited = FALSE;
  guint kept = 0;

  g_mutex_lock (&pools->lock);
  guint room = (guint)MAX ((gint64)pools->host->config->max_running - pools->running, 0);
  for (struct queue_place *place = queue_first (pools->queue); place && !chosen && room > 0;
       place = queue_next (place)) {
    const struct waiter *waiter = (const struct waiter *)place;
    if (waiter->pool != pool)
      continue;
    waited = TRUE;
    room--;
    if (!claim (&pool->parking, waiter->limits, taken) && !claim (&pool->parked, waiter->limits, taken)) {
      *ret_limits = *waiter->limits;
      chosen = TRUE;
    }
  }
  for (GList *link = pool->parked.head; link; link = link->next)
    kept += ((struct box *)link->data)->zygote == pool->current &&
            pool_keeps_shape (&((struct box *)link->data)->limits);
  g_mutex_unlock (&pools->lock);

  for (GList *link = pool->parking.head; link; link = link->next)
    kept += pool_keeps_shape (&((struct box *)link->data)->limits);
  *ret_calm = !waited && kept >= pools->host->config->parked / 2;
  if (!chosen && kept < pools->host->config->parked) {
    *ret_limits = limits_default ();
    chosen = TRUE;
  }
  return chosen;
}

static gboolean
may_spawn (const struct pool *pool)
{
  /* Parking is work for a processor: more at once than there are would only delay the first. */
  return pool->current && !pool->current->spawning && !pool->stale &&
         pool->parking.length <= pool->pools->host->cpus && g_get_monotonic_time () >= pool->spawn_us;
}

static void
spawn_next (struct pool *pool)
{
  g_autoptr (GError) error = NULL;
  struct limits limits;
  gboolean calm;
  int spawn[WIRE_SPAWN_FDS];
  if (!may_spawn (pool) || !choose_shape (pool, &limits, &calm))
    return;
  struct box *box = box_new (pool, &limits, spawn, &error);
  if (!box) {
    spawn_failed (pool, error);
    return;
  }
  if (!zygote_spawn (pool->current, box, spawn, calm ? WIRE_SPAWN_PREFAULT : 0, &error)) {
    box_free (box);
    lose_current (pool, error);
    return;
  }
  box->prefaulted = calm;
  box->zygote = pool->current;
  box->zygote->boxes++;
}

/* The limits that most runs have are set ahead, so that hand-out need not. */
static void
put_into_cgroup (struct pool *pool, struct box *box)
{
  struct cgroup_node *node = pool->pools->host->cgroups;
  struct fault fault = {0};
  char name[32];
  if (!node)
    return;
  g_snprintf (name, sizeof name, "run-%" G_GUINT64_FORMAT, box->number);
  box->cgroup_limits = (struct cgroup_limits){
      .memory_bytes = limit_table[LIMIT_MEMORY].standard,
      .pids = limit_table[LIMIT_PIDS].standard,
  };
  if (cgroup_create (node, name, &box->cgroup_limits, &box->cgroup, &fault) == 0 &&
      cgroup_attach (box->cgroup, box->worker_pid, &fault) == 0) {
    box->memory_fd = cgroup_watch_memory (box->cgroup);
    return;
  }
  /* The run goes on without, and its result says so. */
  log_warning ("a sandbox of %s is in no control group: %s: %s", pool->name, fault.step,
               g_strerror (fault.err));
  cgroup_remove (g_steal_pointer (&box->cgroup), NULL);
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

/* BOX is ready: for a caller who waits, or to be kept. One that nobody wants any more, because its caller has
 * left or its zygote is replaced, ends. */
static void
park (struct pool *pool, struct box *box)
{
  struct pools *pools = pool->pools;
  usage_mark (box);
  if (!box->cgroup)
    box->parked.own_bytes = own_bytes (box);
  workspace_measure (box->workspace_fd, &box->workspace_mark);
  g_queue_unlink (&pool->parking, &box->link);
  pool->failures = 0;

  g_mutex_lock (&pools->lock);
  g_clear_error (&pool->failure);
  gboolean wanted = !pool->stale && box->zygote == pool->current;
  if (wanted) {
    g_queue_push_tail_link (&pool->parked, &box->link);
    pool->parkings++;
    g_cond_broadcast (&pools->parked);
    pools_dispatch (pools);
    wanted = box->taken || pool_keeps_shape (&box->limits);
    if (!wanted)
      g_queue_unlink (&pool->parked, &box->link);
  }
  g_mutex_unlock (&pools->lock);

  if (!wanted)
    start_ending (pool, box);
  else if (pool->old_parked)
    discard_old (pool);
}

/* ---- what happened ---- */

static gint64
parking_bound (uint32_t kind)
{
  switch (kind) {
  case WIRE_READY:
    return sizeof (struct wire_ready);
  case WIRE_FAULT:
    return sizeof (struct fault);
  default:
    return -1;
  }
}

static gboolean
take_ready (struct box *box, uint32_t kind, const char *data, gsize length, GError **error)
{
  if (kind == WIRE_READY && length == sizeof box->ready) {
    memcpy (&box->ready, data, sizeof box->ready);
    if (box->ready.version == WIRE_VERSION)
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
  g_queue_unlink (&pool->parking, &box->link);
  start_ending (pool, box);
  spawn_failed (pool, error);
}

static void
on_parking (struct pool *pool, struct box *box)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = NULL;
  uint32_t kind;
  gsize length;
  switch (channel_receive (&box->channel, parking_bound, &kind, &data, &length)) {
  case CHANNEL_WAIT:
    return;
  case CHANNEL_FRAME:
    if (take_ready (box, kind, data, length, &error)) {
      park (pool, box);
      return;
    }
    break;
  default:
    g_set_error (&error, ADDER_ERROR, ADDER_ERROR_FAILED, "it ended while it was being parked");
  }
  parking_failed (pool, box, error);
}

static void
expire_parking (struct pool *pool)
{
  gint64 now = g_get_monotonic_time ();
  for (GList *link = pool->parking.head, *next; link; link = next) {
    struct box *box = link->data;
    next = link->next;
    if (now < box->deadline_us)
      continue;
    g_autoptr (GError) error = g_error_new (ADDER_ERROR, ADDER_ERROR_FAILED, "it was not ready in time");
    parking_failed (pool, box, error);
  }
}

/* The zygote of BOX has answered: a sandbox is on its way, or not. */
static void
on_spawned (struct pool *pool, struct box *box)
{
  put_into_cgroup (pool, box);
  box->deadline_us = g_get_monotonic_time () + PARK_US;
  g_queue_push_tail_link (&pool->parking, &box->link);
}

static void
on_control (struct pool *pool, struct zygote *zygote)
{
  g_autoptr (GError) error = NULL;
  struct box *box;
  enum zygote_news news = zygote_read (zygote, &box, &error);
  switch (news) {
  case ZYGOTE_NEWS_NONE:
    return;
  case ZYGOTE_NEWS_SERVING:
    succeed (pool);
    return;
  case ZYGOTE_NEWS_SPAWNED:
    on_spawned (pool, box);
    return;
  case ZYGOTE_NEWS_REFUSED:
    start_ending (pool, box);
    spawn_failed (pool, error);
    return;
  case ZYGOTE_NEWS_ENDED:
    break;
  }
  if (box)
    start_ending (pool, box);
  if (zygote == pool->next) {
    g_ptr_array_add (pool->draining, g_steal_pointer (&pool->next));
    start_failed (pool, error);
  } else if (zygote == pool->current) {
    lose_current (pool, error);
  }
}

/* A parked sandbox ended: killed from outside, or by the kernel for memory. */
static void
on_parked_exit (struct pool *pool, struct box *box)
{
  g_mutex_lock (&pool->pools->lock);
  gboolean parked = g_queue_find (&pool->parked, box) != NULL;
  if (parked)
    g_queue_unlink (&pool->parked, &box->link);
  g_mutex_unlock (&pool->pools->lock);
  if (parked)
    start_ending (pool, box);
}

/* ---- waiting ---- */

enum source_kind {
  SOURCE_WAKE,
  SOURCE_CONTROL,
  SOURCE_MESSAGES,
  SOURCE_PARKING,
  SOURCE_PARKED,
  SOURCE_ENDING
};

struct source {
  enum source_kind kind;
  gpointer object;
};

struct watch {
  GArray *pollfds; /* struct pollfd */
  GArray *sources; /* struct source */
};

static void
add_source (struct watch *watch, int fd, enum source_kind kind, gpointer object)
{
  if (fd < 0)
    return;
  struct pollfd pollfd = {.fd = fd, .events = POLLIN};
  struct source source = {kind, object};
  g_array_append_val (watch->pollfds, pollfd);
  g_array_append_val (watch->sources, source);
}

static void
add_zygote (struct watch *watch, struct zygote *zygote)
{
  if (!zygote)
    return;
  if (zygote->state != ZYGOTE_ENDED)
    add_source (watch, zygote->control_fd, SOURCE_CONTROL, zygote);
  add_source (watch, zygote->message_fd, SOURCE_MESSAGES, zygote);
}

static void
collect_sources (struct pool *pool, struct watch *watch)
{
  g_array_set_size (watch->pollfds, 0);
  g_array_set_size (watch->sources, 0);
  add_source (watch, pool->wake_fd, SOURCE_WAKE, pool);
  add_zygote (watch, pool->current);
  add_zygote (watch, pool->next);
  for (guint i = 0; i < pool->draining->len; i++)
    add_zygote (watch, pool->draining->pdata[i]);
  for (GList *link = pool->parking.head; link; link = link->next)
    add_source (watch, ((struct box *)link->data)->socket_fd, SOURCE_PARKING, link->data);
  for (GList *link = pool->ending.head; link; link = link->next)
    add_source (watch, ((struct box *)link->data)->exit_fd, SOURCE_ENDING, link->data);
  g_mutex_lock (&pool->pools->lock);
  for (GList *link = pool->parked.head; link; link = link->next)
    add_source (watch, ((struct box *)link->data)->exit_fd, SOURCE_PARKED, link->data);
  pool->zygotes = (pool->current ? 1 : 0) + (pool->next ? 1 : 0) + pool->draining->len;
  pool->parking_count = pool->parking.length;
  g_mutex_unlock (&pool->pools->lock);
}

static void
on_source (struct pool *pool, const struct source *source)
{
  eventfd_t ignored;
  switch (source->kind) {
  case SOURCE_WAKE:
    (void)eventfd_read (pool->wake_fd, &ignored);
    break;
  case SOURCE_CONTROL:
    on_control (pool, source->object);
    break;
  case SOURCE_MESSAGES:
    zygote_read_messages (source->object);
    break;
  case SOURCE_PARKING:
    if (g_queue_find (&pool->parking, source->object))
      on_parking (pool, source->object);
    break;
  case SOURCE_PARKED:
    on_parked_exit (pool, source->object);
    break;
  case SOURCE_ENDING:
    (void)box_read_exit (source->object);
    break;
  }
}

static void
earlier (gint64 *deadline_us, gint64 candidate_us)
{
  if (*deadline_us < 0 || candidate_us < *deadline_us)
    *deadline_us = candidate_us;
}

/* When something is due though nothing happens: -1 for never. */
static gint64
next_deadline_us (struct pool *pool)
{
  gint64 deadline_us = -1;
  if (pool->next)
    earlier (&deadline_us, start_deadline_us (pool));
  for (GList *link = pool->parking.head; link; link = link->next)
    earlier (&deadline_us, ((struct box *)link->data)->deadline_us);
  if (pool->current && pool->spawn_us > g_get_monotonic_time ())
    earlier (&deadline_us, pool->spawn_us);
  g_mutex_lock (&pool->pools->lock);
  if (!pool->next && pool->retry_us > 0 && (pool->stale || (pool->wanted && !pool->current)))
    earlier (&deadline_us, pool->retry_us);
  g_mutex_unlock (&pool->pools->lock);
  return deadline_us;
}

static void
wait_for_sources (struct pool *pool, struct watch *watch)
{
  collect_sources (pool, watch);
  gint64 deadline_us = next_deadline_us (pool);
  int timeout_ms = -1;
  if (deadline_us >= 0)
    timeout_ms = (int)CLAMP ((deadline_us - g_get_monotonic_time () + 999) / 1000, 0, G_MAXINT);
  if (poll ((struct pollfd *)(void *)watch->pollfds->data, watch->pollfds->len, timeout_ms) <= 0)
    return;
  for (guint i = 0; i < watch->pollfds->len; i++)
    if (g_array_index (watch->pollfds, struct pollfd, i).revents)
      on_source (pool, &g_array_index (watch->sources, struct source, i));
}

/* ---- the loop ---- */

static void
take_turn (struct pool *pool)
{
  take_discarded (pool);
  bury_ended (pool);
  free_drained (pool);
  give_up_late_start (pool);
  expire_parking (pool);
  if (needs_zygote (pool))
    start_next (pool);
  spawn_next (pool);
}

static void
end_zygote (struct zygote *zygote)
{
  struct box *spawning = zygote ? g_steal_pointer (&zygote->spawning) : NULL;
  zygote_free (zygote);
  box_free (spawning);
}

/* The zygotes' end is every sandbox's end, also of those that runs still hold. */
static void
end_all (struct pool *pool)
{
  take_discarded (pool);
  end_zygote (g_steal_pointer (&pool->current));
  end_zygote (g_steal_pointer (&pool->next));
  for (guint i = 0; i < pool->draining->len; i++)
    end_zygote (pool->draining->pdata[i]);
  g_ptr_array_set_size (pool->draining, 0);

  GQueue *const lists[] = {&pool->parking, &pool->ending, &pool->parked};
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    for (GList *link; (link = g_queue_pop_head_link (lists[i]));)
      box_free (link->data);
}

/* An embedding program's signal handlers expect its own threads; what a fault of ours raises is left alone.
 */
static void
block_signals (void)
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  sigset_t blocked;
  sigfillset (&blocked);
  for (gsize i = 0; i < G_N_ELEMENTS (faults); i++)
    sigdelset (&blocked, faults[i]);
  pthread_sigmask (SIG_SETMASK, &blocked, NULL);
}

gpointer
pool_thread (gpointer data)
{
  struct pool *pool = data;
  struct watch watch = {
      .pollfds = g_array_new (FALSE, FALSE, sizeof (struct pollfd)),
      .sources = g_array_new (FALSE, FALSE, sizeof (struct source)),
  };
  block_signals ();
  while (!pools_are_closed (pool->pools)) {
    take_turn (pool);
    wait_for_sources (pool, &watch);
  }
  end_all (pool);
  g_array_unref (watch.pollfds);
  g_array_unref (watch.sources);
  return NULL;
}
