/* SPDX-License-Identifier: Apache-2.0 */
/* Adding a record: the next row of this node's chain. The head of the chain is a row of its own, which is
 * moved on, and so locked, first: two daemons of one node, or of one name, make one chain and not two. */
#include "store/records.h"

#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "store/records_private.h"

#define KIB 1024u
#define MIB (1024u * KIB)

/* Longer texts are cut: no caller's text may fill the database by itself. */
#define TEXT_MAX 4096u
#define CODE_MAX (16u * MIB)
#define MORE_MAX (1u * MIB)

/* TEXT, at most MOST bytes of it and valid UTF-8. Allocated copies are added to MADE. */
static const char *
clean_text (const char *text, gsize most, GPtrArray *made)
{
  gsize length = strnlen (text, most + 1);
  if (length <= most && g_utf8_validate (text, (gssize)length, NULL))
    return text;
  const char *end = text + MIN (length, most);
  if (length > most && !g_utf8_validate (text, end - text, &end))
    /* A character cut in half is dropped; other invalid bytes are replaced. */
    end = text + most - end < 4 ? end : text + most;
  char *clean = g_utf8_make_valid (text, end - text);
  g_ptr_array_add (made, clean);
  return clean;
}

static const char *
more_text (const json_t *more, GPtrArray *made)
{
  char *text = json_to_text (more);
  gsize length = strlen (text);
  if (length > MORE_MAX) {
    g_free (text);
    text = g_strdup_printf ("{\"cut_bytes\":%zu}", length);
  }
  g_ptr_array_add (made, text);
  return text;
}

static struct sql_value
member_value (const struct record *record, enum record_column column, GPtrArray *made)
{
  gsize offset = record_table[column].offset;
  if (record_table[column].is_integer)
    return SQL_INT (G_STRUCT_MEMBER (gint64, record, offset));
  const char *text = G_STRUCT_MEMBER (const char *, record, offset);
  return SQL_OPT (text ? clean_text (text, column == RECORD_CODE ? CODE_MAX : TEXT_MAX, made) : NULL);
}

static void
fill_row (const struct record *record, const char *node, gint64 seq, struct sql_value *row, GPtrArray *made)
{
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    if (record_table[i].is_member)
      row[i] = member_value (record, i, made);
  if (row[RECORD_OWNER].kind == SQL_NULL)
    row[RECORD_OWNER] = SQL_STR ("");
  row[RECORD_NODE] = SQL_STR (node);
  row[RECORD_SEQ] = SQL_INT (seq);
  row[RECORD_MORE] = SQL_OPT (record->more ? more_text (record->more, made) : NULL);

  gint64 bytes = 0;
  for (gsize i = 0; i < RECORD_BYTES; i++)
    bytes += row[i].kind == SQL_TEXT ? (gint64)strlen (row[i].text) : 8;
  row[RECORD_BYTES] = SQL_INT (bytes);
}

/* ---- the head ---- */

static gboolean
take_head (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct record_head *head = data;
  if (row[0].kind == SQL_INTEGER && row[1].kind == SQL_TEXT && chain_is_digest (row[1].text) &&
      row[2].kind == SQL_INTEGER && row[3].kind == SQL_INTEGER) {
    head->seq = row[0].integer;
    g_strlcpy (head->digest, row[1].text, sizeof head->digest);
    head->records = row[2].integer;
    head->bytes = row[3].integer;
  }
  return TRUE;
}

gboolean
record_head_lock (struct transaction *transaction, const char *node, struct record_head *ret_head,
                  GError **error)
{
  struct record_head head = {.seq = -1};
  guint64 found = 0;
  g_autoptr (GError) problem = NULL;
  if (!transaction_run (transaction,
                        "UPDATE chains SET seq = seq WHERE node = $1 "
                        "RETURNING seq, digest, records, bytes",
                        &SQL_STR (node), 1, take_head, &head, &found, &problem)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  if (head.seq >= 0)
    *ret_head = head;
  else if (found > 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the head of the records of node %s is damaged",
                 node);
    error_add_advice (error, ": adder history verify says more");
  }
  return head.seq >= 0;
}

/* The head, which a node's first record creates. */
static gboolean
lock_or_make_head (struct transaction *transaction, const char *node, struct record_head *ret_head,
                   GError **error)
{
  const struct sql_value values[] = {SQL_STR (node), SQL_STR (CHAIN_START)};
  g_autoptr (GError) problem = NULL;
  if (record_head_lock (transaction, node, ret_head, &problem))
    return TRUE;
  if (problem) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  if (!transaction_run (transaction,
                        "INSERT INTO chains (node, seq, digest, records, bytes) "
                        "VALUES ($1, 0, $2, 0, 0) ON CONFLICT (node) DO NOTHING",
                        values, G_N_ELEMENTS (values), NULL, NULL, NULL, error))
    return FALSE;
  if (record_head_lock (transaction, node, ret_head, &problem))
    return TRUE;
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  else
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the records of node %s have no head", node);
  return FALSE;
}

/* ---- adding ---- */

static gboolean
records_insert_row (struct transaction *transaction, const struct sql_value *row, guint64 *ret_added,
                    GError **error)
{
  static gsize made = 0;
  static char *sql;
  if (g_once_init_enter (&made)) {
    GString *text = g_string_new ("INSERT INTO records (");
    g_string_append (text, record_columns (FALSE));
    g_string_append (text, ") VALUES (");
    for (guint i = 1; i <= RECORD_COLUMNS; i++)
      g_string_append_printf (text, "%s$%u", i > 1 ? ", " : "", i);
    g_string_append (text, ") ON CONFLICT (run_id) DO NOTHING");
    sql = g_string_free (text, FALSE);
    g_once_init_leave (&made, 1);
  }
  return transaction_run (transaction, sql, row, RECORD_COLUMNS, NULL, NULL, ret_added, error);
}

LOCK_CLASS (record_memory);

/* The head that this process wrote last is usually still current: then the row is made for it at once, and
 * moving the head verifies it. It is only a cached value, never trusted. */
struct record_memory {
  MUTEX (record_memory) lock;
  GUARDED_BY (record_memory) gboolean is_known;
  GUARDED_BY (record_memory) struct record_head head;
};

struct record_memory *
record_memory_new (void)
{
  struct record_memory *memory = g_new0 (struct record_memory, 1);
  g_mutex_init (&memory->lock);
  return memory;
}

void
record_memory_free (struct record_memory *memory)
{
  g_mutex_clear (&memory->lock);
  g_free (memory);
}

static gboolean
recall_head (struct record_memory *memory, struct record_head *ret_head)
{
  g_mutex_lock (&memory->lock);
  gboolean is_known = memory->is_known;
  if (is_known)
    *ret_head = memory->head;
  g_mutex_unlock (&memory->lock);
  return is_known;
}

static void
remember_head (struct record_memory *memory, const struct record_head *head)
{
  g_mutex_lock (&memory->lock);
  memory->is_known = TRUE;
  memory->head = *head;
  g_mutex_unlock (&memory->lock);
}

/* From FROM to TO. *RET_MOVED FALSE: FROM is not the head. */
static gboolean
move_head (struct transaction *transaction, const char *node, const struct record_head *from,
           const struct record_head *to, gboolean *ret_moved, GError **error)
{
  const struct sql_value values[] = {SQL_STR (node),         SQL_INT (to->seq),       SQL_STR (to->digest),
                                     SQL_INT (to->records),  SQL_INT (to->bytes),     SQL_INT (from->seq),
                                     SQL_STR (from->digest), SQL_INT (from->records), SQL_INT (from->bytes)};
  guint64 changed = 0;
  if (!transaction_run (transaction,
                        "UPDATE chains SET seq = $2, digest = $3, records = $4, bytes = $5 "
                        "WHERE node = $1 AND seq = $6 AND digest = $7 AND records = $8 AND bytes = $9",
                        values, G_N_ELEMENTS (values), NULL, NULL, &changed, error))
    return FALSE;
  *ret_moved = changed == 1;
  return TRUE;
}

/* A row and the heads before and after it. */
struct link {
  struct sql_value row[RECORD_COLUMNS];
  struct record_head before, after;
  GPtrArray *made;
};

static void
make_link (struct link *link, const struct record *record, const char *node)
{
  fill_row (record, node, link->before.seq + 1, link->row, link->made);
  link->after = (struct record_head){.seq = link->before.seq + 1,
                                     .records = link->before.records + 1,
                                     .bytes = link->before.bytes + link->row[RECORD_BYTES].integer};
  chain_digest (link->before.digest, link->row, RECORD_DIGEST, link->after.digest);
  link->row[RECORD_DIGEST] = SQL_STR (link->after.digest);
}

/* Makes LINK for the present head, which is moved on. */
static gboolean
join_chain (struct link *link, struct store *store, const char *node, struct transaction *transaction,
            const struct record *record, GError **error)
{
  gboolean moved = FALSE;
  if (strcmp (node, store_node (store)) == 0 && recall_head (store_record_memory (store), &link->before)) {
    make_link (link, record, node);
    if (!move_head (transaction, node, &link->before, &link->after, &moved, error))
      return FALSE;
  }
  if (moved)
    return TRUE;
  if (!lock_or_make_head (transaction, node, &link->before, error))
    return FALSE;
  make_link (link, record, node);
  if (!move_head (transaction, node, &link->before, &link->after, &moved, error))
    return FALSE;
  if (!moved)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the head of the records of node %s cannot be moved",
                 node);
  return moved;
}

gboolean
records_add_of (struct store *store, const char *node, struct transaction *transaction,
                const struct record *record, GError **error)
{
  g_return_val_if_fail (record->run_id && record->outcome, FALSE);
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func (g_free);
  struct link link = {.made = made};
  guint64 added = 0;
  if (!join_chain (&link, store, node, transaction, record, error) ||
      !records_insert_row (transaction, link.row, &added, error))
    return FALSE;
  if (added > 0) {
    if (strcmp (node, store_node (store)) == 0)
      remember_head (store_record_memory (store), &link.after);
    return TRUE;
  }
  /* A commit whose answer was lost is repeated: then the record exists, and the chain stays as it is. */
  gboolean moved;
  return move_head (transaction, node, &link.after, &link.before, &moved, error);
}

gboolean
records_add (struct store *store, struct transaction *transaction, const struct record *record,
             GError **error)
{
  return records_add_of (store, store_node (store), transaction, record, error);
}
