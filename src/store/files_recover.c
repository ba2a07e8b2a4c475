/* SPDX-License-Identifier: Apache-2.0 */
/* Expired and unfinished files: both become `removing`, and then lose first their blob and then their row.
 * Each step may be interrupted, or done by two processes at once. */
#include <string.h>

#include "adder_types.h"
#include "common/guarded.h"
#include "store/file_rows.h"

#define BATCH 500 /* files of one step */

/* After this time, unfinished files of another machine in a shared place count as abandoned. */
#define OTHERS_MS ((gint64)24 * 60 * 60 * 1000)

/* A row that may have to be removed. */
struct candidate {
  char *id, *writer;
};

static void
candidate_free (gpointer data)
{
  struct candidate *candidate = data;
  g_free (candidate->id);
  g_free (candidate->writer);
  g_free (candidate);
}

static gboolean
collect_candidate (gpointer data, const struct sql_value *columns, guint count G_GNUC_UNUSED)
{
  struct candidate *candidate = g_new0 (struct candidate, 1);
  candidate->id = g_strdup (columns[0].text);
  candidate->writer = g_strdup (columns[1].text);
  g_ptr_array_add (data, candidate);
  return TRUE;
}

struct leaving {
  const GPtrArray *candidates;
  enum file_state from;
};

static gboolean
files_recover_mark (gpointer data, struct transaction *transaction, GError **error)
{
  const struct leaving *leaving = data;
  for (guint i = 0; i < leaving->candidates->len; i++) {
    const struct candidate *candidate = leaving->candidates->pdata[i];
    if (!file_row_move (transaction, candidate->id, leaving->from, FILE_REMOVING, NULL, error))
      return FALSE;
  }
  return TRUE;
}

static guint64
guard_ms (const struct store *store)
{
  return 2 * store_config (store)->store_timeout_ms + 60000;
}

static gboolean
is_given_up (struct store *store, const struct candidate *candidate)
{
  if (g_strcmp0 (candidate->writer, store_writer (store)) == 0)
    return !file_flies (candidate->id, guard_ms (store));
  return !store_writer_lives (store, candidate->writer);
}

/* Adds the rows that QUERY finds to an array of struct candidate, or returns NULL. */
static GPtrArray *
find_candidates (struct database *database, const struct file_query *query, GError **error)
{
  struct transaction *transaction = database_begin (database, FALSE, error);
  if (!transaction)
    return NULL;
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (candidate_free);
  gboolean ran = transaction_run (transaction, query->sql->str, query->values, query->count,
                                  collect_candidate, found, NULL, error);
  transaction_end (transaction);
  return ran ? g_steal_pointer (&found) : NULL;
}

#define SELECT_CANDIDATES "SELECT id, writer FROM files WHERE state = ?"
/* Exactly the condition of the index over unfinished files. */
#define UNSETTLED " AND state <> 1"

static gboolean
files_recover_leave (struct database *database, const GPtrArray *candidates, enum file_state from,
                     GError **error)
{
  struct leaving leaving = {candidates, from};
  return candidates->len == 0 || database_commit (database, files_recover_mark, &leaving, error);
}

/* Those whose writer is dead or has abandoned them; nothing is known of writers elsewhere. */
static gboolean
leave_given_up (struct store *store, struct database *database, GError **error)
{
  autoquery struct file_query query = {0};
  file_query_add (&query, SELECT_CANDIDATES UNSETTLED, SQL_INT (FILE_PENDING));
  if (database_is_shared (database))
    file_query_add_place (&query, " AND node = ?", store);
  g_autoptr (GPtrArray) pending = find_candidates (database, &query, error);
  if (!pending)
    return FALSE;
  for (guint i = pending->len; i > 0; i--)
    if (!is_given_up (store, pending->pdata[i - 1]))
      g_ptr_array_remove_index_fast (pending, i - 1);
  return files_recover_leave (database, pending, FILE_PENDING, error);
}

static gboolean
leave_forgotten (struct store *store, struct database *database, GError **error)
{
  if (!database_is_shared (database) || !files_are_shared (store))
    return TRUE;
  autoquery struct file_query query = {0};
  file_query_add (&query, SELECT_CANDIDATES UNSETTLED, SQL_INT (FILE_PENDING));
  file_query_add (&query, " AND created_ms < ?", SQL_INT (file_now_ms () - OTHERS_MS));
  file_query_add (&query, " AND writer <> ?", SQL_STR (store_writer (store)));
  g_autoptr (GPtrArray) forgotten = find_candidates (database, &query, error);
  return forgotten && files_recover_leave (database, forgotten, FILE_PENDING, error);
}

static gboolean
leave_expired (struct store *store, struct database *database, GError **error)
{
  guint found;
  do {
    autoquery struct file_query query = {0};
    file_query_add (&query, SELECT_CANDIDATES, SQL_INT (FILE_KEPT));
    file_query_add_ours (&query, store, database);
    file_query_add (&query, " AND expires_ms <= ?", SQL_INT (file_now_ms ()));
    file_query_add (&query, " LIMIT ?", SQL_INT (BATCH));
    g_autoptr (GPtrArray) expired = find_candidates (database, &query, error);
    if (!expired || !files_recover_leave (database, expired, FILE_KEPT, error))
      return FALSE;
    found = expired->len;
  } while (found == BATCH);
  return TRUE;
}

/* ---- removing ---- */

/* The time of one pass for files that cannot be removed, in units of the store's timeout. */
#define LOOK_TIMES 3

/* Where the next pass begins: after the first failure of the last one, so that slow failures do not block
 * others forever. It is only an order: each pass may go everywhere. */
LOCK_CLASS (files_begin);
static MUTEX (files_begin) begin_lock;
GUARDED_BY (files_begin) static char begin_behind[ID_BYTES];

static void
exchange_begin (char ret_behind[ID_BYTES], const char *behind)
{
  g_mutex_lock (&begin_lock);
  if (ret_behind)
    g_strlcpy (ret_behind, begin_behind, ID_BYTES);
  if (behind)
    g_strlcpy (begin_behind, behind, ID_BYTES);
  g_mutex_unlock (&begin_lock);
}

struct look {
  struct store *store;
  struct database *database;
  gint64 until_us;
  GError *problem; /* of the smallest id, so that it is the same each time */
  char failed[ID_BYTES];
};

/* The `removing` rows after AFTER, up to LAST (NULL: all), or NULL. */
static GPtrArray *
find_removing (const struct look *look, const char *after, const char *last, GError **error)
{
  autoquery struct file_query query = {0};
  file_query_add (&query, "SELECT " FILE_COLUMNS " FROM files WHERE state = ?" UNSETTLED,
                  SQL_INT (FILE_REMOVING));
  file_query_add_ours (&query, look->store, look->database);
  file_query_add (&query, " AND id > ?", SQL_STR (after));
  if (last)
    file_query_add (&query, " AND id <= ?", SQL_STR (last));
  file_query_add (&query, " ORDER BY id LIMIT ?", SQL_INT (BATCH));
  struct transaction *transaction = database_begin (look->database, FALSE, error);
  if (!transaction)
    return NULL;
  g_autoptr (GPtrArray) rows = file_rows_new ();
  gboolean ran = transaction_run (transaction, query.sql->str, query.values, query.count, file_rows_collect,
                                  rows, NULL, error);
  transaction_end (transaction);
  return ran ? g_steal_pointer (&rows) : NULL;
}

static void
finish_page (struct look *look, const GPtrArray *rows)
{
  g_autoptr (GError) problem = NULL;
  const char *failed;
  if (file_rows_finish (look->store, rows, look->until_us, &failed, &problem))
    return;
  if (!look->problem)
    exchange_begin (NULL, failed);
  else if (!failed || strcmp (failed, look->failed) > 0)
    return;
  g_clear_error (&look->problem);
  look->problem = g_steal_pointer (&problem);
  g_strlcpy (look->failed, failed ? failed : "", sizeof look->failed);
}

/* In pages by id. FALSE: the pass is over. */
static gboolean
finish_range (struct look *look, const char *from, const char *last)
{
  char after[ID_BYTES];
  guint found = BATCH;
  g_strlcpy (after, from, sizeof after);
  while (found == BATCH) {
    if (look->problem && g_get_monotonic_time () >= look->until_us)
      return FALSE;
    g_autoptr (GError) problem = NULL;
    g_autoptr (GPtrArray) rows = find_removing (look, after, last, &problem);
    if (!rows) {
      if (!look->problem)
        look->problem = g_steal_pointer (&problem);
      return FALSE;
    }
    found = rows->len;
    if (found == 0)
      break;
    finish_page (look, rows);
    g_strlcpy (after, ((struct file_row *)rows->pdata[found - 1])->id, sizeof after);
  }
  return TRUE;
}

static gboolean
finish_removing (struct store *store, struct database *database, GError **error)
{
  gint64 most_us = LOOK_TIMES * (gint64)store_config (store)->store_timeout_ms * 1000;
  struct look look = {.store = store, .database = database, .until_us = g_get_monotonic_time () + most_us};
  char begin[ID_BYTES];
  exchange_begin (begin, NULL);
  if (finish_range (&look, begin, NULL) && begin[0])
    finish_range (&look, "", begin);
  if (!look.problem)
    return TRUE;
  g_propagate_error (error, look.problem);
  return FALSE;
}

gboolean
files_recover (struct store *store, GError **error)
{
  struct database *database = store_database (store, error);
  if (!database)
    return FALSE;
  file_flights_forget (guard_ms (store));
  return leave_given_up (store, database, error) && leave_forgotten (store, database, error) &&
         leave_expired (store, database, error) && finish_removing (store, database, error);
}
