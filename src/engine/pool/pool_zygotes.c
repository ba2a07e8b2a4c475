/* SPDX-License-Identifier: Apache-2.0 */
/* What a pool's thread does with zygotes: starts them when needed, replaces them when due, kills stuck ones,
 * and frees them after their last sandbox. */
#include "adder_types.h"
#include "common/log.h"
#include "engine/pool/pool_private.h"

/* After the first failure in a row, doubled with each further one. */
#define START_RETRY_US  (G_USEC_PER_SEC / 4)
#define START_RETRY_MAX (30 * G_USEC_PER_SEC)

/* So many losses in a row count as bad luck: callers keep waiting. */
#define LOSSES_OK 3

/* A zygote that has served this long did not die of its predecessor's cause. */
#define SETTLED_US (30 * G_USEC_PER_SEC)

/* The fraction of time, one part in so many, for starting zygotes because of crashes: the crash budget limits
 * what can be learnt about one address layout, and must not turn a loop of crashes into a loop of imports. */
#define CRASH_PART 20

gint64
pool_retry_delay (gint64 first, gint64 most, guint failures)
{
  return failures > 16 ? most : MIN (first << (failures - 1), most);
}

gint64
pool_earlier (gint64 deadline_us, gint64 candidate_us)
{
  return deadline_us < 0 ? candidate_us : MIN (deadline_us, candidate_us);
}

/* ---- starting ---- */

/* The current zygote, which is bare, makes no more sandboxes; those that it has parked are ended. */
static void
retire_current (struct pool *pool)
{
  pool_abandon_parking (pool, pool->current);
  g_ptr_array_add (pool->draining, g_steal_pointer (&pool->current));
  g_mutex_lock (&pool->pools->lock);
  pool->serving = pool->bare = FALSE;
  g_mutex_unlock (&pool->pools->lock);
  pool_discard_old (pool, 0);
}

/* It was the least used: no zygote until somebody asks again. */
static void
pool_rest (struct pool *pool)
{
  if (!pool->current || pool->next)
    return;
  g_mutex_lock (&pool->pools->lock);
  gboolean rests = (pool->rests || pool->leaves) && pool->waiting == 0;
  if (rests)
    pool->rests = pool->wanted = FALSE;
  g_mutex_unlock (&pool->pools->lock);
  if (!rests)
    return;
  log_info ("the zygote of %s ends: others are used more ([packages] warm, sets)", pool->name);
  retire_current (pool);
}

/* The starting bare zygote is no longer needed. It is freed once no poll result refers to it. */
void
pool_lose_bare (struct pool *pool)
{
  if (pool->bare_next)
    g_ptr_array_add (pool->draining, g_steal_pointer (&pool->bare_next));
}

/* Waiting callers get ERROR unless a serving zygote may still help them. */
void
pool_start_failed (struct pool *pool, const GError *error)
{
  struct pools *pools = pool->pools;
  pool->start_failures++;
  log_warning ("%s", error->message);
  g_mutex_lock (&pools->lock);
  pool->retry_us =
      g_get_monotonic_time () + pool_retry_delay (START_RETRY_US, START_RETRY_MAX, pool->start_failures);
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (error);
  gboolean helpless = !pool->current || pool->current->bare || pool->stale;
  if (helpless) {
    pool->wanted = FALSE;
    pool_fail_waiters (pool, error);
  }
  g_mutex_unlock (&pools->lock);
  /* An environment that cannot load its modules serves nobody: otherwise runs would depend on timing. */
  pool_lose_bare (pool);
  if (pool->current && pool->current->bare)
    retire_current (pool);
}

/* Reads the environment again, so that the fingerprint matches what the new zygote loads. */
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

/* The environment as the pool's thread reads it: only it writes, and so needs no lock. */
NOT_ANALYSED
static const struct environment *
own_environment (const struct pool *pool)
{
  return pool->environment;
}

/* Nobody can be served before the next zygote has loaded its modules, except by a bare one, which starts as
 * fast as Python itself. Not after a failed start: see pool_start_failed. */
static gboolean
wants_bare (struct pool *pool)
{
  g_mutex_lock (&pool->pools->lock);
  gboolean wants = (!pool->current || pool->stale) && !pool->failure;
  g_mutex_unlock (&pool->pools->lock);
  char *const *modules = own_environment (pool)->modules;
  return wants && modules && modules[0] && !pool->bare_next;
}

static void
start_bare (struct pool *pool)
{
  g_autoptr (GError) error = NULL;
  pool->bare_next =
      zygote_start (pool->pools->host, own_environment (pool), pool->isolation, pool->network, TRUE, &error);
  if (!pool->bare_next)
    log_warning ("%s", error->message);
}

static gboolean
has_crashed_out (const struct pool *pool, const struct zygote *zygote)
{
  return zygote->crashes.length >= pool->pools->host->config->crash_budget &&
         g_get_monotonic_time () >= pool->crash_start_us;
}

static void
start_next (struct pool *pool)
{
  g_autoptr (GError) error = NULL;
  if (pool->current && has_crashed_out (pool, pool->current)) {
    log_warning ("the zygote of %s is replaced: too many of its sandboxes crashed", pool->name);
    pool->crash_start_us = g_get_monotonic_time () + CRASH_PART * pool->start_took_us;
  }
  g_mutex_lock (&pool->pools->lock);
  pool->starts++;
  g_mutex_unlock (&pool->pools->lock);
  if (host_prepare (pool->pools->host, pool->isolation, pool->network, FALSE, &error) &&
      renew_environment (pool, &error)) {
    if (wants_bare (pool))
      start_bare (pool);
    pool->next = zygote_start (pool->pools->host, own_environment (pool), pool->isolation, pool->network,
                               FALSE, &error);
  }
  if (!pool->next)
    pool_start_failed (pool, error);
}

static gboolean
is_due (const struct pool *pool, const struct zygote *zygote)
{
  const struct config *config = pool->pools->host->config;
  gint64 age_us = g_get_monotonic_time () - zygote->started_us;
  return zygote->runs >= config->zygote_runs || (guint64)age_us / 1000 >= config->zygote_age_ms ||
         has_crashed_out (pool, zygote);
}

static gboolean
needs_zygote (struct pool *pool)
{
  g_mutex_lock (&pool->pools->lock);
  gboolean leaves = pool->leaves;
  gboolean needs = pool->stale || (!pool->current && pool->wanted) || (pool->current && pool->current->bare);
  gint64 retry_us = pool->retry_us;
  g_mutex_unlock (&pool->pools->lock);
  if (pool->current && is_due (pool, pool->current))
    needs = TRUE;
  return needs && !leaves && !pool->next && g_get_monotonic_time () >= retry_us;
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
  pool_start_failed (pool, error);
}

/* ZYGOTE serves: from now on it alone makes sandboxes. The old one's parked sandboxes serve until replaced,
 * one by one. */
static void
become_current (struct pool *pool, struct zygote *zygote)
{
  if (pool->current) {
    g_ptr_array_add (pool->draining, pool->current);
    pool->old_parked = TRUE;
  }
  pool->current = zygote;
  pool->spawn_us = 0;
  pool->serving_us = g_get_monotonic_time ();
  gint64 took_us = pool->serving_us - zygote->started_us;
  if (!zygote->bare) {
    pool->start_failures = 0;
    pool->start_took_us = took_us;
  }
  log_info ("the %szygote of %s serves after %" G_GINT64_FORMAT " ms (Python %s)",
            zygote->bare ? "bare " : "", pool->name, took_us / 1000, zygote->info->version);
  g_mutex_lock (&pool->pools->lock);
  pool->serving = TRUE;
  pool->bare = zygote->bare;
  pool->stale = FALSE;
  pool->retry_us = 0;
  g_clear_error (&pool->failure);
  g_mutex_unlock (&pool->pools->lock);
}

void
pool_zygote_serves (struct pool *pool)
{
  pool_lose_bare (pool);
  become_current (pool, g_steal_pointer (&pool->next));
}

void
pool_bare_serves (struct pool *pool)
{
  become_current (pool, g_steal_pointer (&pool->bare_next));
}

/* ---- ending ---- */

/* A zygote died with its sandboxes. Runs see the end of their exit pipes; callers wait for the next
 * zygote. */
void
pool_lose_zygote (struct pool *pool, const GError *error)
{
  struct pools *pools = pool->pools;
  log_warning ("%s", error->message);
  pool_abandon_parking (pool, pool->current);
  g_ptr_array_add (pool->draining, g_steal_pointer (&pool->current));
  gint64 now = g_get_monotonic_time ();
  pool->failures++;
  pool->losses = now - pool->serving_us >= SETTLED_US ? 1 : pool->losses + 1;
  g_mutex_lock (&pools->lock);
  pool->serving = pool->bare = FALSE;
  pool->wanted = TRUE;
  g_clear_error (&pool->failure);
  /* The first time at once: it had served, so it will again. */
  pool->retry_us =
      now + (pool->losses > 1 ? pool_retry_delay (START_RETRY_US, START_RETRY_MAX, pool->losses - 1) : 0);
  /* Until then callers wait: after a reported failure, they would be turned away until the next start. */
  if (pool->failures > LOSSES_OK) {
    pool->failure = g_error_copy (error);
    pool_fail_waiters (pool, error);
  }
  g_mutex_unlock (&pools->lock);
  pool_discard_old (pool, 0);
}

static void
kill_stuck (struct pool *pool, struct zygote *zygote)
{
  log_warning ("the zygote of %s does not answer and is killed", pool->name);
  zygote_kill (zygote);
}

static void
check_answer (struct pool *pool, struct zygote *zygote, gint64 now_us)
{
  if (!zygote || !zygote->spawning || now_us < zygote->answer_us)
    return;
  zygote->answer_us = G_MAXINT64;
  kill_stuck (pool, zygote);
}

/* A zygote that neither makes sandboxes nor reports their end would block all callers: it ends, with its
 * sandboxes. */
static void
check_zygotes (struct pool *pool)
{
  gint64 now_us = g_get_monotonic_time ();
  check_answer (pool, pool->current, now_us);
  for (guint i = 0; i < pool->draining->len; i++)
    check_answer (pool, pool->draining->pdata[i], now_us);
  for (GList *link = pool->ending.head; link; link = link->next) {
    struct sandbox *sandbox = link->data;
    if (now_us < sandbox->deadline_us)
      continue;
    sandbox->deadline_us = G_MAXINT64;
    kill_stuck (pool, sandbox_leader (sandbox)->zygote);
  }
}

/* Replaced zygotes go when the last of their sandboxes is gone. */
static void
free_drained (struct pool *pool)
{
  for (guint i = pool->draining->len; i > 0; i--) {
    struct zygote *zygote = pool->draining->pdata[i - 1];
    if (zygote->sandboxes > 0)
      continue;
    if (pool->isolation == ISOLATION_CONTAINER && !zygote_has_left (zygote, pool->pools->host))
      continue;
    g_ptr_array_remove_index (pool->draining, i - 1);
    zygote_free (zygote);
  }
}

static void
end_zygote (struct zygote *zygote)
{
  struct sandbox *spawning = zygote ? g_steal_pointer (&zygote->spawning) : NULL;
  zygote_free (zygote);
  sandbox_free (spawning);
}

gboolean
pool_leave (struct pool *pool)
{
  if (pool->current || pool->next || pool->bare_next || pool->draining->len > 0 || pool->parking.length > 0 ||
      pool->ending.length > 0)
    return FALSE;
  struct pools *pools = pool->pools;
  g_mutex_lock (&pools->lock);
  gboolean leaves = pool->leaves && !pools->closed && pool->users == 0 && pool->waiting == 0 &&
                    pool->parked.length == 0 && pool->discarded.length == 0;
  if (leaves) {
    g_hash_table_steal (pools->pools, pool);
    g_ptr_array_add (pools->left, pool);
  }
  g_mutex_unlock (&pools->lock);
  if (leaves)
    log_info ("the packages of %s are forgotten until they are requested again", pool->name);
  return leaves;
}

/* The end of the zygotes ends every sandbox, even those that runs still hold. */
void
pool_end_all (struct pool *pool)
{
  pool_take_discarded (pool);
  /* All at once: the engine has to remove each. */
  for (guint i = 0; i < pool->draining->len && pool->isolation == ISOLATION_CONTAINER; i++)
    zygote_discard (pool->draining->pdata[i]);
  end_zygote (g_steal_pointer (&pool->current));
  end_zygote (g_steal_pointer (&pool->next));
  end_zygote (g_steal_pointer (&pool->bare_next));
  for (guint i = 0; i < pool->draining->len; i++)
    end_zygote (pool->draining->pdata[i]);
  g_ptr_array_set_size (pool->draining, 0);

  /* Others read this list, even while the pools are closed. */
  g_mutex_lock (&pool->pools->lock);
  GQueue parked = pool->parked;
  g_queue_init (&pool->parked);
  g_mutex_unlock (&pool->pools->lock);

  GQueue *const lists[] = {&pool->parking, &pool->ending, &parked};
  for (gsize i = 0; i < G_N_ELEMENTS (lists); i++)
    for (GList *link; (link = g_queue_pop_head_link (lists[i]));)
      sandbox_release (link->data);
}

/* ---- the whole ---- */

void
pool_manage_zygotes (struct pool *pool)
{
  free_drained (pool);
  give_up_late_start (pool);
  check_zygotes (pool);
  if (pool->isolation == ISOLATION_CONTAINER)
    pool_start_containers (pool);
  else {
    pool_rest (pool);
    if (needs_zygote (pool))
      start_next (pool);
  }
}

/* The deadline of the zygotes, or of the next attempt: -1 for never. */
gint64
pool_zygotes_deadline_us (struct pool *pool)
{
  gint64 deadline_us = -1;
  if (pool->isolation == ISOLATION_CONTAINER)
    return pool_containers_deadline_us (pool);
  if (pool->next)
    deadline_us = pool_earlier (deadline_us, start_deadline_us (pool));
  if (pool->current && pool->current->spawning)
    deadline_us = pool_earlier (deadline_us, pool->current->answer_us);
  g_mutex_lock (&pool->pools->lock);
  if (!pool->next && !pool->leaves && pool->retry_us > 0 &&
      (pool->stale || (pool->wanted && !pool->current) || (pool->current && pool->current->bare)))
    deadline_us = pool_earlier (deadline_us, pool->retry_us);
  g_mutex_unlock (&pool->pools->lock);
  return deadline_us;
}
