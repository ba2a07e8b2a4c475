/* SPDX-License-Identifier: Apache-2.0 */
/* Records written to a descriptor, oldest first, as JSON lines or CSV. Page by page: no transaction is open
 * during a slow read. */
#include <errno.h>
#include <string.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

#define PAGE_ROWS     200
#define PAGE_BYTES    (8 * 1024 * 1024) /* a page this large ends early */
#define PLACELESS_MAX 10000             /* more damaged rows than this are no export, but another database */

struct page {
  GString *text;
  void (*write_row) (GString *text, const struct sql_value *row);
  guint rows, written, damaged;
  gint64 last_ms;
  char *last_id;
  gboolean cut;
  GHashTable *placeless; /* "NODE SEQ" of rows that later pages may find again */
};

/* ---- forms ---- */

static void
write_json (GString *text, const struct sql_value *row)
{
  g_autoptr (json_t) record = record_to_json (row, FALSE);
  g_autofree char *line = json_to_text (record);
  g_string_append (text, line);
  g_string_append_c (text, '\n');
}

/* RFC 4180: quoted where it must be. */
static void
write_cell (GString *text, const char *cell)
{
  if (!strpbrk (cell, ",\"\r\n")) {
    g_string_append (text, cell);
    return;
  }
  g_string_append_c (text, '"');
  for (; *cell != '\0'; cell++) {
    if (*cell == '"')
      g_string_append_c (text, '"');
    g_string_append_c (text, *cell);
  }
  g_string_append_c (text, '"');
}

static void
write_csv (GString *text, const struct sql_value *row)
{
  guint damage = record_find_damage (row);
  g_autofree char *names = record_damage_names (damage);
  for (guint i = 0; i < RECORD_COLUMNS; i++, g_string_append_c (text, ',')) {
    if (damage & 1U << i)
      continue;
    if (i == RECORD_STARTED_MS) {
      g_autofree char *started = text_time (row[i].integer * 1000);
      write_cell (text, started);
    } else if (row[i].kind == SQL_TEXT)
      write_cell (text, row[i].text);
    else if (row[i].kind == SQL_INTEGER)
      g_string_append_printf (text, "%" G_GINT64_FORMAT, row[i].integer);
  }
  write_cell (text, names);
  g_string_append (text, "\r\n");
}

/* The names of the columns, as in the database, except for the time; and which of them are damaged. */
static char *
csv_header (void)
{
  GString *header = g_string_new (record_columns (FALSE));
  g_string_replace (header, ", ", ",", 0);
  g_string_replace (header, "started_ms", "started", 1);
  g_string_append (header, ",damaged\r\n");
  return g_string_free (header, FALSE);
}

static const struct format {
  const char *name;
  char *(*header) (void);
  void (*write_row) (GString *text, const struct sql_value *row);
} format_table[] = {
    {"jsonl", NULL, write_json},
    {"csv", csv_header, write_csv},
};

static const struct format *
find_format (const char *name, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (format_table); i++)
    if (strcmp (format_table[i].name, name) == 0)
      return &format_table[i];
  g_autofree char *shown = text_one_line (name, 40);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "records cannot be exported as \"%s\": the forms are jsonl and csv", shown);
  return NULL;
}

/* ---- pages ---- */

/* Whether ROW, which the next page cannot start after, comes for the first time. */
static gboolean
records_export_is_new (struct page *page, const struct sql_value *row)
{
  const struct sql_value *seq = &row[RECORD_SEQ];
  return g_hash_table_add (page->placeless,
                           g_strdup_printf ("%s %" G_GINT64_FORMAT " %s", row[RECORD_NODE].text, seq->integer,
                                            seq->text ? seq->text : ""));
}

static gboolean
records_export_take_row (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct page *page = data;
  page->rows++;
  if (record_has_place (row)) {
    page->last_ms = row[RECORD_STARTED_MS].integer;
    g_free (page->last_id);
    page->last_id = g_strdup (row[RECORD_RUN_ID].text);
  } else if (!records_export_is_new (page, row))
    return TRUE;
  page->write_row (page->text, row);
  page->written++;
  page->damaged += record_find_damage (row) != 0;
  page->cut = page->text->len >= PAGE_BYTES;
  return !page->cut;
}

/* Reads at most MOST rows after PAGE's last one into it. */
static gboolean
read_page (struct database *database, const struct record_filter *filter, struct page *page, guint most,
           GError **error)
{
  g_autoptr (GArray) values = g_array_copy (filter->values);
  g_autofree char *after = NULL;
  if (page->last_id) {
    const struct sql_value place[] = {SQL_INT (page->last_ms), SQL_STR (page->last_id)};
    g_array_append_vals (values, place, G_N_ELEMENTS (place));
    after = g_strdup_printf ("%s (started_ms, run_id) > ($%u, $%u)", filter->where->len > 0 ? "AND" : "WHERE",
                             values->len - 1, values->len);
  }
  g_autofree char *sql =
      g_strdup_printf ("SELECT %s FROM records %s %s ORDER BY started_ms, run_id LIMIT %u",
                       record_columns (FALSE), filter->where->str, after ? after : "", most);
  struct transaction *transaction = record_begin (database, error);
  if (!transaction)
    return FALSE;
  g_autofree char *last_id = g_strdup (page->last_id); /* the statement's value, while rows replace it */
  if (last_id)
    g_array_index (values, struct sql_value, values->len - 1).text = last_id;
  gboolean ok = transaction_run (transaction, sql, (const struct sql_value *)(void *)values->data,
                                 values->len, records_export_take_row, page, NULL, error);
  transaction_end (transaction);
  return ok;
}

static gboolean
records_export_write_text (int fd, const GString *text, GError **error)
{
  int r = fd_write_all (fd, text->str, text->len);
  return r == 0 || error_from_errno (error, -r, "cannot write the records");
}

static gboolean
too_damaged (GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
               "more than %d records in the database have lost their time or their run's id: it is no longer "
               "one of Adder's",
               PLACELESS_MAX);
  error_add_advice (error, "; adder history verify says which rows");
  return FALSE;
}

static gboolean
write_pages (struct database *database, const struct record_filter *filter, struct page *page, int fd,
             guint64 *ret_bytes, GError **error)
{
  guint64 bytes = 0;
  guint most;
  do {
    /* The header comes with the first page. */
    page->rows = 0;
    page->cut = FALSE;
    /* A page always has room for rows beyond those that it may find again. */
    most = PAGE_ROWS + g_hash_table_size (page->placeless);
    if (most > PAGE_ROWS + PLACELESS_MAX)
      return too_damaged (error);
    if (!read_page (database, filter, page, most, error) ||
        !records_export_write_text (fd, page->text, error))
      return FALSE;
    bytes += page->text->len;
    g_string_truncate (page->text, 0);
  } while (page->cut || page->rows == most);
  *ret_bytes = bytes;
  return TRUE;
}

json_t *
records_export (struct store *store, const char *owner, const json_t *filters, const char *format_name,
                int fd, GError **error)
{
  struct record_filter filter;
  const struct format *format = find_format (format_name, error);
  struct database *database = format ? store_database (store, error) : NULL;
  if (!database || !record_filter_init (&filter, owner, filters, error))
    return NULL;
  g_autofree char *header = format->header ? format->header () : NULL;
  struct page page = {.text = g_string_new (header),
                      .write_row = format->write_row,
                      .placeless = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL)};
  guint64 bytes;
  gboolean ok = write_pages (database, &filter, &page, fd, &bytes, error);
  g_hash_table_unref (page.placeless);
  g_string_free (page.text, TRUE);
  g_free (page.last_id);
  record_filter_clear (&filter);
  return ok ? json_pack ("{s:I, s:I, s:I}", "records", (json_int_t)page.written, "bytes", (json_int_t)bytes,
                         "damaged", (json_int_t)page.damaged)
            : NULL;
}
