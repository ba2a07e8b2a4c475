/* SPDX-License-Identifier: Apache-2.0 */
/* Finding data sets, and their descriptions. One whose files are lost counts as missing. */
#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "store/blobs.h"
#include "store/datasets_private.h"
#include "store/file_rows.h"
#include "store/files.h"

#define COLUMNS                                                                                              \
  "d.owner, d.name, d.version, d.created_ms, d.table_id, d.facts_id, d.row_count, d.bytes, d.complete"
#define SELECT_WHOLE                                                                                         \
  "SELECT " COLUMNS " FROM datasets d JOIN files t ON t.id = d.table_id AND t.state = $1 "                   \
  "JOIN files f ON f.id = d.facts_id AND f.state = $1 WHERE d.owner = $2"
#define NAMES_SHOWN 10

void
dataset_free (struct dataset *dataset)
{
  if (!dataset)
    return;
  g_free (dataset->owner);
  g_free (dataset->name);
  g_free (dataset->table_id);
  g_free (dataset->facts_id);
  g_free (dataset);
}

/* ---- rows ---- */

static gboolean
datasets_read_collect (gpointer data, const struct sql_value *columns, guint count G_GNUC_UNUSED)
{
  struct dataset *dataset = g_new0 (struct dataset, 1);
  dataset->owner = g_strdup (columns[0].text);
  dataset->name = g_strdup (columns[1].text);
  dataset->version = columns[2].integer;
  dataset->created_ms = columns[3].integer;
  dataset->table_id = g_strdup (columns[4].text);
  dataset->facts_id = g_strdup (columns[5].text);
  dataset->rows = (guint64)columns[6].integer;
  dataset->bytes = (guint64)columns[7].integer;
  dataset->complete = columns[8].integer != 0;
  g_ptr_array_add (data, dataset);
  return TRUE;
}

/* Databases sort text differently. */
static int
datasets_read_compare (const void *a, const void *b)
{
  const struct dataset *left = *(struct dataset *const *)a, *right = *(struct dataset *const *)b;
  int by_name = strcmp (left->name, right->name);
  return by_name != 0 ? by_name : (left->version < right->version) - (left->version > right->version);
}

static GPtrArray *
datasets_read_run_query (struct transaction *transaction, const char *sql, const struct sql_value *values,
                         guint count, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)dataset_free);
  if (!transaction_run (transaction, sql, values, count, datasets_read_collect, rows, NULL, error))
    return NULL;
  g_ptr_array_sort (rows, datasets_read_compare);
  return g_steal_pointer (&rows);
}

GPtrArray *
dataset_rows_read (struct transaction *transaction, const char *owner, const char *name, GError **error)
{
  const struct sql_value values[] = {SQL_STR (owner), SQL_STR (name)};
  return datasets_read_run_query (transaction,
                                  "SELECT " COLUMNS " FROM datasets d WHERE d.owner = $1 AND d.name = $2",
                                  values, G_N_ELEMENTS (values), error);
}

gboolean
dataset_next_version (struct database *database, const char *owner, const char *name, gint64 *ret_version,
                      GError **error)
{
  struct transaction *transaction = database_begin (database, FALSE, error);
  if (!transaction)
    return FALSE;
  g_autoptr (GPtrArray) there = dataset_rows_read (transaction, owner, name, error);
  transaction_end (transaction);
  if (there)
    *ret_version = there->len > 0 ? ((struct dataset *)there->pdata[0])->version + 1 : 1;
  return there != NULL;
}

/* Those of OWNER that are whole; called NAME, unless that is NULL. */
static GPtrArray *
datasets_read_whole (struct store *store, const char *owner, const char *name, GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? database_begin (database, FALSE, error) : NULL;
  if (!transaction)
    return NULL;
  const struct sql_value values[] = {SQL_INT (FILE_KEPT), SQL_STR (owner), SQL_OPT (name)};
  GPtrArray *rows = datasets_read_run_query (
      transaction, name ? SELECT_WHOLE " AND d.name = $3" : SELECT_WHOLE, values, name ? 3 : 2, error);
  transaction_end (transaction);
  return rows;
}

GPtrArray *
datasets_list (struct store *store, const char *owner, gboolean all_versions, GError **error)
{
  GPtrArray *rows = datasets_read_whole (store, owner, NULL, error);
  for (guint i = rows && !all_versions ? rows->len : 0; i-- > 1;)
    if (strcmp (((struct dataset *)rows->pdata[i])->name, ((struct dataset *)rows->pdata[i - 1])->name) == 0)
      g_ptr_array_remove_index (rows, i);
  return rows;
}

/* ---- one by its name ---- */

gboolean
dataset_name_split (const char *text, char **ret_name, gint64 *ret_version, GError **error)
{
  const char *colon = strchr (text, ':');
  g_autofree char *name = colon ? g_strndup (text, (gsize)(colon - text)) : g_strdup (text);
  guint64 version = 0;
  if (!dataset_name_check (name, error))
    return FALSE;
  if (colon && !g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXINT64, &version, NULL)) {
    g_autofree char *shown = text_one_line (text, 100);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "\"%s\": what follows the colon is the number of a version", shown);
    return FALSE;
  }
  *ret_name = g_steal_pointer (&name);
  *ret_version = (gint64)version;
  return TRUE;
}

/* The versions of an existing name, else the existing names. */
static void
tell_what_there_is (struct store *store, const char *owner, const char *text, const char *name,
                    GError **error)
{
  g_autoptr (GPtrArray) rows = datasets_list (store, owner, TRUE, error);
  if (!rows)
    return;
  g_autoptr (GString) versions = g_string_new (NULL), names = g_string_new (NULL);
  guint shown = 0;
  const char *last = "";
  for (guint i = 0; i < rows->len; i++) {
    const struct dataset *row = rows->pdata[i];
    if (strcmp (row->name, name) == 0)
      g_string_append_printf (versions, "%s%" G_GINT64_FORMAT, versions->len > 0 ? ", " : "", row->version);
    if (strcmp (row->name, last) != 0 && ++shown <= NAMES_SHOWN)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", row->name);
    last = row->name;
  }
  if (versions->len > 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                 "there is no data set %s: the versions of %s are %s", text, name, versions->str);
  else if (names->len > 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no data set %s: there is %s%s", text,
                 names->str, shown > NAMES_SHOWN ? " ..." : "");
  else {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no data set %s: there are none yet",
                 text);
    error_add_advice (error, " (adder data collect, adder data import)");
  }
}

struct dataset *
dataset_find (struct store *store, const char *owner, const char *text, GError **error)
{
  g_autofree char *name = NULL;
  gint64 version;
  if (!dataset_name_split (text, &name, &version, error))
    return NULL;
  g_autoptr (GPtrArray) rows = datasets_read_whole (store, owner, name, error);
  for (guint i = 0; rows && i < rows->len; i++)
    if (version == 0 || ((struct dataset *)rows->pdata[i])->version == version)
      return g_ptr_array_steal_index (rows, i);
  if (rows)
    tell_what_there_is (store, owner, text, name, error);
  return NULL;
}

json_t *
dataset_facts (struct store *store, const struct dataset *dataset, GError **error)
{
  struct blobs *blobs = store_blobs (store, error);
  struct file_row *row = blobs ? files_find (store, dataset->owner, dataset->facts_id, error) : NULL;
  if (!row)
    return NULL;
  autoclose int fd = blobs_get (blobs, row->blob, row->bytes, row->sha256, error);
  g_autofree char *text = fd >= 0 ? g_malloc0 (row->bytes + 1) : NULL;
  int r = text ? fd_read_all (fd, text, row->bytes) : 0;
  json_t *facts = NULL;
  if (r != 0)
    (void)error_from_errno (error, r, "cannot read what is known of the data set %s", dataset->name);
  else if (text)
    facts = json_parse_object (text, row->bytes, "what is known of the data set", error);
  file_row_free (row);
  return facts;
}
