/* SPDX-License-Identifier: Apache-2.0 */
/* Active runs: one table by id, one lock that is held for lookups and for cancelling, so that a run is never
 * cancelled after it is gone. */
#include "library/runs.h"

#include <string.h>

#include "common/guarded.h"
#include "common/json.h"
#include "common/log.h"
#include "common/owner_usage.h"
#include "common/text.h"
#include "engine/host/interrupt.h"
#include "engine/run/run.h"
#include "library/run_log.h"
#include "store/underway.h"

/* Between a run's end, of which its observers hear, and its removal from the table is no more than its
 * result's way to the thread that pulls it. */
#define REMOVAL_MS 1000

/* A thread that waits for the end of a run. */
struct waiter {
  struct interrupt interrupt;
  struct waiter *next;
};

struct entry {
  char *id, *owner, *conversation, *session, *front_end;
  char *code;        /* the beginning of it; NULL: that is not kept */
  gint64 started_us; /* by the wall clock */
  gboolean background;
  gboolean handed_on;     /* it ended and goes back to the queue of the cluster: hidden here */
  AdderRun *run;          /* NULL: it has ended */
  char *result;           /* of an ended run: text, since a json_t can take 77 times as much */
  struct run_log *log;    /* NULL: none, or no longer */
  guint64 log_bytes;      /* of an ended run */
  gint64 ended_us;        /* by the monotonic clock */
  struct waiter *waiters; /* each on the stack of a thread */
};

LOCK_CLASS (runs);

struct runs {
  const struct config *config;
  struct store *store;
  MUTEX (runs) lock;
  GCond changed;
  GUARDED_BY (runs) GHashTable *entries; /* id -> struct entry */
  GUARDED_BY (runs) GQueue order;        /* of struct entry, in order of start */
  GUARDED_BY (runs) GQueue held;         /* of entries with a result, oldest first */
  GUARDED_BY (runs) struct owner_usage *held_bytes;
  GUARDED_BY (runs) struct owner_usage *background; /* how many are active or about to be */
  GUARDED_BY (runs) gboolean closed;
};

static void
entry_free (gpointer data)
{
  struct entry *entry = data;
  g_free (entry->id);
  g_free (entry->owner);
  g_free (entry->conversation);
  g_free (entry->session);
  g_free (entry->front_end);
  g_free (entry->code);
  g_free (entry->result);
  run_log_unref (entry->log);
  g_free (entry);
}

struct runs *
runs_new (const struct config *config, struct store *store)
{
  struct runs *runs = g_new0 (struct runs, 1);
  runs->config = config;
  runs->store = store;
  g_mutex_init (&runs->lock);
  runs->held_bytes = owner_usage_new ();
  runs->background = owner_usage_new ();
  g_cond_init (&runs->changed);
  runs->entries = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  return runs;
}

void
runs_close (struct runs *runs)
{
  g_mutex_lock (&runs->lock);
  runs->closed = TRUE;
  for (GList *at = runs->order.head; at; at = at->next) {
    const struct entry *entry = at->data;
    if (entry->run && entry->background) {
      run_hand_back (entry->run);
      adder_run_cancel (entry->run);
    }
  }
  while (owner_usage_sum (runs->background) > 0)
    g_cond_wait (&runs->changed, &runs->lock);
  g_mutex_unlock (&runs->lock);
}

void
runs_free (struct runs *runs)
{
  if (!runs)
    return;
  g_queue_clear (&runs->order);
  g_queue_clear (&runs->held);
  UNSHARED (runs);
  g_hash_table_unref (runs->entries);
  owner_usage_free (runs->held_bytes);
  owner_usage_free (runs->background);
  g_cond_clear (&runs->changed);
  g_mutex_clear (&runs->lock);
  g_free (runs);
}

/* ---- with the lock ---- */

REQUIRES (runs)
static void
runs_drop (struct runs *runs, struct entry *entry)
{
  if (entry->result) {
    owner_usage_remove (runs->held_bytes, entry->owner, strlen (entry->result) + entry->log_bytes);
    g_queue_remove (&runs->held, entry);
  }
  g_queue_remove (&runs->order, entry);
  g_hash_table_remove (runs->entries, entry->id);
}

/* The oldest result of the owner with the most, so that nobody loses results to another owner. */
REQUIRES (runs)
static struct entry *
of_greatest (struct runs *runs)
{
  const char *owner = owner_usage_greatest (runs->held_bytes);
  for (GList *at = runs->held.head; at && owner; at = at->next)
    if (strcmp (((struct entry *)at->data)->owner, owner) == 0)
      return at->data;
  return NULL;
}

/* Its events go first, then its result. */
REQUIRES (runs)
static void
runs_lighten (struct runs *runs, struct entry *entry)
{
  if (!entry->log) {
    runs_drop (runs, entry);
    return;
  }
  owner_usage_remove (runs->held_bytes, entry->owner, entry->log_bytes);
  entry->log_bytes = 0;
  g_clear_pointer (&entry->log, run_log_unref);
}

REQUIRES (runs)
static void
runs_purge (struct runs *runs)
{
  gint64 oldest_us = g_get_monotonic_time () - (gint64)runs->config->http_result_age_ms * 1000;
  struct entry *entry;
  while ((entry = g_queue_peek_head (&runs->held)) && entry->ended_us <= oldest_us)
    runs_drop (runs, entry);
  while (owner_usage_sum (runs->held_bytes) > runs->config->http_result_bytes && (entry = of_greatest (runs)))
    runs_lighten (runs, entry);
}

REQUIRES (runs)
static struct entry *
runs_find (struct runs *runs, const char *owner, const char *run_id, GError **error)
{
  runs_purge (runs);
  struct entry *entry = g_hash_table_lookup (runs->entries, run_id);
  if (entry && !entry->handed_on && (!owner || g_strcmp0 (entry->owner, owner) == 0))
    return entry;
  g_autofree char *shown = text_one_line (run_id, 60);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "no run %s is running", shown);
  return NULL;
}

/* ---- coming and going ---- */

gboolean
runs_reserve (struct runs *runs, const char *owner, GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&runs->lock);
  if (runs->closed) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY, "the daemon is ending");
    return FALSE;
  }
  if (owner_usage_of (runs->background, owner) >= runs->config->http_background) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                 "%" G_GUINT64_FORMAT
                 " of your runs are in the background, the most allowed (max_background)",
                 runs->config->http_background);
    return FALSE;
  }
  owner_usage_add (runs->background, owner, 1);
  return TRUE;
}

void
runs_add (struct runs *runs, AdderRun *run, const struct run_note *note)
{
  struct entry *entry = g_new (struct entry, 1);
  /* A caller that has its id may ask for it, even while it waits for a sandbox. */
  if (note->background)
    run_note (run);
  *entry = (struct entry){
      .id = g_strdup (adder_run_id (run)),
      .owner = g_strdup (note->owner),
      .conversation = g_strdup (note->conversation),
      .session = g_strdup (note->session),
      .front_end = g_strdup (note->front_end),
      .code = runs->config->store_code ? request_code_start (run_request (run)) : NULL,
      .started_us = g_get_real_time (),
      .background = note->background,
      .log = note->log ? run_log_ref (note->log) : NULL,
      .run = run,
  };
  g_mutex_lock (&runs->lock);
  runs_purge (runs);
  /* One from the queue of a cluster may have been here before. */
  struct entry *before = g_hash_table_lookup (runs->entries, entry->id);
  if (before)
    runs_drop (runs, before);
  g_hash_table_insert (runs->entries, entry->id, entry);
  g_queue_push_tail (&runs->order, entry);
  /* The end came after room was reserved for it. */
  if (entry->background && runs->closed) {
    run_hand_back (run);
    adder_run_cancel (run);
  }
  g_mutex_unlock (&runs->lock);
}

/* In a cluster, so that any node can tell it once this one is gone. */
static void
runs_share (struct runs *runs, const AdderRun *run, const char *result)
{
  g_autoptr (GError) problem = NULL;
  if (store_is_shared (runs->config) &&
      !underway_keep_result (runs->store, adder_run_id (run), run_request (run)->owner, result, &problem))
    log_warning ("the result of the run %s is kept on this node alone: %s", adder_run_id (run),
                 problem->message);
}

void
runs_remove (struct runs *runs, AdderRun *run, const AdderResult *result)
{
  const char *text = result ? adder_result_json (result) : "null";
  gboolean handed_on = result && request_is_handed_on (run_request (run), adder_result_outcome (result));
  if (result && !handed_on)
    runs_share (runs, run, text);
  g_mutex_lock (&runs->lock);
  struct entry *entry = g_hash_table_lookup (runs->entries, adder_run_id (run));
  entry->run = NULL;
  entry->handed_on = handed_on;
  for (struct waiter *waiter = entry->waiters; waiter; waiter = waiter->next)
    interrupt_wake (&waiter->interrupt);
  entry->waiters = NULL;
  if (entry->background) {
    entry->result = g_strdup (text);
    entry->ended_us = g_get_monotonic_time ();
    /* The result is also the last event, which follows. */
    entry->log_bytes = entry->log ? run_log_bytes (entry->log) + strlen (text) : 0;
    owner_usage_add (runs->held_bytes, entry->owner, strlen (text) + entry->log_bytes);
    g_queue_push_tail (&runs->held, entry);
    owner_usage_remove (runs->background, entry->owner, 1);
    g_cond_broadcast (&runs->changed);
    runs_purge (runs);
  } else
    runs_drop (runs, entry);
  g_mutex_unlock (&runs->lock);
}

/* ---- looking ---- */

/* Its observers may have heard of the end of a run that is still here. */
static gboolean
entry_is_active (const struct entry *entry)
{
  return entry->run && !run_has_ended (entry->run);
}

static json_t *
runs_describe (const struct entry *entry)
{
  g_autofree char *started = text_time (entry->started_us);
  return json_pack ("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "run_id", entry->id, "state",
                    entry_is_active (entry) ? "running" : "ended", "started", started, "owner",
                    json_text_or_null (entry->owner), "conversation", json_text_or_null (entry->conversation),
                    "session", json_text_or_null (entry->session), "front_end",
                    json_text_or_null (entry->front_end), "code", json_text_or_null (entry->code),
                    "can_follow", entry->log != NULL);
}

json_t *
runs_list (struct runs *runs, const char *owner)
{
  json_t *list = json_array ();
  g_mutex_lock (&runs->lock);
  runs_purge (runs);
  for (GList *at = runs->order.head; at; at = at->next) {
    const struct entry *entry = at->data;
    if (entry_is_active (entry) && (!owner || g_strcmp0 (entry->owner, owner) == 0))
      json_array_append_new (list, runs_describe (entry));
  }
  g_mutex_unlock (&runs->lock);
  return json_pack ("{s:o}", "runs", list);
}

json_t *
runs_show (struct runs *runs, const char *owner, const char *run_id, GError **error)
{
  json_t *shown = NULL;
  g_autofree char *result = NULL;
  g_mutex_lock (&runs->lock);
  const struct entry *entry = runs_find (runs, owner, run_id, error);
  if (entry) {
    shown = runs_describe (entry);
    result = g_strdup (entry->result);
  }
  g_mutex_unlock (&runs->lock);
  if (shown)
    json_object_set_new (shown, "result", result ? json_loads (result, JSON_DECODE_ANY, NULL) : json_null ());
  return shown;
}

struct run_log *
runs_log (struct runs *runs, const char *owner, const char *run_id, GError **error)
{
  struct run_log *log = NULL;
  g_mutex_lock (&runs->lock);
  const struct entry *entry = runs_find (runs, owner, run_id, error);
  if (entry && entry->log)
    log = run_log_ref (entry->log);
  else if (entry)
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
        "the events of the run %s are not held: it neither runs in the background nor is detached, or "
        "results of others needed the room",
        entry->id);
  g_mutex_unlock (&runs->lock);
  return log;
}

gboolean
runs_cancel (struct runs *runs, const char *owner, const char *run_id, GError **error)
{
  g_mutex_lock (&runs->lock);
  struct entry *entry = runs_find (runs, owner, run_id, error);
  if (entry && entry->run)
    adder_run_cancel (entry->run);
  g_mutex_unlock (&runs->lock);
  return entry != NULL;
}

void
runs_hand_back (struct runs *runs, const char *run_id)
{
  g_mutex_lock (&runs->lock);
  struct entry *entry = runs_find (runs, NULL, run_id, NULL);
  if (entry && entry->run) {
    run_hand_back (entry->run);
    adder_run_cancel (entry->run);
  }
  g_mutex_unlock (&runs->lock);
}

gboolean
runs_take_back (struct runs *runs, const char *run_id)
{
  g_mutex_lock (&runs->lock);
  struct entry *entry = g_hash_table_lookup (runs->entries, run_id);
  gboolean handed_on = entry && entry->handed_on;
  if (handed_on)
    runs_drop (runs, entry);
  g_mutex_unlock (&runs->lock);
  return handed_on;
}

/* WAITER is no longer in any list. */
REQUIRES (runs)
static void
runs_forget (struct runs *runs, const char *run_id, struct waiter *waiter)
{
  struct entry *entry = g_hash_table_lookup (runs->entries, run_id);
  struct waiter **at = entry ? &entry->waiters : NULL;
  while (at && *at && *at != waiter)
    at = &(*at)->next;
  if (at && *at)
    *at = waiter->next;
}

void
runs_wait (struct runs *runs, const char *owner, const char *run_id, guint64 wait_ms, int watch_fd)
{
  struct waiter waiter = {.next = NULL};
  g_mutex_lock (&runs->lock);
  struct entry *entry = runs_find (runs, owner, run_id, NULL);
  AdderRun *run = entry ? entry->run : NULL;
  if (run && run_has_ended (run))
    wait_ms = MAX (wait_ms, REMOVAL_MS);
  gboolean waits = run && wait_ms > 0 && interrupt_init (&waiter.interrupt, watch_fd, NULL);
  if (waits) {
    waiter.next = entry->waiters;
    entry->waiters = &waiter;
  }
  g_mutex_unlock (&runs->lock);
  if (!waits)
    return;
  struct pollfd room[INTERRUPT_POLLFDS];
  (void)interrupt_wait (&waiter.interrupt, room, 0, g_get_monotonic_time () + (gint64)wait_ms * 1000);
  g_mutex_lock (&runs->lock);
  runs_forget (runs, run_id, &waiter);
  g_mutex_unlock (&runs->lock);
  interrupt_clear (&waiter.interrupt);
}

guint
runs_held (struct runs *runs)
{
  g_mutex_lock (&runs->lock);
  runs_purge (runs);
  guint held = (guint)owner_usage_sum (runs->background) + g_queue_get_length (&runs->held);
  g_mutex_unlock (&runs->lock);
  return held;
}
