/* SPDX-License-Identifier: Apache-2.0 */
/* Retention: removes the beginning of this node's chain beyond its age or size limit, and leaves an anchor
 * there, so that the rest can still be verified. A few rows at a time, so that adding a record never waits
 * long. */
#include "adder_types.h"
#include "store/records_private.h"

#define BATCH_ROWS "500"

struct retention {
  const char *node;
  gint64 oldest_ms; /* older rows go */
  gint64 most_records, most_bytes;
  /* Of the batch under way. */
  gint64 records, bytes; /* that the chain has */
  gint64 gone, gone_bytes;
  gint64 last_seq; /* of those that go */
  char last_digest[CHAIN_DIGEST_BYTES];
  gboolean more; /* the batch ended, and all of it goes */
};

static gboolean
records_retain_take_row (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct retention *retention = data;
  retention->more = FALSE;
  if (row[0].kind != SQL_INTEGER || row[1].kind != SQL_TEXT || row[2].kind != SQL_INTEGER ||
      row[3].kind != SQL_INTEGER)
    return FALSE;
  gboolean goes = row[3].integer < retention->oldest_ms ||
                  retention->records - retention->gone > retention->most_records ||
                  retention->bytes - retention->gone_bytes > retention->most_bytes;
  if (!goes)
    return FALSE;
  retention->gone++;
  retention->gone_bytes += row[2].integer;
  retention->last_seq = row[0].integer;
  g_strlcpy (retention->last_digest, row[1].text, sizeof retention->last_digest);
  retention->more = TRUE;
  return TRUE;
}

static gboolean
records_retain_choose (struct retention *retention, struct transaction *transaction, GError **error)
{
  retention->gone = retention->gone_bytes = 0;
  retention->more = FALSE;
  return transaction_run (
      transaction,
      "SELECT seq, digest, bytes, started_ms FROM records WHERE node = $1 ORDER BY seq LIMIT " BATCH_ROWS,
      &SQL_STR (retention->node), 1, records_retain_take_row, retention, NULL, error);
}

static gboolean
records_retain_take_removed (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  if (row[0].kind == SQL_INTEGER)
    *(gint64 *)data = row[0].integer;
  return TRUE;
}

/* The anchor takes the place of the one before it. */
static gboolean
set_anchor (const struct retention *retention, struct transaction *transaction, GError **error)
{
  gint64 removed = 0;
  if (!transaction_run (transaction, "SELECT removed FROM anchors WHERE node = $1",
                        &SQL_STR (retention->node), 1, records_retain_take_removed, &removed, NULL, error))
    return FALSE;
  const struct sql_value values[] = {
      SQL_STR (retention->node),           SQL_INT (retention->last_seq),
      SQL_STR (retention->last_digest),    SQL_INT (removed + retention->gone),
      SQL_INT (g_get_real_time () / 1000),
  };
  return transaction_run (transaction,
                          "INSERT INTO anchors (node, seq, digest, removed, removed_ms) "
                          "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (node) DO UPDATE SET seq = excluded.seq, "
                          "digest = excluded.digest, removed = excluded.removed, "
                          "removed_ms = excluded.removed_ms",
                          values, G_N_ELEMENTS (values), NULL, NULL, NULL, error);
}

/* A step of database_commit. */
static gboolean
remove_batch (gpointer data, struct transaction *transaction, GError **error)
{
  struct retention *retention = data;
  struct record_head head;
  g_autoptr (GError) problem = NULL;
  retention->more = FALSE;
  if (!record_head_lock (transaction, retention->node, &head, &problem)) {
    if (problem)
      g_propagate_error (error, g_steal_pointer (&problem));
    return problem == NULL;
  }
  retention->records = head.records;
  retention->bytes = head.bytes;
  if (!records_retain_choose (retention, transaction, error))
    return FALSE;
  if (retention->gone == 0)
    return TRUE;
  const struct sql_value rows[] = {SQL_STR (retention->node), SQL_INT (retention->last_seq)};
  const struct sql_value left[] = {SQL_STR (retention->node), SQL_INT (retention->gone),
                                   SQL_INT (retention->gone_bytes)};
  return transaction_run (transaction, "DELETE FROM records WHERE node = $1 AND seq <= $2", rows,
                          G_N_ELEMENTS (rows), NULL, NULL, NULL, error) &&
         set_anchor (retention, transaction, error) &&
         transaction_run (transaction,
                          "UPDATE chains SET records = records - $2, bytes = bytes - $3 WHERE node = $1",
                          left, G_N_ELEMENTS (left), NULL, NULL, NULL, error);
}

static gboolean
take_totals (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct retention *retention = data;
  if (row[0].kind == SQL_INTEGER && row[1].kind == SQL_INTEGER) {
    retention->records = row[0].integer;
    retention->bytes = row[1].integer;
  }
  return TRUE;
}

/* Whether anything must go, found out without the writers' lock. */
static gboolean
records_retain_look (struct database *database, struct retention *retention, gboolean *ret_goes,
                     GError **error)
{
  struct transaction *transaction = database_begin (database, FALSE, error);
  if (!transaction)
    return FALSE;
  retention->records = retention->bytes = 0;
  gboolean ok = transaction_run (transaction, "SELECT records, bytes FROM chains WHERE node = $1",
                                 &SQL_STR (retention->node), 1, take_totals, retention, NULL, error) &&
                records_retain_choose (retention, transaction, error);
  transaction_end (transaction);
  *ret_goes = retention->gone > 0;
  return ok;
}

gboolean
records_retain (struct store *store, GError **error)
{
  if (!store_keeps_records (store))
    return TRUE;
  struct database *database = store_database (store, error);
  if (!database)
    return FALSE;
  const struct config *config = store_config (store);
  gint64 now_ms = g_get_real_time () / 1000;
  struct retention retention = {
      .node = store_node (store),
      .oldest_ms =
          config->store_record_age_ms > 0 ? now_ms - (gint64)config->store_record_age_ms : G_MININT64,
      .most_records = (gint64)config->store_record_count,
      .most_bytes = (gint64)MIN (config->store_record_bytes, G_MAXINT64),
  };
  gboolean goes;
  if (!records_retain_look (database, &retention, &goes, error))
    return FALSE;
  retention.more = goes;
  while (retention.more)
    if (!database_commit (database, remove_batch, &retention, error))
      return FALSE;
  return TRUE;
}
