/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/work_queue.h"

#include <string.h>

#include "adder_types.h"
#include "cluster/signed_request.h"
#include "cluster/tunnel_end.h"
#include "common/json.h"
#include "common/log.h"

#define SILENT_MS     5000 /* longer than until a silent node counts as gone */
#define PULL_MS       500
#define LOOK_MS       50 /* for room */
#define RETRY_MS      1000
#define SECRET_DIGITS 16
#define TICK_US       (10 * G_USEC_PER_SEC)
#define COMPLAIN_US   (10 * G_USEC_PER_SEC) /* at most one line of the log in that time */

LOCK_CLASS (work_host);

struct work_host {
  struct cluster *cluster;
  struct work_host_options options;
  GThread *thread;
  struct bus_puller *puller; /* the thread's, like the next three */
  char *said;                /* the last problem that was logged */
  gint64 ticked_us;

  MUTEX (work_host) lock;
  GCond changed;
  GUARDED_BY (work_host) guint working;
  GUARDED_BY (work_host) gint64 complained_us;
  GUARDED_BY (work_host) gboolean ending;
};

/* One message, with its thread. */
struct working {
  struct work work; /* the first member */
  struct work_host *host;
  struct bus_pulled *pulled;
};

void
work_queue_name (struct cluster *cluster)
{
  static const char what[] = "queue";
  g_autofree char *digest =
      g_compute_hmac_for_data (G_CHECKSUM_SHA256, (const guchar *)cluster->secret, strlen (cluster->secret),
                               (const guchar *)what, strlen (what));
  cluster->queue_subject = g_strdup_printf (TUNNEL_PREFIX "queue.%.*s", SECRET_DIGITS, digest);
  cluster->queue_pullers = g_strdup_printf ("nodes-%.*s", SECRET_DIGITS, digest);
}

static struct bus_queue
work_queue_of (const struct cluster *cluster)
{
  const struct config *config = cluster->options.config;
  return (struct bus_queue){.name = "adder-runs",
                            .subjects = TUNNEL_PREFIX "queue.*",
                            .subject = cluster->queue_subject,
                            .pullers = cluster->queue_pullers,
                            .bytes = config->cluster_queue_bytes,
                            .age_ms = config->cluster_queue_age_ms,
                            .silent_ms = SILENT_MS};
}

/* A server that was restarted may have forgotten it. */
static gboolean
work_queue_keep (struct cluster *cluster, GError **error)
{
  const struct bus_queue queue = work_queue_of (cluster);
  if (!cluster->binding->is_connected (cluster->bus)) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE, CLUSTER_AWAY);
    return FALSE;
  }
  if (g_atomic_int_get (&cluster->queue_kept))
    return TRUE;
  gboolean kept = cluster->binding->keep_queue (cluster->bus, &queue, error);
  g_atomic_int_set (&cluster->queue_kept, kept);
  return kept;
}

gboolean
work_queue_put (struct cluster *cluster, const char *id, json_t *head, const char *body, gsize length,
                GError **error)
{
  const struct bus_queue queue = work_queue_of (cluster);
  g_autoptr (GByteArray) message = signed_request_make (cluster, head, body, length, length);
  if (!work_queue_keep (cluster, error))
    return FALSE;
  if (cluster->binding->put_queued (cluster->bus, &queue, id, (const char *)message->data, message->len,
                                    error))
    return TRUE;
  /* It may be gone: the next one makes it again. */
  g_atomic_int_set (&cluster->queue_kept, FALSE);
  return FALSE;
}

/* ---- one message ---- */

void
work_say_busy (struct work *work)
{
  struct working *working = (struct working *)work;
  working->host->cluster->binding->say_busy (working->pulled);
}

/* Messages that no node of this cluster made are discarded. */
static void
work_host_complain (struct work_host *host, const GError *problem)
{
  gint64 now_us = g_get_monotonic_time ();
  g_mutex_lock (&host->lock);
  gboolean silent = host->complained_us > 0 && now_us - host->complained_us < COMPLAIN_US;
  if (!silent)
    host->complained_us = now_us;
  g_mutex_unlock (&host->lock);
  if (!silent)
    log_warning ("cluster: the queue of runs: %s", problem->message);
}

static guint64
working_do (struct working *working)
{
  g_autoptr (GError) problem = NULL;
  struct work_host *host = working->host;
  struct signed_request message;
  if (!signed_request_parse (host->cluster, working->pulled->data, working->pulled->length, &message,
                             &problem)) {
    work_host_complain (host, problem);
    return WORK_DONE;
  }
  g_autoptr (json_t) head = message.head;
  working->work = (struct work){head, message.body, message.length};
  return message.missing > 0 ? WORK_DONE : host->options.work (host->options.data, &working->work);
}

static gpointer
working_live (gpointer data)
{
  struct working *working = data;
  struct work_host *host = working->host;
  const struct bus_binding *binding = host->cluster->binding;
  guint64 again_ms = working_do (working);
  if (again_ms == WORK_DONE)
    binding->say_done (working->pulled);
  else
    binding->say_again (working->pulled, again_ms);
  g_free (working);
  g_mutex_lock (&host->lock);
  host->working--;
  g_cond_broadcast (&host->changed);
  g_mutex_unlock (&host->lock);
  return NULL;
}

/* PULLED is taken. */
static void
work_host_begin (struct work_host *host, struct bus_pulled *pulled)
{
  struct working *working = g_new0 (struct working, 1);
  working->host = host;
  working->pulled = pulled;
  g_mutex_lock (&host->lock);
  host->working++;
  g_mutex_unlock (&host->lock);
  GThread *thread = g_thread_try_new ("work", working_live, working, NULL);
  if (thread) {
    g_thread_unref (thread);
    return;
  }
  host->cluster->binding->say_again (pulled, RETRY_MS);
  g_free (working);
  g_mutex_lock (&host->lock);
  host->working--;
  g_mutex_unlock (&host->lock);
}

/* ---- the thread ---- */

/* Waits briefly for room. FALSE: there is none yet, or HOST is closing. */
static gboolean
work_host_has_room (struct work_host *host)
{
  gboolean closed = host->options.is_closed (host->options.data);
  gint64 until_us = g_get_monotonic_time () + LOOK_MS * 1000;
  g_mutex_lock (&host->lock);
  while (!host->ending && (closed || host->working >= host->options.room) &&
         g_cond_wait_until (&host->changed, &host->lock, until_us))
    ;
  gboolean has_room = !host->ending && !closed && host->working < host->options.room;
  g_mutex_unlock (&host->lock);
  return has_room;
}

static gboolean
work_host_is_ending (struct work_host *host)
{
  g_mutex_lock (&host->lock);
  gboolean ending = host->ending;
  g_mutex_unlock (&host->lock);
  return ending;
}

static gboolean
work_host_pull (struct work_host *host, GError **error)
{
  const struct bus_binding *binding = host->cluster->binding;
  const struct bus_queue queue = work_queue_of (host->cluster);
  struct bus_pulled *pulled;
  if (!work_queue_keep (host->cluster, error))
    return FALSE;
  if (!host->puller)
    host->puller = binding->open_puller (host->cluster->bus, &queue, error);
  if (!host->puller || !binding->pull (host->puller, PULL_MS, &pulled, error))
    return FALSE;
  if (pulled)
    work_host_begin (host, pulled);
  return TRUE;
}

/* The queue may be gone: it is made again. */
static void
work_host_rest (struct work_host *host, const GError *problem)
{
  if (host->puller)
    host->cluster->binding->close_puller (host->puller);
  host->puller = NULL;
  g_atomic_int_set (&host->cluster->queue_kept, FALSE);
  if (g_strcmp0 (host->said, problem->message) != 0)
    log_warning ("cluster: %s", problem->message);
  g_free (host->said);
  host->said = g_strdup (problem->message);
  gint64 until_us = g_get_monotonic_time () + RETRY_MS * 1000;
  g_mutex_lock (&host->lock);
  while (!host->ending && g_cond_wait_until (&host->changed, &host->lock, until_us))
    ;
  g_mutex_unlock (&host->lock);
}

static void
work_host_tick (struct work_host *host)
{
  gint64 now_us = g_get_monotonic_time ();
  if (now_us - host->ticked_us < TICK_US)
    return;
  host->ticked_us = now_us;
  host->options.tick (host->options.data);
}

static gpointer
work_host_live (gpointer data)
{
  struct work_host *host = data;
  while (!work_host_is_ending (host)) {
    g_autoptr (GError) problem = NULL;
    work_host_tick (host);
    if (!work_host_has_room (host))
      continue;
    if (!work_host_pull (host, &problem))
      work_host_rest (host, problem);
    else
      g_clear_pointer (&host->said, g_free);
  }
  if (host->puller)
    host->cluster->binding->close_puller (host->puller);
  return NULL;
}

struct work_host *
work_host_new (struct cluster *cluster, const struct work_host_options *options)
{
  struct work_host *host = g_new0 (struct work_host, 1);
  host->cluster = cluster;
  host->options = *options;
  host->ticked_us = g_get_monotonic_time ();
  g_mutex_init (&host->lock);
  g_cond_init (&host->changed);
  host->thread = g_thread_new ("work-queue", work_host_live, host);
  return host;
}

void
work_host_close (struct work_host *host)
{
  if (!host || !host->thread)
    return;
  g_mutex_lock (&host->lock);
  host->ending = TRUE;
  g_cond_broadcast (&host->changed);
  g_mutex_unlock (&host->lock);
  g_thread_join (g_steal_pointer (&host->thread));
}

void
work_host_free (struct work_host *host)
{
  if (!host)
    return;
  work_host_close (host);
  g_mutex_lock (&host->lock);
  while (host->working > 0)
    g_cond_wait (&host->changed, &host->lock);
  g_mutex_unlock (&host->lock);
  UNSHARED (work_host);
  g_mutex_clear (&host->lock);
  g_cond_clear (&host->changed);
  g_free (host->said);
  g_free (host);
}
