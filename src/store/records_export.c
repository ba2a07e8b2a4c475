/* SPDX-License-Identifier: Apache-2.0 */
/* Records written to a descriptor, the oldest first, as JSON lines or CSV. Page by page: while somebody is
 * slow to read, no transaction is open. */
#include <errno.h>
#include <string.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

#define PAGE_ROWS  200
#define PAGE_BYTES (8 * 1024 * 1024) /* a page that has so much ends before its rows do */

struct page {
  GString *text;
  void (*write_row) (GString *text, const struct sql_value *row);
  guint rows;
  gint64 last_ms;
  char *last_id;
  gboolean cut;
  GError *problem;
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
  g_autofree char *started = text_time (row[RECORD_STARTED_MS].integer * 1000);
  for (guint i = 0; i < RECORD_COLUMNS; i++) {
    if (i > 0)
      g_string_append_c (text, ',');
    if (i == RECORD_STARTED_MS)
      write_cell (text, started);
    else if (row[i].kind == SQL_TEXT)
      write_cell (text, row[i].text);
    else if (row[i].kind == SQL_INTEGER)
      g_string_append_printf (text, "%" G_GINT64_FORMAT, row[i].integer);
  }
  g_string_append (text, "\r\n");
}

/* The names of the columns, as they are in the database, but for the time. */
static char *
csv_header (void)
{
  GString *header = g_string_new (records_columns);
  g_string_replace (header, ", ", ",", 0);
  g_string_replace (header, "started_ms", "started", 1);
  g_string_append (header, "\r\n");
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

static gboolean
take_row (gpointer data, const struct sql_value *row, guint columns)
{
  struct page *page = data;
  if (!record_check_row (row, columns, &page->problem))
    return FALSE;
  page->write_row (page->text, row);
  page->rows++;
  page->last_ms = row[RECORD_STARTED_MS].integer;
  g_free (page->last_id);
  page->last_id = g_strdup (row[RECORD_RUN_ID].text);
  page->cut = page->text->len >= PAGE_BYTES;
  return !page->cut;
}

/* Reads what comes after PAGE's last row into it. */
static gboolean
read_page (struct database *database, const struct record_filter *filter, struct page *page, GError **error)
{
  g_autoptr (GArray) values = g_array_copy (filter->values);
  g_autofree char *after = NULL;
  if (page->last_id) {
    const struct sql_value place[] = {SQL_INT (page->last_ms), SQL_STR (page->last_id)};
    g_array_append_vals (values, place, G_N_ELEMENTS (place));
    after = g_strdup_printf ("%s (started_ms, run_id) > ($%u, $%u)", filter->where->len > 0 ? "AND" : "WHERE",
                             values->len - 1, values->len);
  }
  g_autofree char *sql = g_strdup_printf ("SELECT %s FROM records %s %s ORDER BY started_ms, run_id LIMIT %d",
                                          records_columns, filter->where->str, after ? after : "", PAGE_ROWS);
  struct transaction *transaction = record_begin (database, error);
  if (!transaction)
    return FALSE;
  g_autofree char *last_id = g_strdup (page->last_id); /* the statement's value, while rows replace it */
  if (last_id)
    g_array_index (values, struct sql_value, values->len - 1).text = last_id;
  gboolean ok = transaction_run (transaction, sql, (const struct sql_value *)(void *)values->data,
                                 values->len, take_row, page, NULL, error);
  transaction_end (transaction);
  if (page->problem) {
    if (ok)
      g_propagate_error (error, g_steal_pointer (&page->problem));
    g_clear_error (&page->problem);
    ok = FALSE;
  }
  return ok;
}

static gboolean
write_text (int fd, const GString *text, GError **error)
{
  int r = fd_write_all (fd, text->str, text->len);
  return r == 0 || error_from_errno (error, -r, "cannot write the records");
}

static gboolean
write_pages (struct database *database, const struct record_filter *filter, struct page *page, int fd,
             guint64 *ret_records, guint64 *ret_bytes, GError **error)
{
  guint64 records = 0, bytes = 0;
  do {
    /* With the first page goes what stands above it. */
    page->rows = 0;
    page->cut = FALSE;
    if (!read_page (database, filter, page, error) || !write_text (fd, page->text, error))
      return FALSE;
    records += page->rows;
    bytes += page->text->len;
    g_string_truncate (page->text, 0);
  } while (page->cut || page->rows == PAGE_ROWS);
  *ret_records = records;
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
  struct page page = {.text = g_string_new (header), .write_row = format->write_row};
  guint64 records, bytes;
  gboolean ok = write_pages (database, &filter, &page, fd, &records, &bytes, error);
  g_string_free (page.text, TRUE);
  g_free (page.last_id);
  record_filter_clear (&filter);
  return ok ? json_pack ("{s:I, s:I}", "records", (json_int_t)records, "bytes", (json_int_t)bytes) : NULL;
}
