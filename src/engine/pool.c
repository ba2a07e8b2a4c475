/* SPDX-License-Identifier: Apache-2.0 */
/* The callers' side of the pools: asking, waiting, giving back. */
#include "engine/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/size.h"
#include "engine/pool_private.h"
#include "engine/request.h"

/* So many dead boxes are passed over; that even the next one is dead says that something else is wrong. */
#define DEAD_BOXES_MOST 300

/* What the first parking may take after the zygote's start. */
#define WARM_GRACE_US (10 * G_USEC_PER_SEC)

/* ---- the set of pools ---- */

static void
pool_free (gpointer data)
{
  struct pool *pool = data;
  fd_close (&pool->wake_fd);
  fd_close (&pool->parked_fd);
  g_rw_lock_clear (&pool->environment_lock);
  environment_free (pool->environment);
  g_clear_error (&pool->failure);
  g_ptr_array_unref (pool->draining);
  g_free (pool->fingerprint);
  g_free (pool->name);
  g_free (pool);
}

/* Pools by what they are for: an environment, a kind of isolation, and whether the network is the host's. */
static guint
hash_pool (gconstpointer key)
{
  const struct pool *pool = key;
  return g_str_hash (pool->name) + (guint)pool->isolation * NETWORKS + (guint)pool->network;
}

static gboolean
equal_pools (gconstpointer a, gconstpointer b)
{
  const struct pool *one = a, *other = b;
  return one->isolation == other->isolation && one->network == other->network &&
         g_str_equal (one->name, other->name);
}

struct pools *
pools_new (struct host *host)
{
  struct pools *pools = g_new0 (struct pools, 1);
  pools->host = host;
  g_mutex_init (&pools->lock);
  g_cond_init (&pools->parked);
  pools->queue = queue_new (host->config->max_queued);
  pools->budget.max_running = host->config->max_running;
  pools->budget.max_bytes = config_max_memory (host->config);
  pools->pools = g_hash_table_new_full (hash_pool, equal_pools, NULL, pool_free);
  return pools;
}

static void
set_closed (GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the engine was closed");
}

void
pools_close (struct pools *pools)
{
  g_autoptr (GPtrArray) threads = g_ptr_array_new ();
  g_autoptr (GError) closed = NULL;
  GHashTableIter iter;
  gpointer value;
  set_closed (&closed);

  g_mutex_lock (&pools->lock);
  pools->closed = TRUE;
  g_cond_broadcast (&pools->parked);
  g_hash_table_iter_init (&iter, pools->pools);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct pool *pool = value;
    pool_fail_waiters (pool, closed);
    pool_wake (pool);
    if (pool->thread)
      g_ptr_array_add (threads, g_steal_pointer (&pool->thread));
  }
  g_mutex_unlock (&pools->lock);

  for (guint i = 0; i < threads->len; i++)
    g_thread_join (threads->pdata[i]);
}

gboolean
pools_are_closed (struct pools *pools)
{
  g_mutex_lock (&pools->lock);
  gboolean closed = pools->closed;
  g_mutex_unlock (&pools->lock);
  return closed;
}

void
pools_free (struct pools *pools)
{
  if (!pools)
    return;
  g_hash_table_unref (pools->pools);
  queue_free (pools->queue);
  g_cond_clear (&pools->parked);
  g_mutex_clear (&pools->lock);
  g_free (pools);
}

/* As KEY says. Takes ENVIRONMENT. */
static struct pool *
pool_new (struct pools *pools, const struct pool *key, struct environment *environment, GError **error)
{
  struct pool *pool = g_new0 (struct pool, 1);
  pool->pools = pools;
  pool->name = g_strdup (key->name);
  pool->isolation = key->isolation;
  pool->network = key->network;
  pool->environment = environment;
  pool->sweep_fd = -1;
  if (key->isolation == ISOLATION_CONTAINER)
    pool->fingerprint = pool_image_stamp (pools->host->config);
  else
    pool->keeps[SHAPE_PLAIN] = TRUE;
  pool->draining = g_ptr_array_new ();
  g_rw_lock_init (&pool->environment_lock);
  pool->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  pool->parked_fd = pool->wake_fd < 0 ? -1 : epoll_create1 (EPOLL_CLOEXEC);
  if (pool->parked_fd < 0)
    error_from_errno (error, errno, "cannot make the descriptors of a pool");
  else
    pool->thread = g_thread_try_new ("adder-pool", pool_thread, pool, error);
  if (!pool->thread) {
    pool_free (pool);
    return NULL;
  }
  return pool;
}

static struct pool *
find_pool (struct pools *pools, const struct pool *key)
{
  g_mutex_lock (&pools->lock);
  struct pool *pool = g_hash_table_lookup (pools->pools, key);
  g_mutex_unlock (&pools->lock);
  return pool;
}

/* Those of callers' own environments, which nobody made or removes, are bounded. */
static gboolean
has_room (struct pools *pools, const struct pool *key, GError **error)
{
  guint64 most = pools->host->config->own_environments, count = 0;
  GHashTableIter iter;
  gpointer other;
  if (!environment_is_own (key->name))
    return TRUE;
  g_hash_table_iter_init (&iter, pools->pools);
  while (g_hash_table_iter_next (&iter, &other, NULL))
    count += environment_is_own (((const struct pool *)other)->name);
  if (count < most)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
               "%s would be one more than the %" G_GUINT64_FORMAT
               " environments of callers that a daemon serves ([environment] own_most): raise it, or end the "
               "daemon (adder stop), which forgets those it has",
               key->name, most);
  return FALSE;
}

static gboolean
check_own (const struct pool *key, GError **error)
{
  if (key->isolation == ISOLATION_NAMESPACES)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "your own environment, %s, needs isolation \"namespaces\" (level 2), and not \"%s\"",
               key->name, isolation_names[key->isolation]);
  return FALSE;
}

struct pool *
pools_get (struct pools *pools, const char *name, enum isolation isolation, enum network network,
           GError **error)
{
  if (isolation == ISOLATION_AUTO)
    isolation = pools->host->isolation;
  if (network == NETWORK_ALLOW)
    network = NETWORK_NONE; /* its zygotes can make both */
  gboolean contained = isolation == ISOLATION_CONTAINER;
  const struct pool key = {
      .name = (char *)(guintptr)(contained ? POOL_CONTAINERS : name),
      .isolation = isolation,
      .network = network,
  };
  struct pool *pool = find_pool (pools, &key);
  gboolean own = !contained && environment_is_own (name);
  if (pool && !own)
    return pool;
  if (own && !check_own (&key, error))
    return NULL;
  /* A caller's own is looked at for each call: whose it is may have changed, and no fingerprint tells.
   * It may have to run an interpreter, so not under the lock. */
  struct environment *environment = contained ? NULL : environment_find (name, error);
  if (!environment && !contained)
    return NULL;

  g_mutex_lock (&pools->lock);
  pool = g_hash_table_lookup (pools->pools, &key);
  if (!pool && pools->closed) {
    set_closed (error);
  } else if (!pool && has_room (pools, &key, error)) {
    pool = pool_new (pools, &key, g_steal_pointer (&environment), error);
    if (pool)
      g_hash_table_add (pools->pools, pool);
  }
  g_mutex_unlock (&pools->lock);
  environment_free (environment);
  return pool;
}

enum isolation
pool_isolation (const struct pool *pool)
{
  return pool->isolation;
}

void
pool_wake (struct pool *pool)
{
  (void)eventfd_write (pool->wake_fd, 1);
}

void
pool_unwatch (struct pool *pool, struct box *box)
{
  (void)epoll_ctl (pool->parked_fd, EPOLL_CTL_DEL, box->exit_fd, NULL);
}

/* ---- handing parked boxes to callers ---- */

gboolean
pool_box_suits (const struct box *box, const struct waiter *waiter)
{
  return shape_same (&box->shape, &waiter->shape, waiter->pool->isolation) &&
         !(waiter->needs_modules && box->zygote->bare);
}

/* The newest first: what it touched last may still be in the processors' caches. */
static struct box *
find_parked (const struct waiter *waiter)
{
  for (GList *link = waiter->pool->parked.tail; link; link = link->prev)
    if (pool_box_suits (link->data, waiter))
      return link->data;
  return NULL;
}

/* The pool is woken to refill only when half of its boxes are gone: a short run then finds the processors
 * idle, and when it ends it wakes the pool anyway. */
static struct box *
unpark (struct pool *pool, struct box *box, guint64 bytes)
{
  g_queue_unlink (&pool->parked, &box->link);
  box->taken = TRUE;
  budget_run (&pool->pools->budget, box->reserved_bytes, bytes);
  box->reserved_bytes = bytes;
  if (box->contained || pool->parked.length < pool->pools->host->config->parked / 2)
    pool_wake (pool);
  return box;
}

static struct box *
find_box (const struct waiter *waiter)
{
  return waiter->kept ? waiter->kept : find_parked (waiter);
}

/* WAITER has BOX from now on. */
static struct box *
hand_over (const struct waiter *waiter, struct box *box)
{
  if (!waiter->kept)
    return unpark (waiter->pool, box, waiter->claim.bytes);
  box->taken = TRUE;
  box->reserved_bytes = waiter->claim.bytes;
  budget_resume (&box->pool->pools->budget, box->reserved_bytes);
  return box;
}

/* WAITER has left the queue, with what it got. */
static void
end_wait (struct waiter *waiter)
{
  waiter->done = TRUE;
  waiter->pool->waiting--;
  waiter->pool->pools->resuming -= waiter->kept != NULL;
  interrupt_wake (waiter->interrupt);
}

static gboolean
has_parked (struct pools *pools)
{
  GHashTableIter iter;
  gpointer pool;
  g_hash_table_iter_init (&iter, pools->pools);
  while (g_hash_table_iter_next (&iter, NULL, &pool))
    if (((struct pool *)pool)->parked.length > 0)
      return TRUE;
  return FALSE;
}

/* What is parked goes, but for KEPT (or NULL): a run needs nearly all the memory that there is. */
static void
shed_parked (struct pools *pools, const struct box *kept)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, pools->pools);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct pool *pool = value;
    for (GList *link = pool->parked.head, *next; link; link = next) {
      next = link->next;
      if (link->data == kept)
        continue;
      g_queue_unlink (&pool->parked, link);
      g_queue_push_tail_link (&pool->discarded, link);
    }
    pool_wake (pool);
  }
}

void
pools_dispatch (struct pools *pools)
{
  struct budget_round round = {.budget = &pools->budget};
  gboolean first = TRUE;
  /* Nothing that could be given away: as good as always, when many wait. */
  if (!has_parked (pools) && pools->resuming == 0)
    return;
  for (struct queue_place *place = queue_first (pools->queue), *next; place; place = next) {
    struct waiter *waiter = (struct waiter *)place;
    next = queue_next (place);
    struct box *box = find_box (waiter);
    enum budget_answer answer = budget_ask (&round, &waiter->claim, box ? box->reserved_bytes : 0);
    /* Nothing runs whose end would make room. */
    if (answer != BUDGET_ROOM && first && pools->budget.running == 0)
      shed_parked (pools, box);
    if (answer == BUDGET_END)
      return;
    first = FALSE;
    if (answer == BUDGET_ROOM && box) {
      queue_serve (pools->queue, place);
      budget_note_served (&round);
      waiter->box = hand_over (waiter, box);
      end_wait (waiter);
    } else if (answer == BUDGET_ROOM && budget_is_due (&pools->budget, &waiter->claim)) {
      budget_hold (&round, &waiter->claim);
    }
  }
}

void
pool_fail_waiters (struct pool *pool, const GError *error)
{
  struct queue *queue = pool->pools->queue;
  pool->refusals++;
  g_cond_broadcast (&pool->pools->parked);
  for (struct queue_place *place = queue_first (queue), *next; place; place = next) {
    struct waiter *waiter = (struct waiter *)place;
    next = queue_next (place);
    /* Who has a box needs none to be made. */
    if (waiter->pool != pool || (waiter->kept && !pool->pools->closed))
      continue;
    queue_leave (queue, place);
    waiter->error = g_error_copy (error);
    end_wait (waiter);
  }
}

void
pool_fail_shape (struct pool *pool, const struct shape *shape, const GError *error)
{
  struct queue *queue = pool->pools->queue;
  g_mutex_lock (&pool->pools->lock);
  /* Trying for ever would be at the cost of all others. */
  if (shape->network == NETWORK_ALLOW)
    pool->keeps[SHAPE_NETWORK] = FALSE;
  for (struct queue_place *place = queue_first (queue), *next; place; place = next) {
    struct waiter *waiter = (struct waiter *)place;
    next = queue_next (place);
    if (waiter->pool != pool || waiter->kept || waiter->shape.lent != shape->lent ||
        waiter->shape.network != shape->network)
      continue;
    if (pool->isolation == ISOLATION_CONTAINER && !shape_same (&waiter->shape, shape, pool->isolation))
      continue;
    queue_leave (queue, place);
    waiter->error = g_error_copy (error);
    end_wait (waiter);
  }
  g_mutex_unlock (&pool->pools->lock);
}

/* ---- asking ---- */

/* Packages were installed, or the interpreter was replaced: what was loaded before is not what the caller
 * should get. */
static void
notice_change (struct pool *pool)
{
  g_rw_lock_reader_lock (&pool->environment_lock);
  gboolean changed = FALSE;
  if (pool->fingerprint) {
    g_autofree char *now = pool->environment ? environment_fingerprint (pool->environment)
                                             : pool_image_stamp (pool->pools->host->config);
    changed = strcmp (now, pool->fingerprint) != 0;
  }
  g_rw_lock_reader_unlock (&pool->environment_lock);
  if (!changed)
    return;

  g_mutex_lock (&pool->pools->lock);
  pool->stale = TRUE;
  for (GList *link; (link = g_queue_pop_head_link (&pool->parked));)
    g_queue_push_tail_link (&pool->discarded, link);
  pool_wake (pool);
  g_mutex_unlock (&pool->pools->lock);
}

/* Gives WAITER a place in the queue, perhaps another one's. */
static gboolean
enter (struct pools *pools, struct waiter *waiter, GError **error)
{
  guint64 most = pools->host->config->max_queued;
  struct queue_place *place;
  if (!queue_enter (pools->queue, &waiter->place, &place)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "too many callers wait already (max_queued = %" G_GUINT64_FORMAT ")", most);
    return FALSE;
  }
  waiter->pool->waiting++;
  pools->resuming += waiter->kept != NULL;
  if (place) {
    struct waiter *displaced = (struct waiter *)place;
    g_set_error (&displaced->error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "so many runs of this owner waited that another's took the place of the newest (max_queued "
                 "= %" G_GUINT64_FORMAT ")",
                 most);
    end_wait (displaced);
  }
  return TRUE;
}

/* With the lock held: a box at once, or a place in the queue, or neither with ERROR. */
static struct box *
ask (struct pool *pool, struct waiter *waiter, GError **error)
{
  struct pools *pools = pool->pools;
  if (pools->closed) {
    set_closed (error);
    return NULL;
  }
  struct budget_round round = {.budget = &pools->budget};
  struct box *box = queue_length (pools->queue) == 0 ? find_box (waiter) : NULL;
  if (box && budget_ask (&round, &waiter->claim, box->reserved_bytes) == BUDGET_ROOM)
    return hand_over (waiter, box);
  if (!waiter->kept && !pool->serving && pool->failure && g_get_monotonic_time () < pool->retry_us) {
    g_propagate_error (error, g_error_copy (pool->failure));
    return NULL;
  }
  if (!enter (pools, waiter, error))
    return NULL;
  if (!waiter->kept) {
    pool->wanted = TRUE;
    pool_wake (pool);
  }
  pools_dispatch (pools);
  return NULL;
}

/* Whether WAITER, which has left the queue, waited for memory: for itself, or behind one for whom it is kept.
 */
static gboolean
lacks_memory (const struct waiter *waiter)
{
  const struct pools *pools = waiter->pool->pools;
  const struct budget *budget = &pools->budget;
  const struct waiter *next = (const struct waiter *)queue_first (pools->queue);
  struct budget_round round = {.budget = budget};
  struct budget_claim claim = waiter->claim;
  return budget->running < budget->max_running &&
         ((next && budget_is_due (budget, &next->claim)) || budget_ask (&round, &claim, 0) != BUDGET_ROOM);
}

static void
set_busy (const struct waiter *waiter, GError **error)
{
  const struct pools *pools = waiter->pool->pools;
  const struct budget *budget = &pools->budget;
  if (lacks_memory (waiter)) {
    g_autofree char *wanted = size_format (waiter->claim.bytes);
    g_autofree char *used = size_format (budget->running_bytes + budget->parked_bytes);
    g_autofree char *most = size_format (budget->max_bytes);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "no memory was free within %" G_GUINT64_FORMAT
                 " ms: %s are reserved (max_memory = %s), the run may use %s (memory_bytes), %" G_GSIZE_FORMAT
                 " callers wait",
                 pools->host->config->queue_wait_ms, used, most, wanted, queue_length (pools->queue));
    return;
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "no sandbox was free within %" G_GUINT64_FORMAT " ms: %" G_GUINT64_FORMAT
               " are in use (max_running = %" G_GUINT64_FORMAT "), %" G_GSIZE_FORMAT " callers wait",
               pools->host->config->queue_wait_ms, budget->running, budget->max_running,
               queue_length (pools->queue));
}

/* Takes WAITER out of the queue when END says that its wait is over. Returns whether it is, or was before. */
static gboolean
settle (struct waiter *waiter, enum wait end)
{
  struct pools *pools = waiter->pool->pools;
  g_mutex_lock (&pools->lock);
  if (!waiter->done && (end == WAIT_CANCELLED || end == WAIT_DEADLINE)) {
    queue_leave (pools->queue, &waiter->place);
    end_wait (waiter);
    if (end == WAIT_DEADLINE)
      set_busy (waiter, &waiter->error);
    else
      g_set_error (&waiter->error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "the run was cancelled");
  }
  gboolean done = waiter->done;
  g_mutex_unlock (&pools->lock);
  return done;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

/* Whether NAME stands somewhere in CODE, in whatever role. */
static gboolean
has_word (const char *code, const char *name, gsize length)
{
  g_autofree char *word = g_strndup (name, length);
  for (const char *at = code; (at = strstr (at, word)); at += length)
    if ((at == code || !is_word (at[-1])) && !is_word (at[length]))
      return TRUE;
  return FALSE;
}

/* Whether CODE names a module that is loaded ahead. Importing it itself would be sooner for the first run,
 * but count against its limits, and lack what the warm-up settles: figures that are shown, fonts. */
static gboolean
names_module (struct pool *pool, const char *code)
{
  gboolean names = FALSE;
  g_rw_lock_reader_lock (&pool->environment_lock);
  char *const *modules = pool->environment ? pool->environment->modules : NULL;
  for (guint i = 0; modules && modules[i] && !names; i++) {
    gsize length = strcspn (modules[i], ".");
    names = length > 0 && has_word (code, modules[i], length);
  }
  g_rw_lock_reader_unlock (&pool->environment_lock);
  return names;
}

/* WAITER is in the queue, or out of it again already. */
static struct box *
wait_for (struct waiter *waiter, guint64 most_ms, GError **error)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64)most_ms * 1000;
  enum wait end = WAIT_WOKEN;
  while (!settle (waiter, end))
    end = interrupt_wait_one (waiter->interrupt, -1, 0, deadline_us);
  if (waiter->error)
    g_propagate_error (error, waiter->error);
  return waiter->box;
}

/* The longest that a start may take. */
static guint64
start_ms (const struct pool *pool)
{
  const struct config *config = pool->pools->host->config;
  return pool->isolation == ISOLATION_CONTAINER ? config->container_start_ms : config->zygote_start_ms;
}

/* With the lock held: somebody asked for SHAPE, so it may be worth while to keep some. */
static void
note_wish (struct pool *pool, const struct shape *shape)
{
  if (pool->isolation == ISOLATION_CONTAINER && shape->lent > 0)
    return;
  if (pool->isolation == ISOLATION_CONTAINER) {
    pool->kept = *shape;
    pool->keeps[SHAPE_PLAIN] = TRUE;
    return;
  }
  enum shape_kind kind = shape_kind (shape, pool->isolation);
  if (kind != SHAPE_OTHER)
    pool->keeps[kind] = TRUE;
}

static struct box *
take (struct pool *pool, const char *owner, const struct shape *shape, const char *code,
      struct interrupt *interrupt, GError **error)
{
  struct pools *pools = pool->pools;
  const struct config *config = pools->host->config;
  struct waiter waiter = {.place.owner = owner ? owner : "",
                          .pool = pool,
                          .shape = *shape,
                          .claim.bytes = shape->limits.value[LIMIT_MEMORY],
                          .interrupt = interrupt};
  /* Without mounts of its own nothing sets it apart. */
  waiter.shape.session = shape->session && pool->isolation == ISOLATION_NAMESPACES;
  g_autoptr (GError) refusal = NULL;

  g_mutex_lock (&pools->lock);
  note_wish (pool, &waiter.shape);
  gboolean starting = !pool->serving || pool->stale || pool->bare;
  g_mutex_unlock (&pools->lock);
  gboolean contained = pool->isolation == ISOLATION_CONTAINER;
  waiter.needs_modules = starting && !contained && (!code || names_module (pool, code));
  g_mutex_lock (&pools->lock);
  struct box *box = ask (pool, &waiter, &refusal);
  /* A container is started whenever none of that shape is parked. */
  starting = !pool->serving || pool->stale || (pool->bare && waiter.needs_modules) || contained;
  g_mutex_unlock (&pools->lock);
  if (box)
    return box;
  if (refusal) {
    g_propagate_error (error, g_steal_pointer (&refusal));
    return NULL;
  }

  return wait_for (&waiter, config->queue_wait_ms + (starting ? start_ms (pool) : 0), error);
}

struct box *
pool_take (struct pool *pool, const char *owner, const struct shape *shape, const char *code,
           struct interrupt *interrupt, GError **error)
{
  notice_change (pool);
  for (int i = 0;; i++) {
    struct box *box = take (pool, owner, shape, code, interrupt, error);
    if (box)
      pool_unwatch (pool, box);
    /* A zygote that dies takes its parked boxes along, and the pool's thread may not have heard of it yet. */
    if (!box || !box_has_died (box) || i == DEAD_BOXES_MOST)
      return box;
    pool_discard (box);
  }
}

gboolean
pools_check_memory (struct pools *pools, const struct limits *limits, GError **error)
{
  /* Its maxima do not change, so the lock is not needed. */
  if (budget_can_hold (&pools->budget, limits->value[LIMIT_MEMORY]))
    return TRUE;
  g_autofree char *wanted = size_format (limits->value[LIMIT_MEMORY]);
  g_autofree char *most = size_format (pools->budget.max_bytes);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "the run may use %s of memory (memory_bytes), and all runs together may have %s (max_memory)",
               wanted, most);
  return FALSE;
}

/* PARKINGS were counted before. */
static gboolean
is_warm (const struct pool *pool, guint64 parkings)
{
  return pool->parkings != parkings || (pool->parked.length > 0 && !pool->bare);
}

gboolean
pool_warm (struct pool *pool, GError **error)
{
  struct pools *pools = pool->pools;
  gint64 deadline_us = g_get_monotonic_time () + (gint64)start_ms (pool) * 1000 + WARM_GRACE_US;
  g_mutex_lock (&pools->lock);
  guint64 parkings = pool->parkings, refusals = pool->refusals;
  gboolean waiting = TRUE;
  pool->wanted = TRUE;
  pool_wake (pool);
  while (waiting && !pools->closed && !is_warm (pool, parkings) && pool->refusals == refusals)
    waiting = g_cond_wait_until (&pools->parked, &pools->lock, deadline_us);
  gboolean warm = is_warm (pool, parkings);
  if (!warm && pools->closed)
    set_closed (error);
  else if (!warm && pool->failure)
    g_propagate_error (error, g_error_copy (pool->failure));
  else if (!warm)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "no sandbox of the environment %s was ready in time", pool->name);
  g_mutex_unlock (&pools->lock);
  return warm;
}

/* ---- boxes that are kept ---- */

void
pool_rest (struct box *box)
{
  struct pools *pools = box->pool->pools;
  g_mutex_lock (&pools->lock);
  if (box->taken && !pools->closed) {
    budget_release (&pools->budget, 1, box->reserved_bytes, 0);
    box->taken = FALSE;
    box->reserved_bytes = 0;
    pools_dispatch (pools);
    pools_wake_waiting (pools, NULL);
  }
  g_mutex_unlock (&pools->lock);
}

gboolean
pool_resume (struct box *box, const char *owner, guint64 bytes, struct interrupt *interrupt, GError **error)
{
  struct pool *pool = box->pool;
  struct waiter waiter = {.place.owner = owner,
                          .pool = pool,
                          .shape = box->shape,
                          .claim.bytes = bytes,
                          .interrupt = interrupt,
                          .kept = box};
  g_autoptr (GError) refusal = NULL;
  g_mutex_lock (&pool->pools->lock);
  gboolean resumed = ask (pool, &waiter, &refusal) != NULL;
  g_mutex_unlock (&pool->pools->lock);
  if (refusal)
    g_propagate_error (error, g_steal_pointer (&refusal));
  else if (!resumed)
    resumed = wait_for (&waiter, pool->pools->host->config->queue_wait_ms, error) != NULL;
  return resumed;
}

void
pool_replace (struct box *old, struct box *box)
{
  struct pools *pools = box->pool->pools;
  g_mutex_lock (&pools->lock);
  box->taken = old->taken;
  box->reserved_bytes = old->reserved_bytes;
  old->taken = FALSE;
  old->reserved_bytes = 0;
  g_mutex_unlock (&pools->lock);
}

/* ---- giving back ---- */

void
pool_discard (struct box *box)
{
  struct pool *pool = box->pool;
  struct pools *pools = pool->pools;
  g_mutex_lock (&pools->lock);
  gboolean closed = pools->closed;
  if (closed)
    budget_release (&pools->budget, box->taken, box->reserved_bytes, 0);
  else
    g_queue_push_tail_link (&pool->discarded, &box->link);
  g_mutex_unlock (&pools->lock);
  if (closed) {
    box_kill (box);
    box_release (box);
  } else
    pool_wake (pool); /* its thread kills: the caller has its reply the sooner */
}

/* Of those that are parked. */
static int
count_for_sessions (const struct pool *pool)
{
  int count = 0;
  for (const GList *link = pool->parked.head; link; link = link->next)
    count += ((const struct box *)link->data)->shape.session;
  return count;
}

json_t *
pools_status (struct pools *pools)
{
  json_t *list = json_array ();
  GHashTableIter iter;
  gpointer value;
  g_mutex_lock (&pools->lock);
  g_hash_table_iter_init (&iter, pools->pools);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const struct pool *pool = value;
    gboolean contained = pool->isolation == ISOLATION_CONTAINER;
    json_t *one = json_pack (
        "{s:s, s:s, s:i, s:b, s:b, s:i, s:i, s:i, s:I, s:s?}", "environment", pool->name, "backend",
        request_backend_names[contained ? BACKEND_CONTAINER : BACKEND_NATIVE], "zygotes", (int)pool->zygotes,
        "serving", (int)pool->serving, "bare", (int)pool->bare, "parked", (int)pool->parked.length,
        "for_sessions", count_for_sessions (pool), "parking", (int)pool->parking_count, "starts",
        (json_int_t)pool->starts, "failure", pool->failure ? pool->failure->message : NULL);
    json_array_append_new (list, one);
  }
  const struct budget *budget = &pools->budget;
  json_t *status = json_pack (
      "{s:i, s:i, s:{s:I, s:I, s:I}, s:o}", "running", (int)budget->running, "waiting",
      (int)queue_length (pools->queue), "memory", "max_bytes", (json_int_t)budget->max_bytes, "running_bytes",
      (json_int_t)budget->running_bytes, "parked_bytes", (json_int_t)budget->parked_bytes, "pools", list);
  g_mutex_unlock (&pools->lock);
  return status;
}
