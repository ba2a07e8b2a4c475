/* SPDX-License-Identifier: Apache-2.0 */
/* What a pool's thread does where each sandbox has a container of its own: the sandbox is made first, and is
 * parking from then on; with it comes a zygote whose container is made for that sandbox alone, and which is
 * asked for it as soon as it serves. So each zygote drains from the start, and none is ever current.
 *
 * A container is expensive and cannot be reconfigured: those kept parked have the most recently requested
 * spec. */
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/log.h"
#include "common/paths.h"
#include "containers/image_build.h"
#include "engine/files/bind_mount.h"
#include "engine/host/launcher.h"
#include "engine/pool/pool_private.h"

/* More would only delay the first: a start takes work of the engine and a processor. */
#define STARTS_AT_ONCE 2

/* Removing one takes the engine half a second. A longer backlog means that something is wrong with it. */
#define LEAVING_MAX 64

/* After the first failure in a row, doubled with each further one. */
#define RETRY_US  (G_USEC_PER_SEC / 4)
#define RETRY_MAX (30 * G_USEC_PER_SEC)

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
  const char *socket = config->container_socket, *runtime = config->container_runtime;
  return g_strdup_printf ("%s-%ju-%jd.%09ld-%s-%s-%s", config->container_image, (uintmax_t)st.st_ino,
                          (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, config->container_engine,
                          socket ? socket : "", runtime ? runtime : "");
}

/* The image has changed: containers being started are dropped. Parked ones went when that was noticed. */
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
    pool_sandbox_end (pool, link->data);
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
pool_keeps_like (const struct pool *pool, const struct sandbox *sandbox)
{
  return pool->keeps[SANDBOX_SPEC_PLAIN] && sandbox_spec_same (&sandbox->spec, &pool->kept, pool->isolation);
}

REQUIRES (pools)
static guint
pool_containers_count_kept (const struct pool *pool, const GQueue *sandboxes)
{
  guint count = 0;
  for (const GList *link = sandboxes->head; link; link = link->next)
    count += pool_keeps_like (pool, link->data);
  return count;
}

/* What to make the next container for, with memory reserved for it: as for other sandboxes. */
static gboolean
pool_containers_choose (struct pool *pool, struct sandbox_spec *ret_spec)
{
  struct pools *pools = pool->pools;
  guint64 most = pools->host->config->container_parked;
  g_mutex_lock (&pools->lock);
  struct pool_choice choice = {.round = {.budget = &pools->budget}};
  pool_choose_waited (pool, &choice);
  if (!choice.chosen && !choice.round.first_short && pool->keeps[SANDBOX_SPEC_PLAIN] &&
      pool_containers_count_kept (pool, &pool->parked) + pool_containers_count_kept (pool, &pool->parking) <
          most &&
      budget_may_park (&pools->budget, BUDGET_CONTAINER_BYTES, choice.promised)) {
    choice.spec = pool->kept;
    choice.chosen = TRUE;
  }
  if (choice.chosen)
    budget_park (&pools->budget, BUDGET_CONTAINER_BYTES);
  g_mutex_unlock (&pools->lock);
  *ret_spec = choice.spec;
  return choice.chosen;
}

static guint
count_starting (const struct pool *pool)
{
  guint count = 0;
  for (const GList *link = pool->parking.head; link; link = link->next)
    count += ((const struct sandbox *)link->data)->worker_fd < 0;
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
         pool->draining->len < LEAVING_MAX + pool->pools->host->config->max_running;
}

/* How a directory gets there (containers/order.h). */
static char *
bind_mount_word (const struct host *host, const struct sandbox_spec *spec, int bind_fd)
{
  const char *word = bind_fd < 0          ? NULL
                     : host->owner.assume ? CONTAINER_BIND_MOUNT
                     : spec->read_only    ? CONTAINER_BIND_READ
                                          : CONTAINER_BIND_WRITE;
  return (char *)(guintptr)word;
}

static struct zygote *
start_zygote (struct pool *pool, struct sandbox *sandbox, int spawn[WIRE_SPAWN_FDS], GError **error)
{
  struct host *host = pool->pools->host;
  const struct config *config = host->config;
  const guint64 *limit = sandbox->spec.limits.value;
  int bind_fd = spawn[WIRE_SPAWN_DIRECTORY];
  g_autofree char *path = bind_fd < 0 || host->owner.assume ? NULL : bind_mount_path (bind_fd);
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
      .bind = bind_mount_word (host, &sandbox->spec, bind_fd),
      .directory = path,
  };
  return zygote_start_contained (host, &order, sandbox, spawn, error);
}

/* The sandbox alone; its budget is already reserved. */
static struct sandbox *
pool_containers_make_sandbox (struct pool *pool, const struct sandbox_spec *spec, int spawn[WIRE_SPAWN_FDS],
                              GError **error)
{
  struct host *host = pool->pools->host;
  gboolean host_sockets = sandbox_spec_has_host_sockets (spec, ISOLATION_CONTAINER);
  if (!host_prepare (host, ISOLATION_CONTAINER, NETWORK_NONE, host_sockets, error))
    return NULL;
  struct sandbox *sandbox = sandbox_new (pool, spec, NULL, spawn, error);
  if (!sandbox)
    return NULL;
  sandbox->contained = TRUE;
  sandbox->reserved_bytes = BUDGET_CONTAINER_BYTES;
  return sandbox;
}

static void
pool_containers_start (struct pool *pool, struct sandbox_spec *spec)
{
  g_autoptr (GError) error = NULL;
  int spawn[WIRE_SPAWN_FDS];
  struct sandbox *sandbox = pool_containers_make_sandbox (pool, spec, spawn, &error);
  if (!sandbox)
    sandbox_spec_close (spec);
  struct zygote *zygote = sandbox ? start_zygote (pool, sandbox, spawn, &error) : NULL;
  g_mutex_lock (&pool->pools->lock);
  pool->starts++;
  if (!zygote)
    budget_release (&pool->pools->budget, 0, 0, BUDGET_CONTAINER_BYTES);
  g_mutex_unlock (&pool->pools->lock);
  if (!zygote) {
    sandbox_free (sandbox);
    pool_container_failed (pool, spec, error);
    return;
  }
  sandbox->zygote = zygote;
  sandbox->deadline_us = zygote->started_us + (gint64)pool->pools->host->config->container_start_ms * 1000;
  zygote->sandboxes = 1;
  g_ptr_array_add (pool->draining, zygote);
  g_queue_push_tail_link (&pool->parking, &sandbox->link);
}

void
pool_start_containers (struct pool *pool)
{
  struct sandbox_spec spec;
  drop_stale (pool);
  while (may_start (pool) && pool_containers_choose (pool, &spec))
    pool_containers_start (pool, &spec);
}

/* ---- failing ---- */

/* Nobody waits for a container while none can be made. Reported once. */
static void
pool_containers_refuse (struct pool *pool, const GError *error)
{
  struct pools *pools = pool->pools;
  pool->start_failures++;
  g_mutex_lock (&pools->lock);
  gboolean known = pool->failure && g_str_equal (pool->failure->message, error->message);
  pool->retry_us = g_get_monotonic_time () + pool_retry_delay (RETRY_US, RETRY_MAX, pool->start_failures);
  pool->serving = pool->wanted = FALSE;
  g_clear_error (&pool->failure);
  pool->failure = g_error_copy (error);
  /* The engine timed out, not the caller's run. */
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    pool->failure->code = ADDER_ERROR_FAILED;
  pool_fail_waiters (pool, pool->failure);
  g_mutex_unlock (&pools->lock);
  if (!known)
    log_warning ("%s", error->message);
}

/* A failure of one spec, such as too little memory to load the packages, may not affect others. */
static void
note_failure (struct pool *pool, const struct sandbox_spec *spec, const GError *error)
{
  pool->failures++;
  pool->spawn_us = g_get_monotonic_time () + pool_retry_delay (RETRY_US, RETRY_MAX, pool->failures);
  log_warning ("a container could not be made: %s", error->message);
  if (pool->failures < POOL_FAILURES_OK)
    return;
  g_autoptr (GError) told = g_error_copy (error);
  g_prefix_error (&told, "no container can be made: ");
  g_mutex_lock (&pool->pools->lock);
  /* If kept without a waiter, it would be retried forever. */
  if (sandbox_spec_same (spec, &pool->kept, pool->isolation))
    pool->keeps[SANDBOX_SPEC_PLAIN] = FALSE;
  g_mutex_unlock (&pool->pools->lock);
  pool_fail_spec (pool, spec, told);
}

/* Faults of a caller's directory affect only that caller. */
static void
fail_binds (struct pool *pool, const struct sandbox_spec *spec, const GError *error)
{
  g_autoptr (GError) told = g_error_copy (error);
  if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    told->code = ADDER_ERROR_FAILED;
  log_warning ("a container with a work directory could not be made: %s", error->message);
  pool_fail_spec (pool, spec, told);
}

void
pool_container_failed (struct pool *pool, const struct sandbox_spec *spec, const GError *error)
{
  if (spec->bind_caller > 0)
    fail_binds (pool, spec, error);
  else if (g_error_matches (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED) ||
           g_error_matches (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT))
    pool_containers_refuse (pool, error);
  else
    note_failure (pool, spec, error);
}

void
pool_set_late (const struct pool *pool, const struct sandbox *sandbox, GError **error)
{
  if (sandbox->contained)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_TIMEOUT,
                 "no container was ready within %" G_GUINT64_FORMAT " ms ([container] start_ms)",
                 pool->pools->host->config->container_start_ms);
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "it was not ready in time");
}

/* ---- what zygotes say ---- */

/* The sandbox of ZYGOTE, being parked, or NULL if it is gone. */
static struct sandbox *
find_parking (const struct pool *pool, const struct zygote *zygote)
{
  for (const GList *link = pool->parking.head; link; link = link->next)
    if (((struct sandbox *)link->data)->zygote == zygote)
      return link->data;
  return NULL;
}

static void
fail_sandbox (struct pool *pool, struct sandbox *sandbox, const GError *error)
{
  const struct sandbox_spec spec = sandbox->spec;
  g_queue_unlink (&pool->parking, &sandbox->link);
  pool_sandbox_end (pool, sandbox);
  pool_container_failed (pool, &spec, error);
}

void
pool_container_event (struct pool *pool, struct zygote *zygote, enum zygote_event event, const GError *error)
{
  struct sandbox *sandbox = find_parking (pool, zygote);
  uint32_t mitigations = pool->pools->host->mitigations | (sandbox ? sandbox->spec.mitigations : 0);
  uint32_t flags =
      WIRE_SPAWN_UNTOUCHED | (zygote->bind_fd >= 0 ? WIRE_SPAWN_BIND : 0) | mitigations << WIRE_MITIGATIONS;
  g_autoptr (GError) problem = NULL;
  if (!sandbox)
    return;
  switch (event) {
  case ZYGOTE_EVENT_NONE:
    return;
  case ZYGOTE_EVENT_SERVING:
    log_info ("a container is ready after %" G_GINT64_FORMAT " ms (Python %s)",
              (g_get_monotonic_time () - zygote->started_us) / 1000, zygote->info->version);
    if (!zygote_spawn (zygote, sandbox, zygote->spawn, flags, &problem))
      fail_sandbox (pool, sandbox, problem);
    return;
  case ZYGOTE_EVENT_SPAWNED:
    g_queue_unlink (&pool->parking, &sandbox->link);
    pool_sandbox_spawned (pool, sandbox);
    return;
  case ZYGOTE_EVENT_REFUSED:
  case ZYGOTE_EVENT_ENDED:
    fail_sandbox (pool, sandbox, error);
  }
}

/* ---- parking ---- */

/* One of the kept spec was parked: those of an older one make room. */
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

/* Nobody waits for that: its launcher is reaped at its end, or with the pool. */
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
