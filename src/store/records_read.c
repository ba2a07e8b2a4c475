/* SPDX-License-Identifier: Apache-2.0 */
/* Finding records: lists of them, and one of them. */
#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

#define QUESTION_MS (10 * 60 * 1000)

struct reading {
  json_t *records;
  gboolean brief;
  gsize most;    /* rows that are wanted */
  gboolean more; /* there was one beyond them */
  char *last;    /* where the last one stands that has a place: "MS:RUN_ID" */
};

static gboolean
records_read_take_row (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct reading *reading = data;
  reading->more = json_array_size (reading->records) >= reading->most;
  if (reading->more)
    return FALSE;
  json_array_append_new (reading->records, record_to_json (row, reading->brief));
  if (!record_has_place (row))
    return TRUE;
  g_free (reading->last);
  reading->last =
      g_strdup_printf ("%" G_GINT64_FORMAT ":%s", row[RECORD_STARTED_MS].integer, row[RECORD_RUN_ID].text);
  return TRUE;
}

struct transaction *
record_begin (struct database *database, GError **error)
{
  struct transaction *transaction = database_begin (database, FALSE, error);
  if (transaction)
    transaction_set_timeout (transaction, QUESTION_MS);
  return transaction;
}

/* One statement in a transaction of its own. */
static gboolean
records_read_rows (struct store *store, const char *sql, const struct sql_value *values, guint count,
                   struct reading *reading, GError **error)
{
  struct database *database = store_database (store, error);
  struct transaction *transaction = database ? record_begin (database, error) : NULL;
  if (!transaction)
    return FALSE;
  gboolean ok =
      transaction_run (transaction, sql, values, count, records_read_take_row, reading, NULL, error);
  transaction_end (transaction);
  return ok;
}

json_t *
records_list (struct store *store, const char *owner, const json_t *filters, GError **error)
{
  struct record_filter filter;
  if (!record_filter_init (&filter, owner, filters, error))
    return NULL;
  /* One more than is wanted, so that it is known whether there are more. */
  guint limit = record_filter_value (&filter, SQL_INT (filter.limit + 1));
  g_autofree char *sql =
      g_strdup_printf ("SELECT %s FROM records %s ORDER BY started_ms DESC, run_id DESC LIMIT $%u",
                       record_columns (TRUE), filter.where->str, limit);
  struct reading reading = {.records = json_array (), .brief = TRUE, .most = (gsize)filter.limit};
  g_autoptr (json_t) records = reading.records;
  json_t *answer = NULL;
  /* A whole page of rows whose times are no numbers stands above all others. */
  if (!json_object_get (filters, "before"))
    reading.last = g_strdup_printf ("%" G_GINT64_FORMAT ":-", G_MAXINT64);
  if (records_read_rows (store, sql, (const struct sql_value *)(void *)filter.values->data,
                         filter.values->len, &reading, error))
    answer = json_pack ("{s:O, s:o}", "records", records, "next",
                        json_text_or_null (reading.more ? reading.last : NULL));
  g_free (reading.last);
  record_filter_clear (&filter);
  return answer;
}

json_t *
records_show (struct store *store, const char *owner, const char *run_id, GError **error)
{
  struct record_filter filter;
  if (!record_filter_init (&filter, owner, NULL, error))
    return NULL;
  record_filter_add (&filter, "run_id = ?", SQL_STR (run_id));
  g_autofree char *sql =
      g_strdup_printf ("SELECT %s FROM records %s", record_columns (FALSE), filter.where->str);
  struct reading reading = {.records = json_array (), .most = 1};
  g_autoptr (json_t) records = reading.records;
  json_t *record = NULL;
  if (records_read_rows (store, sql, (const struct sql_value *)(void *)filter.values->data,
                         filter.values->len, &reading, error)) {
    record = json_incref (json_array_get (records, 0));
    if (!record) {
      g_autofree char *shown = text_one_line (run_id, 40);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no record of a run \"%s\"", shown);
    }
  }
  g_free (reading.last);
  record_filter_clear (&filter);
  return record;
}
