/* SPDX-License-Identifier: Apache-2.0 */
#include "store/file_rows.h"

#include <string.h>

#include "adder_types.h"
#include "common/guarded.h"
#include "common/paths.h"

gint64
file_now_ms (void)
{
  return g_get_real_time () / 1000;
}

gboolean
files_are_shared (const struct store *store)
{
  return g_str_has_prefix (store_config (store)->store_blobs, "s3:");
}

/* ---- rows ---- */

struct file_row *
file_row_read (const struct sql_value *columns)
{
  struct file_row *row = g_new0 (struct file_row, 1);
  g_strlcpy (row->id, columns[0].text ? columns[0].text : "", sizeof row->id);
  row->kind = (enum file_kind)columns[1].integer;
  row->name = g_strdup (columns[2].text);
  row->mime = g_strdup (columns[3].text);
  row->sha256 = g_strdup (columns[4].text);
  row->bytes = (guint64)columns[5].integer;
  row->blob = g_strdup (columns[6].text);
  row->owner = g_strdup (columns[7].text);
  row->conversation = g_strdup (columns[8].text);
  row->session = g_strdup (columns[9].text);
  row->run_id = g_strdup (columns[10].text);
  row->created_ms = columns[11].integer;
  row->expires_ms = columns[12].integer;
  return row;
}

void
file_row_free (struct file_row *row)
{
  if (!row)
    return;
  g_free (row->name);
  g_free (row->mime);
  g_free (row->sha256);
  g_free (row->blob);
  g_free (row->owner);
  g_free (row->conversation);
  g_free (row->session);
  g_free (row->run_id);
  g_free (row);
}

gboolean
file_rows_collect (gpointer data, const struct sql_value *columns, guint count G_GNUC_UNUSED)
{
  g_ptr_array_add (data, file_row_read (columns));
  return TRUE;
}

GPtrArray *
file_rows_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)file_row_free);
}

void
file_query_add (struct file_query *query, const char *text, struct sql_value value)
{
  if (!query->sql)
    query->sql = g_string_new (NULL);
  const char *mark = strchr (text, '?');
  if (!mark) {
    g_string_append (query->sql, text);
    return;
  }
  g_assert (query->count < G_N_ELEMENTS (query->values));
  query->values[query->count++] = value;
  g_string_append_printf (query->sql, "%.*s$%u%s", (int)(mark - text), text, query->count, mark + 1);
}

void
file_query_clear (struct file_query *query)
{
  if (query->sql)
    g_string_free (query->sql, TRUE);
  query->sql = NULL;
  g_clear_pointer (&query->place, g_free);
}

char *
file_folder (const struct store *store)
{
  const char *blobs = store_config (store)->store_blobs;
  g_autofree char *state = strcmp (blobs, "directory") == 0 ? paths_state_dir (NULL) : NULL;
  return state ? g_build_filename (state, "store", NULL)
               : g_strdup (g_str_has_prefix (blobs, "directory:") ? blobs + strlen ("directory:") : blobs);
}

char *
file_place (const struct store *store)
{
  g_autofree char *folder = files_are_shared (store) ? NULL : file_folder (store);
  return g_strconcat (store_node (store), folder ? ":" : NULL, folder, NULL);
}

void
file_query_add_place (struct file_query *query, const char *text, const struct store *store)
{
  g_assert (!query->place);
  query->place = file_place (store);
  file_query_add (query, text, SQL_STR (query->place));
}

void
file_query_add_ours (struct file_query *query, struct store *store, const struct database *database)
{
  if (database_is_shared (database) && !files_are_shared (store))
    file_query_add_place (query, " AND node = ?", store);
}

gboolean
file_row_move (struct transaction *transaction, const char *id, enum file_state from, enum file_state to,
               guint64 *ret_changed, GError **error)
{
  const struct sql_value values[] = {SQL_INT (to), SQL_STR (id), SQL_INT (from)};
  return transaction_run (transaction, "UPDATE files SET state = $1 WHERE id = $2 AND state = $3", values,
                          G_N_ELEMENTS (values), NULL, NULL, ret_changed, error);
}

static gboolean
delete_rows (gpointer data, struct transaction *transaction, GError **error)
{
  const GPtrArray *ids = data;
  for (guint i = 0; i < ids->len; i++) {
    const struct sql_value values[] = {SQL_STR (ids->pdata[i]), SQL_INT (FILE_REMOVING)};
    if (!transaction_run (transaction, "DELETE FROM files WHERE id = $1 AND state = $2", values,
                          G_N_ELEMENTS (values), NULL, NULL, NULL, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
file_rows_finish (struct store *store, const GPtrArray *rows, gint64 until_us, const char **ret_failed,
                  GError **error)
{
  if (ret_failed)
    *ret_failed = NULL;
  struct database *database = store_database (store, error);
  struct blobs *blobs = database ? store_blobs (store, error) : NULL;
  if (!blobs)
    return FALSE;
  g_autoptr (GPtrArray) gone = g_ptr_array_new ();
  g_autoptr (GError) first = NULL;
  for (guint i = 0; i < rows->len && (!first || g_get_monotonic_time () < until_us); i++) {
    struct file_row *row = rows->pdata[i];
    g_autoptr (GError) problem = NULL;
    /* A manually written invalid key has no content. */
    if (blobs_remove (blobs, row->blob, &problem) ||
        g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_INVALID)) {
      g_ptr_array_add (gone, row->id);
      continue;
    }
    if (first)
      continue;
    first = g_steal_pointer (&problem);
    if (ret_failed)
      *ret_failed = row->id;
  }
  if (gone->len > 0 && !database_commit (database, delete_rows, gone, error))
    return FALSE;
  if (!first)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&first));
  return FALSE;
}

/* ---- flights ---- */

/* One set for the process, which is one writer: ids are globally unique. */
LOCK_CLASS (flights);
static MUTEX (flights) flights_lock;
GUARDED_BY (flights)
static GHashTable *flights; /* id -> time of the last step, 0 while it is written (g_new gint64) */

static void
set_flight (const char *id, gint64 time)
{
  g_mutex_lock (&flights_lock);
  if (!flights)
    flights = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gint64 *value = g_new (gint64, 1);
  *value = time;
  g_hash_table_replace (flights, g_strdup (id), value);
  g_mutex_unlock (&flights_lock);
}

void
file_flight_begins (const char *id)
{
  set_flight (id, 0);
}

void
file_flight_lands (const char *id)
{
  set_flight (id, g_get_monotonic_time ());
}

void
file_flight_ends (const char *id)
{
  g_mutex_lock (&flights_lock);
  if (flights)
    g_hash_table_remove (flights, id);
  g_mutex_unlock (&flights_lock);
}

gboolean
file_flies (const char *id, guint64 guard_ms)
{
  g_mutex_lock (&flights_lock);
  const gint64 *time = flights ? g_hash_table_lookup (flights, id) : NULL;
  gboolean flies =
      time && (*time == 0 || g_get_monotonic_time () - *time < (gint64)guard_ms * G_TIME_SPAN_MILLISECOND);
  g_mutex_unlock (&flights_lock);
  return flies;
}

static gboolean
file_rows_is_over (gpointer id G_GNUC_UNUSED, gpointer time, gpointer guard_us)
{
  const gint64 *last = time;
  return *last != 0 && g_get_monotonic_time () - *last >= *(gint64 *)guard_us;
}

void
file_flights_forget (guint64 guard_ms)
{
  gint64 guard_us = (gint64)guard_ms * G_TIME_SPAN_MILLISECOND;
  g_mutex_lock (&flights_lock);
  if (flights)
    g_hash_table_foreach_remove (flights, file_rows_is_over, &guard_us);
  g_mutex_unlock (&flights_lock);
}
