/* SPDX-License-Identifier: Apache-2.0 */
/* What a pool's thread does where each sandbox has a container of its own: the box is made first, and is
 * parking from then on; with it comes a zygote whose container is made for that box alone, and which is asked
 * for it as soon as it serves. So it drains from its beginning, and there is never a current one.
 *
 * A container is dear, and what it holds cannot be set anew: those that are kept parked have the shape that
 * was asked for last. */
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/log.h"
#include "common/paths.h"
#include "containers/image_build.h"
#include "engine/launcher.h"
#include "engine/lend.h"
#include "engine/pool_private.h"

/* More would only delay the first: a start is work for the engine and for a processor. */
#define STARTS_AT_ONCE 2

/* Removing one takes the engine half a second. When it is so far behind, something is wrong with it. */
#define LEAVING_MOST 64

/* After the first failure in a row, doubled with each further one. */
#define RETRY_US   (G_USEC_PER_SEC / 4)
#define RETRY_MOST (30 * G_USEC_PER_SEC)

/* The zygote, beside what is the run's own. */
#define OWN_PIDS 1

/* ---- the image ---- */

char *
pool_image_stamp (const struct config *config)
{
  g_autofree char *directory = paths_state_dir (NULL);
  g_autofree char *path = directory ? g_build_filename (directory, CONTAINER_IMAGE_STAMP, NULL) : NULL;
  struct stat st = {0};
  if (path)
    (void)stat (path, &st);
  return g_strdup_printf ("%s-%ju-%jd.%09ld", config->container_image, (uintmax_t)st.st_ino,
                          (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* The image is another one now: what is on its way goes. What was parked went when that was noticed. */
static void
drop_stale (struct pool *pool)
{
  struct pools *pools = pool->pools;
  g_mutex_lock (&pools->lock);
  gboolean stale = pool->stale;
  g_mutex_unlock (&pools->lock);
  if (!stale)
    return;
  for (GList *link; (link = g_queue_pop_head_link (&pool->parking));)
    pool_box_end (pool, link->data);
  g_autofree char *stamp = pool_image_stamp (pools->host->config);
  g_rw_lock_writer_lock (&pool->environment_lock);
  g_free (pool->fingerprint);
  pool->fingerprint = g_steal_pointer (&stamp);
  g_rw_lock_writer_unlock (&pool->environment_lock);
  g_mutex_lock (&pools->lock);
  pool->stale = FALSE;
  pool->retry_us = 0;
  g_clear_error (&pool->failure);
  g_mutex_unlock (&pools->lock);
}

/* ---- starting ---- */

gboolean
pool_keeps_like (const struct pool *pool, const struct box *box)
{
  return pool->keeps[SHAPE_PLAIN] && shape_same (&box->shape, &pool->kept, pool->isolation);
}

static guint
count_kept (const struct pool *pool, const GQueue *boxes)
{
  guint count = 0;
  for (const GList *link = boxes->head; link; link = link->next)
    count += pool_keeps_like (pool, link->data);
  return count;
}

/* What the next container should be made for, with memory reserved for it: as for other sandboxes. */
static gboolean
choose (struct pool *pool, struct shape *ret_shape)
{
  struct pools *pools = pool->pools;
  guint64 most = pools->host->config->container_parked;
  g_mutex_lock (&pools->lock);
  struct pool_choice choice = {.round = {.budget = &pools->budget}};
  pool_choose_waited (pool, &choice);
  if (!choice.chosen && !choice.round.first_short && pool->keeps[SHAPE_PLAIN] &&
      count_kept (pool, &pool->parked) + count_kept (pool, &pool->parking) < most &&
      budget_may_park (&pools->budget, BUDGET_CONTAINER_BYTES, choice.promised)) {
    choice.shape = pool->kept;
    choice.chosen = TRUE;
  }
  if (choice.chosen)
    budget_park (&pools->budget, BUDGET_CONTAINER_BYTES);
  g_mutex_unlock (&pools->lock);
  *ret_shape = choice.shape;
  return choice.chosen;
}

static guint
count_starting (const struct pool *pool)
{
  guint count = 0;
  for (const GList *link = pool->parking.head; link; link = link->next)
    count += ((const struct box *)link->data)->worker_fd < 0;
  return count;
}

static gboolean
may_start (struct pool *pool)
{
  gint64 now = g_get_monotonic_time ();
  if (now >= pool->spawn_us)
    pool->spawn_us = 0;
  g_mutex_lock (&pool->pools->lock);
  gboolean wanted = pool->wanted && now >= pool->retry_us;
  g_mutex_unlock (&pool->pools->lock);
  return wanted && pool->spawn_us == 0 && count_starting (pool) < STARTS_AT_ONCE &&
         pool->draining->len < LEAVING_MOST + pool->pools->host->config->max_running;
}

/* Which way a directory gets there (containers/order.h). */
static char *
lend_word (const struct host *host, const struct shape *shape, int lent_fd)
{
  const char *word = lent_fd < 0          ? NULL
                     : host->owner.assume ? CONTAINER_LEND_MOUNT
                     : shape->read_only   ? CONTAINER_LEND_READ
                                          : CONTAINER_LEND_WRITE;
  return (char *)(guintptr)word;
}

static struct zygote *
start_zygote (struct pool *pool, struct box *box, int spawn[WIRE_SPAWN_FDS], GError **error)
{
  struct host *host = pool->pools->host;
  const struct config *config = host->config;
  const guint64 *limit = box->shape.limits.value;
  int lent_fd = spawn[WIRE_SPAWN_DIRECTORY];
  g_autofree char *path = lent_fd < 0 || host->owner.assume ? NULL : lend_path (lent_fd);
  g_autofree char *name = g_strdup_printf ("adder-%08x%08x", g_random_int (), g_random_int ());
  const struct container_order order = {
      .engine = config->container_engine,
      .socket = config->container_socket,
      .runtime = config->container_runtime,
      .name = name,
      .image = config->container_image,
      .image_age_ms = config->container_image_age_ms,
      .start_ms = config->container_start_ms,
      .environment = pool->name,
      .memory_bytes = limit[LIMIT_MEMORY],
      .pids = limit[LIMIT_PIDS] + OWN_PIDS,
      .cpu_percent = limit[LIMIT_CPU_PERCENT],
      .uid = host->owner.uid,
      .gid = host->owner.gid,
      .shm_bytes = limit[LIMIT_SHM],
      .workspace_bytes = limit[LIMIT_WORKSPACE],
      .workspace_files = limit[LIMIT_WORKSPACE_FILES],
      .home = (char *)(guintptr)scratch_path (host->scratch),
      .lend = lend_word (host, &box->shape, lent_fd),
      .directory = path,
  };
  return zygote_start_contained (host, &order, box, spawn, error);
}

/* The box alone; its budget is reserved. */
static struct box *
make_box (struct pool *pool, const struct shape *shape, int spawn[WIRE_SPAWN_FDS], GError **error)
{
  struct host *host = pool->pools->host;
  gboolean host_sockets = shape_has_host_sockets (shape, ISOLATION_CONTAINER);
  if (!host_prepare (host, ISOLATION_CONTAINER, NETWORK_NONE, host_sockets, error))
    return NULL;
  struct box *box = box_new (pool, shape, NULL, spawn, error);
  if (!box)
    return NULL;
  box->contained = TRUE;
  box->reserved_bytes = BUDGET_CONTAINER_BYTES;
  return box;
}

static void
start (struct pool *pool, struct shape *shape)
{
  g_autoptr (GError) error = NULL;
  int spawn[WIRE_SPAWN_FDS];
  struct box *box = make_box (pool, shape, spawn, &error);
  if (!box)
    shape_close (shape);
  struct zygote *zygote = box ? start_zygote (pool, box, spawn, &error) : NULL;
  g_mutex_lock (&pool->pools->lock);
  pool->starts++;
  if (!zygote)
    budget_release (&pool->pools->budget, 0, 0, BUDGET_CONTAINER_BYTES);
  g_mutex_unlock (&pool->pools->lock);
  if (!zygote) {
    box_free (box);
    pool_container_failed (pool, shape, error);
    return;
  }
  box->zygote = zygote;
  box->deadline_us = zygote->started_us + (gint64)pool->pools->host->config->container_start_ms * 1000;
  zygote->boxes = 1;
  g_ptr_array_add (pool->draining, zygote);
  g_queue_push_tail_link (&pool->parking, &box->link);
}

void
pool_start_containers (struct pool *pool)
{
  struct shape shape;
  drop_stale (pool);
  while (may_start (pool) && choose (pool, &shape))
    start (pool, &shape);
}

/* ---- failing ---- */

/* Nobody waits for a container while none can be had at all. That is told once. */
static void
refuse (struct pool *pool, const GError *error)
{
  struct pools *pools = pool->pools;
  pool->start_failures++;
  g_mutex_lock (&pools->lock);
  gboolean known = pool->failure && g_str_equal (pool->failure->message, error->message);
  pool->retry_us = g_get_monotonic_time () + pool_retry_delay (RETRY_US, RETRY_MOST, pool->start_failures);
  pool->serving = pool->wanted = FALSE;
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (error);
  /* What timed out is the engine, not what a caller runs. */
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    pool->failure->code = ADDER_ERROR_FAILED;
  pool_fail_waiters (pool, pool->failure);
  g_mutex_unlock (&pools->lock);
  if (!known)
    log_warning ("%s", error->message);
}

/* What one shape fails of, such as too little memory to load the packages, others may not. */
static void
note_failure (struct pool *pool, const struct shape *shape, const GError *error)
{
  pool->failures++;
  pool->spawn_us = g_get_monotonic_time () + pool_retry_delay (RETRY_US, RETRY_MOST, pool->failures);
  log_warning ("a container could not be made: %s", error->message);
  if (pool->failures < POOL_FAILURES_OK)
    return;
  g_autoptr (GError) told = g_error_copy (error);
  g_prefix_error (&told, "no container can be made: ");
  g_mutex_lock (&pool->pools->lock);
  /* Kept for nobody, it would be tried for ever. */
  if (shape_same (shape, &pool->kept, pool->isolation))
    pool->keeps[SHAPE_PLAIN] = FALSE;
  g_mutex_unlock (&pool->pools->lock);
  pool_fail_shape (pool, shape, told);
}

/* What is wrong with somebody's directory is his alone. */
static void
fail_lent (struct pool *pool, const struct shape *shape, const GError *error)
{
  g_autoptr (GError) told = g_error_copy (error);
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    told->code = ADDER_ERROR_FAILED;
  log_warning ("a container with a work directory could not be made: %s", error->message);
  pool_fail_shape (pool, shape, told);
}

void
pool_container_failed (struct pool *pool, const struct shape *shape, const GError *error)
{
  if (shape->lent > 0)
    fail_lent (pool, shape, error);
  else if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED) ||
           g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    refuse (pool, error);
  else
    note_failure (pool, shape, error);
}

void
pool_set_late (const struct pool *pool, const struct box *box, GError **error)
{
  if (box->contained)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "no container was ready within %" G_GUINT64_FORMAT " ms ([container] start_ms)",
                 pool->pools->host->config->container_start_ms);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "it was not ready in time");
}

/* ---- what zygotes say ---- */

/* The box of ZYGOTE, which is being parked, or NULL: it is no more. */
static struct box *
find_parking (const struct pool *pool, const struct zygote *zygote)
{
  for (const GList *link = pool->parking.head; link; link = link->next)
    if (((struct box *)link->data)->zygote == zygote)
      return link->data;
  return NULL;
}

static void
fail_box (struct pool *pool, struct box *box, const GError *error)
{
  const struct shape shape = box->shape;
  g_queue_unlink (&pool->parking, &box->link);
  pool_box_end (pool, box);
  pool_container_failed (pool, &shape, error);
}

void
pool_container_news (struct pool *pool, struct zygote *zygote, enum zygote_news news, const GError *error)
{
  struct box *box = find_parking (pool, zygote);
  uint32_t mitigations = pool->pools->host->mitigations | (box ? box->shape.mitigations : 0);
  uint32_t flags =
      WIRE_SPAWN_UNTOUCHED | (zygote->lent_fd >= 0 ? WIRE_SPAWN_LENT : 0) | mitigations << WIRE_MITIGATIONS;
  g_autoptr (GError) problem = NULL;
  if (!box)
    return;
  switch (news) {
  case ZYGOTE_NEWS_NONE:
    return;
  case ZYGOTE_NEWS_SERVING:
    log_info ("a container is ready after %" G_GINT64_FORMAT " ms (Python %s)",
              (g_get_monotonic_time () - zygote->started_us) / 1000, zygote->info->version);
    if (!zygote_spawn (zygote, box, zygote->spawn, flags, &problem))
      fail_box (pool, box, problem);
    return;
  case ZYGOTE_NEWS_SPAWNED:
    g_queue_unlink (&pool->parking, &box->link);
    pool_box_spawned (pool, box);
    return;
  case ZYGOTE_NEWS_REFUSED:
  case ZYGOTE_NEWS_ENDED:
    fail_box (pool, box, error);
  }
}

/* ---- parking ---- */

/* One of the shape that is kept was parked: those of an older one make room. */
void
pool_shed_containers (struct pool *pool)
{
  guint64 most = pool->pools->host->config->container_parked;
  g_mutex_lock (&pool->pools->lock);
  for (GList *link = pool->parked.head, *next; link && pool->parked.length > most; link = next) {
    next = link->next;
    if (pool_keeps_like (pool, link->data))
      continue;
    g_queue_unlink (&pool->parked, link);
    g_queue_push_tail_link (&pool->discarded, link);
  }
  gboolean shed = pool->discarded.length > 0;
  g_mutex_unlock (&pool->pools->lock);
  if (shed)
    pool_wake (pool);
}

/* ---- what earlier daemons left ---- */

/* Nobody waits for that: its launcher is reaped when it is over, or with the pool. */
void
pool_sweep_containers (struct pool *pool)
{
  const struct host *host = pool->pools->host;
  const struct config *config = host->config;
  g_autoptr (GError) error = NULL;
  const struct container_order order = {
      .engine = config->container_engine,
      .socket = config->container_socket,
      .runtime = config->container_runtime,
      .image = config->container_image,
      .start_ms = config->container_start_ms,
      .environment = pool->name,
      .home = host->libexec,
  };
  g_autofree char *text = container_order_write (&order);
  char *const arguments[] = {host->container_launcher, (char *)(guintptr) "sweep", text, NULL};
  if (!launcher_start_alone (host->container_launcher, arguments, &pool->sweep_fd, &error))
    log_warning ("containers of earlier daemons are not looked for: %s", error->message);
}

/* ---- deadlines ---- */

gint64
pool_containers_deadline_us (struct pool *pool)
{
  gint64 deadline_us = -1;
  if (pool->spawn_us > 0)
    deadline_us = pool->spawn_us;
  g_mutex_lock (&pool->pools->lock);
  if (pool->wanted && pool->retry_us > g_get_monotonic_time ())
    deadline_us = pool_earlier (deadline_us, pool->retry_us);
  g_mutex_unlock (&pool->pools->lock);
  for (guint i = 0; i < pool->draining->len; i++) {
    const struct zygote *zygote = pool->draining->pdata[i];
    if (zygote->spawning)
      deadline_us = pool_earlier (deadline_us, zygote->answer_us);
  }
  return deadline_us;
}
