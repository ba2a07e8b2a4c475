/* SPDX-License-Identifier: Apache-2.0 */
/* The set of pools, and giving sandboxes back. pool_take.c has the way to a sandbox. */
#include "engine/pool/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/host/backend.h"
#include "engine/pool/pool_private.h"

/* ---- the set of pools ---- */

static void
pool_free (gpointer data)
{
  struct pool *pool = data;
  fd_close (&pool->wake_fd);
  fd_close (&pool->parked_fd);
  g_rw_lock_clear (&pool->environment_lock);
  UNSHARED (environment);
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

void
pools_set_closed (GError **error)
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
  pools_set_closed (&closed);

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
  UNSHARED (pools);
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
  UNSHARED (pools);
  g_rw_lock_init (&pool->environment_lock);
  pool->pools = pools;
  pool->name = g_strdup (key->name);
  pool->isolation = key->isolation;
  pool->network = key->network;
  pool->environment = environment;
  pool->sweep_fd = -1;
  if (key->isolation == ISOLATION_CONTAINER)
    pool->fingerprint = pool_image_stamp (pools->host->config);
  else
    pool->keeps[SANDBOX_SPEC_PLAIN] = TRUE;
  pool->draining = g_ptr_array_new ();
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
REQUIRES (pools)
static gboolean
pool_has_room (struct pools *pools, const struct pool *key, GError **error)
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
pool_check_own (const struct pool *key, GError **error)
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
  if (own && !pool_check_own (&key, error))
    return NULL;
  /* A caller's own is looked at for each call: whose it is may have changed, and no fingerprint tells.
   * That reads directories, so not under the lock. */
  struct environment *environment = contained ? NULL : environment_find (name, error);
  if (!environment && !contained)
    return NULL;

  g_mutex_lock (&pools->lock);
  pool = g_hash_table_lookup (pools->pools, &key);
  if (!pool && pools->closed) {
    pools_set_closed (error);
  } else if (!pool && pool_has_room (pools, &key, error)) {
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
pool_unwatch (struct pool *pool, struct sandbox *sandbox)
{
  (void)epoll_ctl (pool->parked_fd, EPOLL_CTL_DEL, sandbox->exit_fd, NULL);
}

/* ---- giving back ---- */

void
pool_discard (struct sandbox *sandbox)
{
  struct pool *pool = sandbox->pool;
  struct pools *pools = pool->pools;
  g_mutex_lock (&pools->lock);
  gboolean closed = pools->closed;
  if (closed)
    budget_release (&pools->budget, sandbox->taken, sandbox->reserved_bytes, 0);
  else
    g_queue_push_tail_link (&pool->discarded, &sandbox->link);
  g_mutex_unlock (&pools->lock);
  if (closed) {
    sandbox_kill (sandbox);
    sandbox_release (sandbox);
  } else
    pool_wake (pool); /* its thread kills: the caller has its reply the sooner */
}

/* Of those that are parked. */
REQUIRES (pools)
static int
count_for_sessions (const struct pool *pool)
{
  int count = 0;
  for (const GList *link = pool->parked.head; link; link = link->next)
    count += ((const struct sandbox *)link->data)->spec.session;
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
        backend_names[contained ? BACKEND_CONTAINER : BACKEND_NATIVE], "zygotes", (int)pool->zygotes,
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
