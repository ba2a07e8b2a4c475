/* SPDX-License-Identifier: Apache-2.0 */
/* Verifying the chains: each row's digest is recomputed from its columns and the previous row.
 *
 * Theory of operation. The head of a chain and its anchor are read first, in one statement; then the rows
 * between them, page by page, each page in a transaction of its own, so that nobody waits for us. Rows added
 * meanwhile are beyond that head and ignored; rows removed by retention meanwhile are explained by the
 * anchor, which is read again after a page with a gap. */
#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

#define PAGE_ROWS    "200"
#define NODES_MAX    10000 /* of one database */
#define PROBLEMS_MAX 100   /* of a node that are listed; the others are counted */

struct anchor {
  gint64 seq; /* 0: there is none */
  char digest[CHAIN_DIGEST_BYTES];
  gint64 removed, removed_ms;
};

/* A recorded checkpoint: the chain must still contain it. */
struct written {
  char *node;
  gint64 seq; /* 0: nothing was written down */
  const char *digest;
};

struct walk {
  const char *node;
  struct record_head head;
  gboolean has_head;
  struct anchor anchor;
  const struct written *written; /* of this node, or NULL */
  const char *written_state;     /* "matches", "differs", "removed", "beyond", or NULL */
  /* The previous row. */
  gint64 seq;
  char digest[CHAIN_DIGEST_BYTES]; /* "": the next row cannot be checked */
  guint64 records;                 /* that were looked at */
  guint rows;                      /* of this page */
  gint64 gap_from, gap_to;         /* in this page; 0: none */
  json_t *problems;
  guint64 problem_count;
};

static void G_GNUC_PRINTF (5, 6) records_verify_report (struct walk *walk, const char *kind, gint64 seq,
                                                        const char *run_id, const char *format, ...)
{
  walk->problem_count++;
  if (json_array_size (walk->problems) >= PROBLEMS_MAX)
    return;
  va_list values;
  va_start (values, format);
  g_autofree char *text = g_strdup_vprintf (format, values);
  va_end (values);
  g_autofree char *shown = run_id ? text_one_line (run_id, 64) : NULL;
  json_array_append_new (walk->problems,
                         json_pack ("{s:s, s:I, s:o, s:o}", "kind", kind, "seq", (json_int_t)seq, "run_id",
                                    json_text_or_null (shown), "text", json_text_or_null (text)));
}

/* ---- rows ---- */

static void
compare_written (struct walk *walk, gint64 seq, const char *digest)
{
  if (walk->written && walk->written->seq == seq)
    walk->written_state = strcmp (walk->written->digest, digest) == 0 ? "matches" : "differs";
}

/* An unexplained gap: the first of a page is remembered, others are real, since retention removes only from
 * the beginning. */
static void
note_gap (struct walk *walk, gint64 seq)
{
  if (walk->rows == 0) {
    walk->gap_from = walk->seq + 1;
    walk->gap_to = seq - 1;
  } else
    records_verify_report (walk, "missing", walk->seq + 1, NULL,
                           "the rows %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " are missing", walk->seq + 1,
                           seq - 1);
  walk->digest[0] = '\0';
}

static gboolean
records_verify_take_row (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct walk *walk = data;
  if (row[RECORD_SEQ].kind != SQL_INTEGER)
    return FALSE;
  gint64 seq = row[RECORD_SEQ].integer;
  const char *run_id = row[RECORD_RUN_ID].text;
  const char *stored = row[RECORD_DIGEST].kind == SQL_TEXT ? row[RECORD_DIGEST].text : "";
  if (seq != walk->seq + 1)
    note_gap (walk, seq);
  char digest[CHAIN_DIGEST_BYTES];
  chain_digest (walk->digest, row, RECORD_DIGEST, digest);
  if (!chain_is_digest (stored) || (walk->digest[0] != '\0' && strcmp (digest, stored) != 0))
    records_verify_report (walk, "changed", seq, run_id,
                           "row %" G_GINT64_FORMAT
                           " is not as it was written: it was changed or moved, or the digest of the "
                           "row before it was",
                           seq);
  compare_written (walk, seq, stored);
  walk->seq = seq;
  g_strlcpy (walk->digest, chain_is_digest (stored) ? stored : "", sizeof walk->digest);
  walk->records++;
  walk->rows++;
  return TRUE;
}

/* ---- head and anchor ---- */

static gboolean
take_anchor (const struct sql_value *row, struct anchor *anchor)
{
  if (row[0].kind != SQL_INTEGER || row[1].kind != SQL_TEXT || !chain_is_digest (row[1].text) ||
      row[2].kind != SQL_INTEGER || row[3].kind != SQL_INTEGER)
    return FALSE;
  anchor->seq = row[0].integer;
  g_strlcpy (anchor->digest, row[1].text, sizeof anchor->digest);
  anchor->removed = row[2].integer;
  anchor->removed_ms = row[3].integer;
  return TRUE;
}

static gboolean
take_ends (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct walk *walk = data;
  walk->has_head = row[0].kind == SQL_INTEGER && row[1].kind == SQL_TEXT && chain_is_digest (row[1].text) &&
                   row[2].kind == SQL_INTEGER;
  if (walk->has_head) {
    walk->head.seq = row[0].integer;
    g_strlcpy (walk->head.digest, row[1].text, sizeof walk->head.digest);
    walk->head.records = row[2].integer;
  }
  if (row[4].kind != SQL_NULL && !take_anchor (&row[4], &walk->anchor))
    records_verify_report (walk, "anchor", 0, NULL, "the anchor is not as Adder writes it");
  return TRUE;
}

/* Both in one statement: so they are of one moment. */
static gboolean
read_ends (struct walk *walk, struct transaction *transaction, GError **error)
{
  return transaction_run (
      transaction,
      "SELECT c.seq, c.digest, c.records, c.bytes, a.seq, a.digest, a.removed, a.removed_ms "
      "FROM (SELECT CAST($1 AS TEXT) AS node) n LEFT JOIN chains c ON c.node = n.node "
      "LEFT JOIN anchors a ON a.node = n.node",
      &SQL_STR (walk->node), 1, take_ends, walk, NULL, error);
}

static gboolean
records_verify_read_number (struct walk *walk, struct transaction *transaction, const char *sql,
                            gint64 *ret_number, GError **error)
{
  return transaction_read_number (transaction, sql, &SQL_STR (walk->node), 1, ret_number, error);
}

static void
check_ends (struct walk *walk)
{
  if (walk->anchor.removed != walk->anchor.seq)
    records_verify_report (walk, "anchor", walk->anchor.seq, NULL,
                           "the anchor is at row %" G_GINT64_FORMAT ", but says that %" G_GINT64_FORMAT
                           " rows were removed",
                           walk->anchor.seq, walk->anchor.removed);
  if (!walk->has_head)
    records_verify_report (walk, "head", 0, NULL,
                           "the head of the chain is missing or not as Adder writes it");
  else if (walk->head.records != walk->head.seq - walk->anchor.seq)
    records_verify_report (walk, "head", walk->head.seq, NULL,
                           "the head counts %" G_GINT64_FORMAT " records, but %" G_GINT64_FORMAT
                           " must be left",
                           walk->head.records, walk->head.seq - walk->anchor.seq);
}

/* ---- one chain ---- */

static gboolean
settle_gap (struct walk *walk, struct transaction *transaction, GError **error)
{
  gint64 anchored;
  if (!records_verify_read_number (walk, transaction, "SELECT seq FROM anchors WHERE node = $1", &anchored,
                                   error))
    return FALSE;
  if (anchored < walk->gap_to)
    records_verify_report (walk, "missing", walk->gap_from, NULL,
                           "the rows %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " are missing",
                           walk->gap_from, walk->gap_to);
  walk->gap_from = walk->gap_to = 0;
  return TRUE;
}

static gboolean
walk_page (struct walk *walk, struct database *database, gint64 last, GError **error)
{
  const struct sql_value values[] = {SQL_STR (walk->node), SQL_INT (walk->seq), SQL_INT (last)};
  g_autofree char *sql = g_strdup_printf ("SELECT %s FROM records WHERE node = $1 AND seq > $2 AND seq <= $3 "
                                          "ORDER BY seq LIMIT " PAGE_ROWS,
                                          record_columns (FALSE));
  struct transaction *transaction = record_begin (database, error);
  if (!transaction)
    return FALSE;
  walk->rows = 0;
  gboolean ok = transaction_run (transaction, sql, values, G_N_ELEMENTS (values), records_verify_take_row,
                                 walk, NULL, error) &&
                (walk->gap_to == 0 || settle_gap (walk, transaction, error));
  transaction_end (transaction);
  return ok;
}

/* Rows beyond the head now: they are read first, so that one just added is not one too many. */
static gboolean
check_beyond (struct walk *walk, struct database *database, GError **error)
{
  gint64 last, head, anchored;
  struct transaction *transaction = record_begin (database, error);
  if (!transaction)
    return FALSE;
  gboolean ok = records_verify_read_number (walk, transaction, "SELECT max(seq) FROM records WHERE node = $1",
                                            &last, error) &&
                records_verify_read_number (walk, transaction, "SELECT seq FROM chains WHERE node = $1",
                                            &head, error) &&
                records_verify_read_number (walk, transaction, "SELECT seq FROM anchors WHERE node = $1",
                                            &anchored, error);
  transaction_end (transaction);
  if (!ok)
    return FALSE;
  if (walk->has_head && last > head)
    records_verify_report (walk, "head", head, NULL,
                           "there are rows up to %" G_GINT64_FORMAT
                           ", but the head of the chain is at %" G_GINT64_FORMAT,
                           last, head);
  if (walk->has_head && walk->seq < walk->head.seq && anchored < walk->head.seq)
    records_verify_report (walk, "missing", walk->seq + 1, NULL,
                           "the rows %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " are missing at the end",
                           walk->seq + 1, walk->head.seq);
  return TRUE;
}

static gboolean
walk_chain (struct walk *walk, struct database *database, GError **error)
{
  struct transaction *transaction = record_begin (database, error);
  if (!transaction)
    return FALSE;
  gboolean ok = read_ends (walk, transaction, error);
  transaction_end (transaction);
  if (!ok)
    return FALSE;
  check_ends (walk);
  walk->seq = walk->anchor.seq;
  g_strlcpy (walk->digest, walk->anchor.seq > 0 ? walk->anchor.digest : CHAIN_START, sizeof walk->digest);
  if (walk->written && walk->written->seq < walk->anchor.seq)
    walk->written_state = "removed";
  compare_written (walk, walk->seq, walk->digest);

  gint64 last = walk->has_head ? walk->head.seq : G_MAXINT64;
  do
    ok = walk_page (walk, database, last, error);
  while (ok && walk->rows > 0);
  if (!ok || !check_beyond (walk, database, error))
    return FALSE;
  if (walk->has_head && walk->seq == walk->head.seq && strcmp (walk->digest, walk->head.digest) != 0)
    records_verify_report (walk, "head", walk->head.seq, NULL,
                           "the head of the chain is not the digest of its last row");
  return TRUE;
}

/* ---- what was written down ---- */

static gboolean
parse_written (struct store *store, const char *text, struct written *written, GError **error)
{
  const char *colon = strrchr (text, ':');
  const char *from = colon ? g_strrstr_len (text, colon - text, ":") : NULL;
  const char *number = from ? from + 1 : text;
  guint64 seq = 0;
  g_autofree char *digits = colon ? g_strndup (number, (gsize)(colon - number)) : NULL;
  if (!digits || !g_ascii_string_to_unsigned (digits, 10, 1, G_MAXINT64, &seq, NULL) ||
      !chain_is_digest (colon + 1)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the head must be SEQ:DIGEST, or NODE:SEQ:DIGEST");
    error_add_advice (error, ", as adder history verify prints it");
    return FALSE;
  }
  written->node = from ? g_strndup (text, (gsize)(from - text)) : g_strdup (store_node (store));
  written->seq = (gint64)seq;
  written->digest = colon + 1;
  return TRUE;
}

/* The state of the recorded checkpoint; problems if it does not hold. */
static void
settle_written (struct walk *walk)
{
  if (!walk->written)
    return;
  if (!walk->written_state)
    walk->written_state = "beyond";
  if (strcmp (walk->written_state, "differs") == 0)
    records_verify_report (walk, "head", walk->written->seq, NULL,
                           "row %" G_GINT64_FORMAT " had another digest when its head was written down",
                           walk->written->seq);
  else if (strcmp (walk->written_state, "beyond") == 0)
    records_verify_report (walk, "missing", walk->written->seq, NULL,
                           "row %" G_GINT64_FORMAT ", whose head was written down, is missing",
                           walk->written->seq);
}

/* ---- all chains ---- */

static gboolean
take_node (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  GPtrArray *nodes = data;
  if (row[0].kind == SQL_TEXT)
    g_ptr_array_add (nodes, g_strdup (row[0].text));
  return nodes->len <= NODES_MAX;
}

/* Including nodes whose head or rows are gone. */
static GPtrArray *
list_nodes (struct database *database, GError **error)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new_with_free_func (g_free);
  struct transaction *transaction = record_begin (database, error);
  if (!transaction)
    return NULL;
  gboolean ok = transaction_run (transaction,
                                 "SELECT node FROM chains UNION SELECT node FROM anchors "
                                 "UNION SELECT node FROM records ORDER BY 1",
                                 NULL, 0, take_node, nodes, NULL, error);
  transaction_end (transaction);
  if (ok && nodes->len > NODES_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the database %s: it names more than %d nodes",
                 database_shown (database), NODES_MAX);
    ok = FALSE;
  }
  return ok ? g_steal_pointer (&nodes) : NULL;
}

static json_t *
anchor_to_json (const struct anchor *anchor)
{
  if (anchor->seq == 0)
    return json_null ();
  g_autofree char *when = text_time (anchor->removed_ms * 1000);
  return json_pack ("{s:I, s:s, s:I, s:s}", "seq", (json_int_t)anchor->seq, "digest", anchor->digest,
                    "removed", (json_int_t)anchor->removed, "last_removed", when);
}

static json_t *
walk_to_json (const struct walk *walk)
{
  g_autofree char *head =
      walk->has_head ? g_strdup_printf ("%" G_GINT64_FORMAT ":%s", walk->head.seq, walk->head.digest) : NULL;
  return json_pack ("{s:o, s:I, s:o, s:o, s:o, s:I, s:O}", "node", json_text_or_null (walk->node), "records",
                    (json_int_t)walk->records, "head", json_text_or_null (head), "anchor",
                    anchor_to_json (&walk->anchor), "written_head", json_text_or_null (walk->written_state),
                    "problem_count", (json_int_t)walk->problem_count, "problems", walk->problems);
}

/* The node as JSON, or NULL with ERROR. */
static json_t *
verify_node (struct database *database, const char *node, const struct written *written, gboolean *is_good,
             GError **error)
{
  g_autoptr (json_t) problems = json_array ();
  struct walk walk = {.node = node, .problems = problems};
  if (written->node && strcmp (written->node, node) == 0)
    walk.written = written;
  if (!walk_chain (&walk, database, error))
    return NULL;
  settle_written (&walk);
  *is_good = *is_good && walk.problem_count == 0;
  return walk_to_json (&walk);
}

static json_t *
verify_all (struct database *database, const struct written *written, GError **error)
{
  g_autoptr (GPtrArray) nodes = list_nodes (database, error);
  if (!nodes)
    return NULL;
  /* One that is gone altogether is as bad as a part of it. */
  if (written->node && !g_ptr_array_find_with_equal_func (nodes, written->node, g_str_equal, NULL))
    g_ptr_array_add (nodes, g_strdup (written->node));
  g_autoptr (json_t) list = json_array ();
  gboolean is_good = TRUE;
  for (guint i = 0; i < nodes->len; i++) {
    json_t *node = verify_node (database, nodes->pdata[i], written, &is_good, error);
    if (!node)
      return NULL;
    json_array_append_new (list, node);
  }
  return json_pack ("{s:b, s:O}", "ok", is_good, "nodes", list);
}

json_t *
records_verify (struct store *store, const char *head, GError **error)
{
  struct written written = {0};
  struct database *database = store_database (store, error);
  if (!database || (head && !parse_written (store, head, &written, error)))
    return NULL;
  json_t *answer = verify_all (database, &written, error);
  g_free (written.node);
  return answer;
}
