/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose time is over, and those that somebody did not finish: both become `removing`, and what is that
 * loses first its blob and then its row. Each step may be broken off, or be made by two at once. */
#include "adder.h"
#include "store/file_rows.h"

#define BATCH 500 /* files of one step */

/* What another machine began in a place that all reach, and is not done with by then, was given up. */
#define OTHERS_MS ((gint64)24 * 60 * 60 * 1000)

/* A row that may have to go. */
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
mark (gpointer data, struct transaction *transaction, GError **error)
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
/* The index over those that are on their way knows the others by this very condition. */
#define UNSETTLED " AND state <> 1"

static gboolean
leave (struct database *database, const GPtrArray *candidates, enum file_state from, GError **error)
{
  struct leaving leaving = {candidates, from};
  return candidates->len == 0 || database_commit (database, mark, &leaving, error);
}

/* Those whose writer is dead or has given them up; of writers elsewhere nobody here knows. */
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
  return leave (database, pending, FILE_PENDING, error);
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
  return forgotten && leave (database, forgotten, FILE_PENDING, error);
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
    if (!expired || !leave (database, expired, FILE_KEPT, error))
      return FALSE;
    found = expired->len;
  } while (found == BATCH);
  return TRUE;
}

/* In pages by id, so that one that cannot be removed does not keep the others. */
static gboolean
finish_removing (struct store *store, struct database *database, GError **error)
{
  char after[ID_BYTES] = "";
  guint found;
  do {
    autoquery struct file_query query = {0};
    file_query_add (&query, "SELECT " FILE_COLUMNS " FROM files WHERE state = ?" UNSETTLED,
                    SQL_INT (FILE_REMOVING));
    file_query_add_ours (&query, store, database);
    file_query_add (&query, " AND id > ?", SQL_STR (after));
    file_query_add (&query, " ORDER BY id LIMIT ?", SQL_INT (BATCH));
    g_autoptr (GPtrArray) rows = file_rows_new ();
    struct transaction *transaction = database_begin (database, FALSE, error);
    if (!transaction)
      return FALSE;
    gboolean ran = transaction_run (transaction, query.sql->str, query.values, query.count, file_rows_collect,
                                    rows, NULL, error);
    transaction_end (transaction);
    if (!ran || (rows->len > 0 && !file_rows_finish (store, rows, error)))
      return FALSE;
    found = rows->len;
    if (found > 0)
      g_strlcpy (after, ((struct file_row *)rows->pdata[found - 1])->id, sizeof after);
  } while (found == BATCH);
  return TRUE;
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
