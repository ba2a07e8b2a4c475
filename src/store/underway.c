/* SPDX-License-Identifier: Apache-2.0 */
#include "store/underway.h"

#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/log.h"
#include "engine/host/id.h"
#include "store/departed.h"

#define TICK_US      (1 * G_USEC_PER_SEC)
#define OLD_MS       3000                 /* without a sign of life */
#define WATCH_US     (3 * G_USEC_PER_SEC) /* how long it must stay so while it is looked at */
#define DELAY_US     (300 * G_USEC_PER_SEC / 1000)
#define GONE_AT_ONCE 16
#define NODE_TICKS   5 /* a node looks less often than a gateway, since there are many */
#define CLEAN_TICKS  60
#define SESSION_MS   ((gint64)24 * 60 * 60 * 1000) /* how long the end of a session is told */
#define RESULT_MAX   (8 << 20)                     /* bytes of one result */

LOCK_CLASS (underway);

/* A note of this daemon. */
struct held {
  char *id, *owner, *name, *text, *reason;
  int slot;
  gint64 noted_us;
  gboolean is_written;
};

/* A daemon that has been silent. */
struct suspect {
  gint64 beat_ms, since_us;
};

struct underway {
  struct store *store;
  char instance[ID_BYTES];
  gboolean is_shown; /* there is a row of this daemon; the thread's, like the next three */
  guint ticks;
  GHashTable *suspects; /* instance -> struct suspect */
  char *said;           /* the last problem that was logged */

  MUTEX (underway) lock;
  GCond changed;
  GUARDED_BY (underway) GThread *thread;
  GUARDED_BY (underway) GHashTable *held; /* ticket -> struct held */
  GUARDED_BY (underway) GPtrArray *over;  /* ids of rows to remove */
  GUARDED_BY (underway) int tickets;
  GUARDED_BY (underway) guint64 asked, settled; /* how often all had to be written, and was or could not be */
  GUARDED_BY (underway) gboolean is_hurried, is_closed;
};

static void
held_free (gpointer data)
{
  struct held *held = data;
  g_free (held->id);
  g_free (held->owner);
  g_free (held->name);
  g_free (held->text);
  g_free (held->reason);
  g_free (held);
}

/* ---- noting ---- */

static gpointer underway_live (gpointer data);

REQUIRES (underway)
static void
underway_start (struct underway *underway)
{
  if (!underway->thread && !underway->is_closed)
    underway->thread = g_thread_new ("underway", underway_live, underway);
}

int
underway_note (struct underway *underway, int ticket, const struct underway_note *note)
{
  struct held *held = g_new (struct held, 1);
  *held = (struct held){.id = g_strdup (note->id),
                        .owner = g_strdup (note->owner ? note->owner : ""),
                        .name = g_strdup (note->name),
                        .text = g_strdup (note->text),
                        .reason = g_strdup (note->reason),
                        .slot = note->slot,
                        .noted_us = g_get_monotonic_time ()};
  g_mutex_lock (&underway->lock);
  underway_start (underway);
  if (ticket < 0) {
    underway->tickets = underway->tickets == G_MAXINT ? 0 : underway->tickets + 1;
    ticket = underway->tickets;
  }
  g_hash_table_replace (underway->held, GINT_TO_POINTER (ticket), held);
  if (!note->text) { /* sessions are few, and are soon asked for */
    underway->is_hurried = TRUE;
    g_cond_broadcast (&underway->changed);
  }
  g_mutex_unlock (&underway->lock);
  return ticket;
}

int
underway_slot (struct underway *underway, int ticket)
{
  g_mutex_lock (&underway->lock);
  const struct held *held = g_hash_table_lookup (underway->held, GINT_TO_POINTER (ticket));
  int slot = held ? held->slot : -1;
  g_mutex_unlock (&underway->lock);
  return slot;
}

int
underway_forget (struct underway *underway, int ticket)
{
  g_mutex_lock (&underway->lock);
  const struct held *held = g_hash_table_lookup (underway->held, GINT_TO_POINTER (ticket));
  int slot = held ? held->slot : -1;
  if (held && held->is_written)
    g_ptr_array_add (underway->over, g_strdup (held->id));
  g_hash_table_remove (underway->held, GINT_TO_POINTER (ticket));
  g_mutex_unlock (&underway->lock);
  return slot;
}

void
underway_settle (struct underway *underway)
{
  gint64 until_us = g_get_monotonic_time () + (gint64)store_config (underway->store)->store_timeout_ms * 1000;
  g_mutex_lock (&underway->lock);
  underway_start (underway);
  guint64 own = ++underway->asked;
  g_cond_broadcast (&underway->changed);
  while (underway->settled < own && !underway->is_closed &&
         g_cond_wait_until (&underway->changed, &underway->lock, until_us))
    ;
  g_mutex_unlock (&underway->lock);
}

/* ---- rows ---- */

/* What one transaction writes. */
struct batch {
  const struct underway *underway;
  const char *now;
  GPtrArray *rows;   /* of struct held, copies */
  GArray *tickets;   /* theirs */
  GPtrArray *over;   /* ids */
  gboolean was_lost; /* somebody has taken this daemon for gone */
};

static gboolean
underway_beat (struct batch *batch, struct transaction *transaction, GError **error)
{
  const struct underway *underway = batch->underway;
  const struct sql_value values[] = {SQL_STR (underway->instance), SQL_STR (store_node (underway->store))};
  g_autofree char *renew = g_strdup_printf ("UPDATE instances SET beat_ms = %s WHERE id = $1", batch->now);
  g_autofree char *make =
      g_strdup_printf ("INSERT INTO instances (id, node, beat_ms) VALUES ($1, $2, %s)", batch->now);
  guint64 changed = 0;
  if (!transaction_run (transaction, renew, values, 1, NULL, NULL, &changed, error))
    return FALSE;
  batch->was_lost = changed == 0 && underway->is_shown;
  return changed > 0 || transaction_run (transaction, make, values, 2, NULL, NULL, NULL, error);
}

static gboolean
underway_put_row (const struct batch *batch, struct transaction *transaction, const struct held *held,
                  GError **error)
{
  const struct sql_value values[] = {SQL_STR (held->id),    SQL_STR (batch->underway->instance),
                                     SQL_STR (held->owner), SQL_OPT (held->name),
                                     SQL_OPT (held->text),  SQL_OPT (held->reason)};
  g_autofree char *sql = g_strdup_printf (
      "INSERT INTO underway (id, instance, owner, name, note, reason, ended_ms) "
      "VALUES ($1, $2, $3, $4, $5, $6, %s) ON CONFLICT (id) DO UPDATE SET instance = excluded.instance, "
      "name = excluded.name, note = excluded.note, reason = excluded.reason, ended_ms = excluded.ended_ms",
      held->reason ? batch->now : "0");
  return transaction_run (transaction, sql, values, G_N_ELEMENTS (values), NULL, NULL, NULL, error);
}

static gboolean
underway_write (gpointer data, struct transaction *transaction, GError **error)
{
  struct batch *batch = data;
  if (!underway_beat (batch, transaction, error))
    return FALSE;
  for (guint i = 0; i < batch->rows->len; i++)
    if (!underway_put_row (batch, transaction, batch->rows->pdata[i], error))
      return FALSE;
  for (guint i = 0; i < batch->over->len; i++) {
    const struct sql_value values[] = {SQL_STR (batch->over->pdata[i]), SQL_STR (batch->underway->instance)};
    if (!transaction_run (transaction, "DELETE FROM underway WHERE id = $1 AND instance = $2", values, 2,
                          NULL, NULL, NULL, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
underway_hide (gpointer data, struct transaction *transaction, GError **error)
{
  const struct batch *batch = data;
  return transaction_run (transaction, "DELETE FROM instances WHERE id = $1",
                          &SQL_STR (batch->underway->instance), 1, NULL, NULL, NULL, error);
}

/* ---- what this daemon has ---- */

static struct held *
held_copy (const struct held *held)
{
  struct held *copy = g_new (struct held, 1);
  *copy = (struct held){.id = g_strdup (held->id),
                        .owner = g_strdup (held->owner),
                        .name = g_strdup (held->name),
                        .text = g_strdup (held->text),
                        .reason = g_strdup (held->reason)};
  return copy;
}

/* Notes that are to be written count as written from now on: one that is forgotten meanwhile is removed
 * later. Returns whether there are any rows. */
REQUIRES (underway)
static gboolean
underway_collect (struct underway *underway, gboolean all, struct batch *ret_batch)
{
  gint64 before_us = g_get_monotonic_time () - DELAY_US;
  gboolean any = FALSE;
  GHashTableIter iter;
  gpointer ticket, value;
  g_hash_table_iter_init (&iter, underway->held);
  while (g_hash_table_iter_next (&iter, &ticket, &value)) {
    struct held *held = value;
    if (!held->is_written && (all || !held->text || held->noted_us <= before_us)) {
      int number = GPOINTER_TO_INT (ticket);
      held->is_written = TRUE;
      g_ptr_array_add (ret_batch->rows, held_copy (held));
      g_array_append_val (ret_batch->tickets, number);
    }
    any = any || held->is_written;
  }
  ret_batch->over = underway->over;
  underway->over = g_ptr_array_new_with_free_func (g_free);
  return any || ret_batch->over->len > 0;
}

REQUIRES (underway)
static void
underway_take_back (struct underway *underway, struct batch *batch)
{
  for (guint i = 0; i < batch->tickets->len; i++) {
    int ticket = g_array_index (batch->tickets, int, i);
    struct held *held = g_hash_table_lookup (underway->held, GINT_TO_POINTER (ticket));
    if (held)
      held->is_written = FALSE;
  }
  g_ptr_array_extend_and_steal (underway->over, g_steal_pointer (&batch->over));
}

REQUIRES (underway)
static void
underway_write_again (struct underway *underway)
{
  GHashTableIter iter;
  gpointer held;
  g_hash_table_iter_init (&iter, underway->held);
  while (g_hash_table_iter_next (&iter, NULL, &held))
    ((struct held *)held)->is_written = FALSE;
  underway->is_hurried = TRUE;
}

/* Writes what has to be; ALL: now. */
static gboolean
underway_flush (struct underway *underway, struct database *database, gboolean all, GError **error)
{
  struct batch batch = {.underway = underway, .now = database_now_ms (database)};
  batch.rows = g_ptr_array_new_with_free_func (held_free);
  batch.tickets = g_array_new (FALSE, FALSE, sizeof (int));
  g_mutex_lock (&underway->lock);
  gboolean any = underway_collect (underway, all, &batch);
  g_mutex_unlock (&underway->lock);
  gboolean ok = TRUE;
  if (any || underway->is_shown)
    ok = database_commit (database, any ? underway_write : underway_hide, &batch, error);
  g_mutex_lock (&underway->lock);
  if (!ok)
    underway_take_back (underway, &batch);
  else if (batch.was_lost)
    underway_write_again (underway);
  g_mutex_unlock (&underway->lock);
  if (ok)
    underway->is_shown = any;
  g_ptr_array_unref (batch.rows);
  g_array_unref (batch.tickets);
  g_clear_pointer (&batch.over, g_ptr_array_unref);
  return ok;
}

/* ---- those that are gone ---- */

struct silent {
  char *id, *node;
  gint64 beat_ms;
};

static void
silent_free (gpointer data)
{
  struct silent *silent = data;
  g_free (silent->id);
  g_free (silent->node);
  g_free (silent);
}

static gboolean
underway_take_silent (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct silent *silent = g_new (struct silent, 1);
  *silent = (struct silent){g_strdup (row[0].text), g_strdup (row[1].text), row[2].integer};
  g_ptr_array_add (data, silent);
  return TRUE;
}

/* Those that have given no sign of life for a while; the caller's. */
static GPtrArray *
underway_read_silent (struct database *database, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (silent_free);
  g_autofree char *sql =
      g_strdup_printf ("SELECT id, node, beat_ms FROM instances WHERE beat_ms < %s - %d ORDER BY id LIMIT %d",
                       database_now_ms (database), OLD_MS, GONE_AT_ONCE);
  struct transaction *transaction = database_begin (database, FALSE, error);
  gboolean ok =
      transaction && transaction_run (transaction, sql, NULL, 0, underway_take_silent, list, NULL, error);
  transaction_end (transaction);
  return ok ? g_steal_pointer (&list) : NULL;
}

/* Whether SILENT has stayed as it is for long enough; AFTER: those that are suspected from now on. */
static gboolean
underway_is_gone (struct underway *underway, const struct silent *silent, GHashTable *after)
{
  const struct suspect *before = g_hash_table_lookup (underway->suspects, silent->id);
  gint64 now_us = g_get_monotonic_time ();
  gboolean is_same = before && before->beat_ms == silent->beat_ms;
  struct suspect *suspect = g_new (struct suspect, 1);
  *suspect = (struct suspect){silent->beat_ms, is_same ? before->since_us : now_us};
  g_hash_table_insert (after, g_strdup (silent->id), suspect);
  return now_us - suspect->since_us >= WATCH_US;
}

struct burial {
  struct store *store;
  const struct silent *silent;
  const char *now, *reason;
  guint runs; /* that got their record so */
};

static gboolean
underway_take_note (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  g_ptr_array_add (data, g_strdup (row[0].text ? row[0].text : ""));
  return TRUE;
}

/* Who removes the row of the daemon does the rest. */
static gboolean
underway_bury (gpointer data, struct transaction *transaction, GError **error)
{
  struct burial *burial = data;
  const struct silent *silent = burial->silent;
  const struct sql_value values[] = {SQL_STR (silent->id), SQL_INT (silent->beat_ms)};
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  guint64 changed = 0;
  burial->runs = 0;
  if (!transaction_run (transaction, "DELETE FROM instances WHERE id = $1 AND beat_ms = $2", values, 2, NULL,
                        NULL, &changed, error))
    return FALSE;
  if (changed == 0)
    return TRUE;
  if (!transaction_run (transaction, "SELECT note FROM underway WHERE instance = $1 AND note IS NOT NULL",
                        values, 1, underway_take_note, notes, NULL, error))
    return FALSE;
  for (guint i = 0; i < notes->len; i++)
    if (!departed_add_lost (burial->store, transaction, silent->node, notes->pdata[i], error))
      return FALSE;
  burial->runs = notes->len;
  g_autofree char *end = g_strdup_printf (
      "UPDATE underway SET ended_ms = %s, reason = $2 WHERE instance = $1 AND ended_ms = 0", burial->now);
  const struct sql_value ended[] = {SQL_STR (silent->id), SQL_STR (burial->reason)};
  return transaction_run (transaction, "DELETE FROM underway WHERE instance = $1 AND note IS NOT NULL",
                          values, 1, NULL, NULL, NULL, error) &&
         transaction_run (transaction, end, ended, 2, NULL, NULL, NULL, error);
}

static gboolean
underway_look (struct underway *underway, struct database *database, GError **error)
{
  g_autoptr (GPtrArray) list = underway_read_silent (database, error);
  if (!list)
    return FALSE;
  GHashTable *after = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gboolean ok = TRUE;
  for (guint i = 0; i < list->len && ok; i++) {
    const struct silent *silent = list->pdata[i];
    if (strcmp (silent->id, underway->instance) == 0 || !underway_is_gone (underway, silent, after))
      continue;
    g_autofree char *reason = g_strdup_printf (NODE_LOST_OF, silent->node);
    struct burial burial = {underway->store, silent, database_now_ms (database), reason, 0};
    ok = database_commit (database, underway_bury, &burial, error);
    if (ok)
      log_warning ("store: the node %s is gone; %u runs of it end as node_lost", silent->node, burial.runs);
  }
  g_hash_table_unref (underway->suspects);
  underway->suspects = after;
  return ok;
}

/* ---- the thread ---- */

static gboolean
underway_clean (gpointer data, struct transaction *transaction, GError **error)
{
  const struct batch *batch = data;
  g_autofree char *sessions =
      g_strdup_printf ("DELETE FROM underway WHERE ended_ms > 0 AND ended_ms < %s - %" G_GINT64_FORMAT,
                       batch->now, SESSION_MS);
  g_autofree char *results = g_strdup_printf ("DELETE FROM run_results WHERE expires_ms < %s", batch->now);
  return transaction_run (transaction, sessions, NULL, 0, NULL, NULL, NULL, error) &&
         transaction_run (transaction, results, NULL, 0, NULL, NULL, NULL, error);
}

static gboolean
underway_tick (struct underway *underway, gboolean all, gboolean looks, GError **error)
{
  struct database *database = store_database (underway->store, error);
  if (!database || !underway_flush (underway, database, all, error))
    return FALSE;
  if (!looks)
    return TRUE;
  guint ticks = underway->ticks++;
  gboolean is_gateway = store_config (underway->store)->cluster_gateway;
  struct batch batch = {.now = database_now_ms (database)};
  return (ticks % (is_gateway ? 1 : NODE_TICKS) != 0 || underway_look (underway, database, error)) &&
         (ticks % CLEAN_TICKS != 0 || database_commit (database, underway_clean, &batch, error));
}

/* Until the next tick, or until something is to be written. */
REQUIRES (underway)
static void
underway_wait (struct underway *underway, gint64 until_us)
{
  while (!underway->is_closed && !underway->is_hurried && underway->asked == underway->settled &&
         g_cond_wait_until (&underway->changed, &underway->lock, until_us))
    ;
  underway->is_hurried = FALSE;
}

static void
underway_say (struct underway *underway, const GError *problem)
{
  if (problem && g_strcmp0 (problem->message, underway->said) != 0)
    log_warning ("store: what is under way here is not known to other nodes: %s", problem->message);
  g_free (underway->said);
  underway->said = problem ? g_strdup (problem->message) : NULL;
}

static gpointer
underway_live (gpointer data)
{
  struct underway *underway = data;
  gint64 next_us = g_get_monotonic_time ();
  g_mutex_lock (&underway->lock);
  while (!underway->is_closed) {
    underway_wait (underway, next_us);
    guint64 asked = underway->asked;
    gboolean all = asked != underway->settled;
    g_mutex_unlock (&underway->lock);
    g_autoptr (GError) problem = NULL;
    gboolean looks = g_get_monotonic_time () >= next_us;
    (void)underway_tick (underway, all, looks, &problem);
    underway_say (underway, problem);
    if (looks)
      next_us = g_get_monotonic_time () + TICK_US;
    g_mutex_lock (&underway->lock);
    underway->settled = asked;
    g_cond_broadcast (&underway->changed);
  }
  g_mutex_unlock (&underway->lock);
  return NULL;
}

/* ---- life ---- */

struct underway *
underway_new (struct store *store)
{
  struct underway *underway = g_new0 (struct underway, 1);
  underway->store = store;
  id_make (underway->instance);
  underway->suspects = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_mutex_init (&underway->lock);
  g_cond_init (&underway->changed);
  underway->held = g_hash_table_new_full (NULL, NULL, NULL, held_free);
  underway->over = g_ptr_array_new_with_free_func (g_free);
  return underway;
}

void
underway_watch (struct underway *underway)
{
  g_mutex_lock (&underway->lock);
  underway_start (underway);
  g_mutex_unlock (&underway->lock);
}

/* Runs that are left have a note in the journal as well, which stays. */
REQUIRES (underway)
static void
underway_end_sessions (struct underway *underway, const char *reason)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, underway->held);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    struct held *held = value;
    if (held->text || held->reason)
      continue;
    held->reason = g_strdup (reason);
    held->is_written = FALSE;
  }
}

void
underway_close (struct underway *underway, const char *reason)
{
  g_mutex_lock (&underway->lock);
  gboolean was_open = !underway->is_closed;
  underway->is_closed = TRUE;
  GThread *thread = g_steal_pointer (&underway->thread);
  g_cond_broadcast (&underway->changed);
  underway_end_sessions (underway, reason);
  g_mutex_unlock (&underway->lock);
  if (thread)
    g_thread_join (thread);
  struct database *database = was_open && thread ? store_database (underway->store, NULL) : NULL;
  struct batch batch = {.underway = underway};
  if (database && underway_flush (underway, database, TRUE, NULL) && underway->is_shown)
    (void)database_commit (database, underway_hide, &batch, NULL);
}

void
underway_free (struct underway *underway)
{
  if (!underway)
    return;
  UNSHARED (underway);
  g_hash_table_unref (underway->held);
  g_hash_table_unref (underway->suspects);
  g_ptr_array_unref (underway->over);
  g_mutex_clear (&underway->lock);
  g_cond_clear (&underway->changed);
  g_free (underway->said);
  g_free (underway);
}

/* ---- telling ---- */

/* The text of the first row, or *RET_TEXT stays NULL. */
static gboolean
underway_ask (struct store *store, const char *sql, const struct sql_value *values, guint count,
              char **ret_text, GError **error)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  gboolean ok = transaction &&
                transaction_run (transaction, sql, values, count, underway_take_note, found, NULL, error);
  transaction_end (transaction);
  if (ok && found->len > 0)
    *ret_text = g_strdup (found->pdata[0]);
  return ok;
}

gboolean
underway_find_session (struct underway *underway, const char *owner, const char *name, char **ret_reason,
                       GError **error)
{
  const struct sql_value values[] = {SQL_STR (owner), SQL_STR (name)};
  g_autofree char *reason = NULL;
  if (!underway_ask (
          underway->store,
          "SELECT reason FROM underway WHERE owner = $1 AND (id = $2 OR name = $2) AND note IS NULL "
          "AND ended_ms > 0 ORDER BY ended_ms DESC LIMIT 1",
          values, 2, &reason, error) ||
      !reason)
    return FALSE;
  *ret_reason = g_steal_pointer (&reason);
  return TRUE;
}

/* ---- results ---- */

struct kept_result {
  const char *run_id, *owner, *text, *now;
  gint64 age_ms, most_bytes;
};

/* The owner's oldest make room. */
static gboolean
underway_put_result (gpointer data, struct transaction *transaction, GError **error)
{
  const struct kept_result *kept = data;
  const struct sql_value values[] = {SQL_STR (kept->run_id), SQL_STR (kept->owner), SQL_STR (kept->text),
                                     SQL_INT (strlen (kept->text)), SQL_INT (kept->age_ms)};
  const struct sql_value bound[] = {SQL_STR (kept->owner), SQL_INT (kept->most_bytes)};
  g_autofree char *put =
      g_strdup_printf ("INSERT INTO run_results (run_id, owner, result, bytes, expires_ms) "
                       "VALUES ($1, $2, $3, $4, %s + $5) ON CONFLICT (run_id) DO NOTHING",
                       kept->now);
  return transaction_run (transaction, put, values, G_N_ELEMENTS (values), NULL, NULL, NULL, error) &&
         transaction_run (
             transaction,
             "DELETE FROM run_results WHERE run_id IN (SELECT run_id FROM (SELECT run_id, SUM(bytes) OVER "
             "(ORDER BY expires_ms DESC, run_id DESC) AS total FROM run_results WHERE owner = $1) AS sums "
             "WHERE total > $2)",
             bound, 2, NULL, NULL, NULL, error);
}

gboolean
underway_keep_result (struct store *store, const char *run_id, const char *owner, const char *text,
                      GError **error)
{
  const struct config *config = store_config (store);
  if (strlen (text) > RESULT_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "it has more than %d MiB", RESULT_MAX >> 20);
    return FALSE;
  }
  struct database *database = store_database (store, error);
  if (!database)
    return FALSE;
  struct kept_result kept = {.run_id = run_id,
                             .owner = owner ? owner : "",
                             .text = text,
                             .now = database_now_ms (database),
                             .age_ms = (gint64)config->http_result_age_ms,
                             .most_bytes = (gint64)config->http_result_bytes};
  return database_commit (database, underway_put_result, &kept, error);
}

char *
underway_find_result (struct store *store, const char *owner, const char *run_id)
{
  const struct sql_value values[] = {SQL_STR (run_id), SQL_OPT (owner)};
  char *text = NULL;
  (void)underway_ask (store,
                      owner ? "SELECT result FROM run_results WHERE run_id = $1 AND owner = $2"
                            : "SELECT result FROM run_results WHERE run_id = $1",
                      values, owner ? 2 : 1, &text, NULL);
  return text;
}
