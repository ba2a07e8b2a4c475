/* SPDX-License-Identifier: Apache-2.0 */
/* A node runs what it pulls from the queue of the cluster (cluster/work_queue.h), as a request that the
 * daemon which queued it passed on, with the id that it was queued with. The run's row decides whether it
 * begins (store/queued.h), and the message stays in the queue until the row is gone. */
#include "interfaces/http/http_worker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "cluster/work_queue.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/log.h"
#include "engine/engine.h"
#include "interfaces/http/http_node.h"
#include "interfaces/http/http_private.h"
#include "library/library.h"
#include "library/runs.h"
#include "store/queued.h"

#define BUSY_MS     1000 /* between reports to the queue that a run is under way */
#define AGAIN_MS    1000 /* until it is looked at again */
#define CHECK_US    (5 * G_USEC_PER_SEC)
#define REPLY_BYTES (1024 * 1024)

LOCK_CLASS (http_worker);

struct http_worker {
  struct http_server *server;
  struct cluster *cluster;
  struct work_host *host;

  MUTEX (http_worker) lock;
  GUARDED_BY (http_worker) GHashTable *ids; /* of the runs that threads here work on */
  gint said_elsewhere;                      /* atomic */
};

/* One run. */
struct worker_run {
  struct http_worker *worker;
  struct work *work;
  const char *id;
  struct store *store;
  struct runs *runs;
  const char *instance;
};

/* ---- the request ---- */

/* Waits until FD is ready, and says so meanwhile. */
static void
worker_await_socket (const struct worker_run *run, int fd, short what)
{
  struct pollfd ready = {fd, what, 0};
  while (poll (&ready, 1, BUSY_MS) <= 0)
    work_say_busy (run->work);
}

static gboolean
worker_send (const struct worker_run *run, int fd, const char *bytes, gsize length)
{
  while (length > 0) {
    ssize_t n = send (fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return FALSE;
    if (n <= 0) {
      worker_await_socket (run, fd, POLLOUT);
      continue;
    }
    bytes += n;
    length -= (gsize)n;
  }
  return TRUE;
}

/* All of the reply, as far as it came. */
static void
worker_receive (const struct worker_run *run, int fd, GString *reply)
{
  char buffer[4096];
  while (reply->len < REPLY_BYTES) {
    ssize_t n = recv (fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0)
      g_string_append_len (reply, buffer, n);
    else if (n < 0 && (errno == EAGAIN || errno == EINTR))
      worker_await_socket (run, fd, POLLIN);
    else
      return;
  }
}

/* Returns the status of this node's reply, 0 for none. RET_WHY is the reason of a failure; the caller frees
 * it. */
static int
worker_ask (const struct worker_run *run, char **ret_why)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;
  autoclose int fd = http_node_connect (run->worker->server, run->work->head, &text, &problem);
  if (fd < 0) {
    *ret_why = g_strdup (problem->message);
    return g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_INVALID) ? 400 : 503;
  }
  g_autoptr (GString) reply = g_string_new (NULL);
  /* A request that is refused early is not read to its end. */
  (void)(worker_send (run, fd, text, strlen (text)) &&
         worker_send (run, fd, run->work->body, run->work->length));
  worker_receive (run, fd, reply);
  const char *blank = strchr (reply->str, ' '), *body = strstr (reply->str, "\r\n\r\n");
  g_autoptr (json_t) document =
      body ? json_parse_object (body + 4, strlen (body + 4), "a reply", NULL) : NULL;
  *ret_why = g_strdup (json_member_text (document, "detail"));
  return blank && body ? (int)g_ascii_strtoull (blank, NULL, 10) : 0;
}

/* ---- the run ---- */

/* If this daemon was silent, another one may have the run, and the one here no longer counts. Or it was
 * cancelled in its row, by somebody who could not or need not reach this daemon. */
static void
worker_check (const struct worker_run *run)
{
  g_autoptr (GError) problem = NULL;
  struct queued_place place;
  gboolean cancelled = FALSE;
  g_autoptr (json_t) shown = queued_show (run->store, NULL, run->id, &place, &problem);
  gboolean is_ours = shown && strcmp (place.instance, run->instance) == 0;
  if (is_ours)
    cancelled = place.cancelled;
  else if (shown && !*place.instance) /* its start could not be recorded */
    is_ours = queued_start (run->store, run->id, run->instance, &cancelled, &problem);
  if (!is_ours && (!problem || g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_NOT_FOUND)))
    runs_hand_back (run->runs, run->id);
  else if (cancelled)
    (void)runs_cancel (run->runs, NULL, run->id, NULL);
}

/* Whether the run that is SHOWN (NULL: none) is under way here, until its result is. */
static gboolean
worker_is_under_way (const json_t *shown)
{
  return shown && json_is_null (json_object_get (shown, "result"));
}

/* Waits for its end. TRUE: another node has to run it, and this try does not count. */
static gboolean
worker_await_end (const struct worker_run *run)
{
  for (gint64 checked_us = g_get_monotonic_time ();;) {
    g_autoptr (json_t) shown = runs_show (run->runs, NULL, run->id, NULL);
    if (!worker_is_under_way (shown))
      return runs_take_back (run->runs, run->id);
    runs_wait (run->runs, NULL, run->id, BUSY_MS, -1);
    work_say_busy (run->work);
    if (g_get_monotonic_time () - checked_us < CHECK_US)
      continue;
    worker_check (run);
    checked_us = g_get_monotonic_time ();
  }
}

static void
worker_say (const struct worker_run *run, const GError *problem)
{
  log_warning ("cluster: the run %s of the queue: %s", run->id, problem->message);
}

/* Others can ask about it here from now on. */
static void
worker_start (const struct worker_run *run)
{
  g_autoptr (GError) problem = NULL;
  gboolean cancelled;
  if (!queued_start (run->store, run->id, run->instance, &cancelled, &problem))
    worker_say (run, problem);
  else if (cancelled)
    (void)runs_cancel (run->runs, NULL, run->id, NULL);
}

/* Without the database nobody knows whether the run is on record: the next node that pulls it finds out. */
static guint64
worker_settle (const struct worker_run *run, gboolean untried)
{
  g_autoptr (GError) problem = NULL;
  gboolean over;
  if (queued_settle (run->store, run->id, run->instance, untried, &over, &problem))
    return over ? WORK_DONE : AGAIN_MS;
  worker_say (run, problem);
  return AGAIN_MS;
}

static guint64
worker_refuse (const struct worker_run *run, const char *why)
{
  g_autoptr (GError) problem = NULL;
  const struct departed_end end = {.type = "Refused", .message = why};
  if (queued_end (run->store, run->id, run->instance, &end, &problem))
    return WORK_DONE;
  worker_say (run, problem);
  return AGAIN_MS;
}

static guint64
worker_try (const struct worker_run *run)
{
  g_autofree char *why = NULL;
  int status = worker_ask (run, &why);
  if (status == 202) {
    worker_start (run);
    return worker_settle (run, worker_await_end (run));
  }
  if (status >= 400 && status < 500 && status != 429)
    return worker_refuse (run, why);
  /* A try does not count if this node had no room or is ending. */
  return worker_settle (run, status == 0 || status == 429 || status == 503);
}

/* Whether another daemon lives. While this one hears nothing, nobody counts as gone. */
static gboolean
worker_is_other_alive (struct http_worker *worker, const char *instance)
{
  return strcmp (instance, cluster_instance (worker->cluster)) != 0 &&
         (cluster_is_alive (worker->cluster, instance) || !cluster_view_is_complete (worker->cluster));
}

/* The thread that claims a run is the only one of this daemon that is at it. */
static gboolean
worker_is_alive_to_claim (gpointer data, const char *id G_GNUC_UNUSED, const char *instance)
{
  return worker_is_other_alive (data, instance);
}

/* A run of this daemon that none of its threads works on could not be settled. */
static gboolean
worker_is_alive_to_sweep (gpointer data, const char *id, const char *instance)
{
  struct http_worker *worker = data;
  g_mutex_lock (&worker->lock);
  gboolean is_at_it = g_hash_table_contains (worker->ids, id);
  g_mutex_unlock (&worker->lock);
  return is_at_it || worker_is_other_alive (worker, instance);
}

static void
worker_fill_holder (struct http_worker *worker,
                    gboolean (*is_alive) (gpointer data, const char *id, const char *instance),
                    struct queued_holder *ret_holder, char ret_tag[8], struct departed_end *ret_cancelled)
{
  g_snprintf (ret_tag, 8, "%06x", cluster_own_tag (worker->cluster));
  library_queued_cancelled (ret_cancelled);
  *ret_holder = (struct queued_holder){.instance = cluster_instance (worker->cluster),
                                       .tag = ret_tag,
                                       .tries = worker->server->config->cluster_queue_tries,
                                       .is_alive = is_alive,
                                       .data = worker,
                                       .cancelled = ret_cancelled};
}

/* Once is enough: it stays so until somebody corrects the configuration. */
static void
worker_say_elsewhere (struct http_worker *worker)
{
  if (g_atomic_int_compare_and_exchange (&worker->said_elsewhere, FALSE, TRUE))
    log_warning ("cluster: the queue has runs whose rows are in another database, which are left to other "
                 "nodes: [store] records must be the same for all");
}

static guint64
worker_claim (struct http_worker *worker, const struct worker_run *run)
{
  g_autoptr (GError) problem = NULL;
  struct departed_end cancelled;
  struct queued_holder holder;
  char tag[8];
  g_autoptr (json_t) shown = runs_show (run->runs, NULL, run->id, NULL);
  if (worker_is_under_way (shown)) /* from a claim that this daemon lost while it was silent */
    return AGAIN_MS;
  worker_fill_holder (worker, worker_is_alive_to_claim, &holder, tag, &cancelled);
  const char *database = json_string_value (json_object_get (run->work->head, "database"));
  switch (queued_claim (run->store, run->id, database, &holder, &problem)) {
  case QUEUED_TAKEN:
    return worker_try (run);
  case QUEUED_OVER:
    return WORK_DONE;
  case QUEUED_ELSEWHERE:
    worker_say_elsewhere (worker);
    return AGAIN_MS;
  case QUEUED_FAILED:
    worker_say (run, problem);
    return AGAIN_MS;
  case QUEUED_HELD:
  default:
    return AGAIN_MS;
  }
}

static guint64
worker_take (gpointer data, struct work *work)
{
  struct http_worker *worker = data;
  AdderEngine *engine = worker->server->service->engine;
  const struct worker_run run = {worker,        work,         json_member_text (work->head, "run_id"),
                                 engine->store, engine->runs, cluster_instance (worker->cluster)};
  if (!id_is_queued (run.id))
    return WORK_DONE;
  g_mutex_lock (&worker->lock);
  gboolean is_first = !g_hash_table_contains (worker->ids, run.id);
  if (is_first)
    g_hash_table_add (worker->ids, g_strdup (run.id));
  g_mutex_unlock (&worker->lock);
  if (!is_first)
    return AGAIN_MS;
  guint64 again_ms = worker_claim (worker, &run);
  g_mutex_lock (&worker->lock);
  g_hash_table_remove (worker->ids, run.id);
  g_mutex_unlock (&worker->lock);
  return again_ms;
}

/* ---- the worker ---- */

/* Other runs on this node take room as well. */
static gboolean
worker_is_closed (gpointer data)
{
  struct http_worker *worker = data;
  if (http_node_is_closed (worker->server) || !cluster_view_is_complete (worker->cluster))
    return TRUE;
  g_autoptr (json_t) status = engine_status (worker->server->service->engine->engine);
  json_int_t used = json_integer_value (json_object_get (status, "running")) +
                    json_integer_value (json_object_get (status, "waiting"));
  return used >= (json_int_t)worker->server->config->max_running;
}

static void
worker_tick (gpointer data)
{
  g_autoptr (GError) problem = NULL;
  struct http_worker *worker = data;
  struct departed_end cancelled;
  struct queued_holder holder;
  char tag[8];
  if (!cluster_view_is_complete (worker->cluster))
    return;
  worker_fill_holder (worker, worker_is_alive_to_sweep, &holder, tag, &cancelled);
  if (!queued_sweep (worker->server->service->engine->store, &holder, &problem))
    log_warning ("cluster: the queue of runs: %s", problem->message);
}

struct http_worker *
http_worker_new (struct http_server *server, struct cluster *cluster)
{
  struct http_worker *worker = g_new0 (struct http_worker, 1);
  worker->server = server;
  worker->cluster = cluster;
  g_mutex_init (&worker->lock);
  worker->ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const struct work_host_options options = {(guint)server->config->max_running, worker_is_closed, worker_take,
                                            worker_tick, worker};
  worker->host = work_host_new (cluster, &options);
  return worker;
}

void
http_worker_free (struct http_worker *worker)
{
  if (!worker)
    return;
  work_host_close (worker->host);
  runs_close (worker->server->service->engine->runs);
  work_host_free (worker->host);
  UNSHARED (http_worker);
  g_hash_table_unref (worker->ids);
  g_mutex_clear (&worker->lock);
  g_free (worker);
}
