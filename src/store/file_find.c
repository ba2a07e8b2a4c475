/* SPDX-License-Identifier: Apache-2.0 */
/* Finding kept files, and removing one. Expired files are not found, even before they are removed. */
#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "store/file_rows.h"

static const char *const kind_names[] = {"generated", "table",   "uploaded",      "stdout",
                                         "stderr",    "dataset", "dataset-facts", "given"};

const char *
file_kind_name (enum file_kind kind)
{
  return (gsize)kind < G_N_ELEMENTS (kind_names) ? kind_names[kind] : "unknown";
}

/* The files that QUERY finds, or NULL with ERROR. */
static GPtrArray *
file_find_run_query (struct store *store, const struct file_query *query, GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  if (!transaction)
    return NULL;
  g_autoptr (GPtrArray) rows = file_rows_new ();
  gboolean ran = transaction_run (transaction, query->sql->str, query->values, query->count,
                                  file_rows_collect, rows, NULL, error);
  transaction_end (transaction);
  return ran ? g_steal_pointer (&rows) : NULL;
}

static void
select_kept (struct file_query *query, const char *owner)
{
  file_query_add (query, "SELECT " FILE_COLUMNS " FROM files WHERE state = ?", SQL_INT (FILE_KEPT));
  file_query_add (query, " AND expires_ms > ?", SQL_INT (file_now_ms ()));
  if (owner)
    file_query_add (query, " AND owner = ?", SQL_STR (owner));
}

/* The first result of QUERY; WHAT and ID name it in the error if there is none. */
static struct file_row *
file_find_one (struct store *store, const struct file_query *query, const char *what, const char *id,
               GError **error)
{
  g_autoptr (GPtrArray) rows = file_find_run_query (store, query, error);
  if (!rows)
    return NULL;
  if (rows->len > 0)
    return g_ptr_array_steal_index (rows, 0);
  g_autofree char *shown = text_one_line (id, 60);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
               "there is no %s %s: it never existed, belongs to somebody else, was removed or has expired",
               what, shown);
  return NULL;
}

struct file_row *
files_find (struct store *store, const char *owner, const char *id, GError **error)
{
  autoquery struct file_query query = {0};
  g_autofree char *valid = g_utf8_make_valid (id, -1);
  select_kept (&query, owner);
  file_query_add (&query, " AND id = ?", SQL_STR (valid));
  return file_find_one (store, &query, "file", id, error);
}

struct file_row *
files_find_output (struct store *store, const char *owner, const char *run_id, enum file_kind stream,
                   GError **error)
{
  autoquery struct file_query query = {0};
  g_autofree char *valid = g_utf8_make_valid (run_id, -1);
  select_kept (&query, owner);
  file_query_add (&query, " AND run_id = ?", SQL_STR (valid));
  file_query_add (&query, " AND kind = ?", SQL_INT (stream));
  return file_find_one (store, &query, "long output of a run", run_id, error);
}

GPtrArray *
files_list (struct store *store, const struct file_filter *filter, GError **error)
{
  const struct {
    const char *text, *value;
  } conditions[] = {
      {" AND conversation = ?", filter->conversation},
      {" AND session = ?", filter->session},
      {" AND run_id = ?", filter->run_id},
      {" AND name = ?", filter->name},
      {" AND id < ?", filter->before},
  };
  autoquery struct file_query query = {0};
  select_kept (&query, filter->owner);
  for (gsize i = 0; i < G_N_ELEMENTS (conditions); i++)
    if (conditions[i].value)
      file_query_add (&query, conditions[i].text, SQL_STR (conditions[i].value));
  if (!filter->outputs)
    file_query_add (&query, " AND kind < ?", SQL_INT (FILE_STDOUT));
  file_query_add (&query, " ORDER BY id DESC LIMIT ?", SQL_INT (MIN (filter->most, FILES_LISTED_MAX)));
  return file_find_run_query (store, &query, error);
}

json_t *
file_row_to_json (struct store *store, const struct file_row *row)
{
  g_autofree char *created = text_time (row->created_ms * 1000);
  g_autofree char *expires = text_time (row->expires_ms * 1000);
  g_autofree char *url = files_url (store, row->id, row->name);
  return json_pack ("{s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "file_id", row->id,
                    "name", row->name, "kind", file_kind_name (row->kind), "mime", row->mime, "bytes",
                    (json_int_t)row->bytes, "sha256", row->sha256, "created", created, "expires", expires,
                    "owner", json_text_or_null (row->owner), "conversation",
                    json_text_or_null (row->conversation), "session", json_text_or_null (row->session),
                    "run_id", json_text_or_null (row->run_id), "url", json_text_or_null (url));
}

static gboolean
move_to_removing (gpointer data, struct transaction *transaction, GError **error)
{
  return file_row_move (transaction, data, FILE_KEPT, FILE_REMOVING, NULL, error);
}

gboolean
files_remove (struct store *store, const char *owner, const char *id, GError **error)
{
  struct file_row *row = files_find (store, owner, id, error);
  if (!row)
    return FALSE;
  g_autoptr (GPtrArray) rows = file_rows_new ();
  g_ptr_array_add (rows, row);
  if (file_is_of_dataset (row->kind)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the file %s is of the data set %s, and goes with that", row->id, row->name);
    error_add_advice (error, ": adder data rm");
    return FALSE;
  }
  struct database *database = store_database (store, error);
  if (!database || !database_commit (database, move_to_removing, row->id, error))
    return FALSE;
  /* It is no longer listed; if its blob cannot be removed now, the store's thread tries again. */
  if (!file_rows_finish (store, rows, 0, NULL, NULL))
    store_wake (store);
  return TRUE;
}
