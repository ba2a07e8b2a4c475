/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/describe.h"

#include <math.h>
#include <string.h>

#include "analysis/steps.h"
#include "common/json.h"
#include "common/size.h"
#include "common/text.h"

#define PRINTED_CHARACTERS 2000
#define SQL_BYTES          (1 << 24) /* of a table: smaller ones pandas answers as fast */

/* ---- cells ---- */

static char *
describe_number_text (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  /* 15 digits are what a double holds of a decimal; more only show how it is kept. */
  if (fabs (value) < 1e15 && value == floor (value))
    return g_strdup_printf ("%.0f", value);
  return g_strdup (g_ascii_formatd (text, sizeof text, "%.15g", value));
}

static char *
describe_cut (const char *text, glong most)
{
  if (most == 0 || g_utf8_strlen (text, -1) <= most)
    return g_strdup (text);
  g_autofree char *head = g_utf8_substring (text, 0, most);
  return g_strconcat (head, "...", NULL);
}

char *
describe_scalar (const json_t *value, glong most)
{
  g_autofree char *text = NULL;
  if (!value || json_is_null (value))
    return g_strdup ("");
  if (json_is_real (value))
    return describe_number_text (json_real_value (value));
  if (json_is_string (value))
    text = text_one_line (json_string_value (value), -1);
  else
    text = json_dumps (value, JSON_ENCODE_ANY | JSON_COMPACT);
  return describe_cut (text ? text : "", most);
}

/* As in a CSV, so that a comma in it is seen to be its own. */
static void
describe_append_cell (GString *text, const json_t *value)
{
  g_autofree char *cell = describe_scalar (value, DESCRIBE_CELL_CHARACTERS);
  if (strpbrk (cell, ",\"") == NULL) {
    g_string_append (text, cell);
    return;
  }
  g_auto (GStrv) parts = g_strsplit (cell, "\"", -1);
  g_autofree char *quoted = g_strjoinv ("\"\"", parts);
  g_string_append_printf (text, "\"%s\"", quoted);
}

/* ---- tables ---- */

static void
append_columns (GString *text, const json_t *columns)
{
  gsize index;
  json_t *column;
  json_array_foreach (columns, index, column)
  {
    if (index == DESCRIBE_COLUMNS_MAX) {
      g_string_append_printf (text, "(and %" G_GSIZE_FORMAT " more columns)\n",
                              json_array_size (columns) - index);
      return;
    }
    const char *format = json_member_text (column, "format");
    gint64 nulls = json_integer_value (json_object_get (column, "nulls"));
    g_autofree char *name = describe_scalar (json_object_get (column, "name"), 0);
    g_string_append_printf (text, "- %s: %s (%s)", name, json_member_text (column, "kind"),
                            json_member_text (column, "dtype"));
    if (format[0])
      g_string_append_printf (text, ", in the file as %s", format);
    if (nulls > 0)
      g_string_append_printf (text, ", some are empty");
    g_string_append_c (text, '\n');
  }
}

static void
describe_append_row (GString *text, const json_t *row, const char *member)
{
  gsize index;
  json_t *cell;
  json_array_foreach (row, index, cell)
  {
    if (index == DESCRIBE_CELLS_MAX) {
      g_string_append (text, ",...");
      break;
    }
    if (index > 0)
      g_string_append_c (text, ',');
    describe_append_cell (text, member ? json_object_get (cell, member) : cell);
  }
  g_string_append_c (text, '\n');
}

static void
append_sample (GString *text, const json_t *table, guint rows)
{
  gsize index, begin = text->len;
  json_t *row;
  g_string_append (text, "First rows:\n");
  describe_append_row (text, json_object_get (table, "columns"), "name");
  json_array_foreach (json_object_get (table, "sample"), index, row)
  {
    if (index == rows || text->len - begin > DESCRIBE_SAMPLE_BYTES)
      break;
    describe_append_row (text, row, NULL);
  }
}

static void
append_table (GString *text, const json_t *table, const char *called, guint rows)
{
  g_autofree char *size = size_format ((guint64)json_integer_value (json_object_get (table, "bytes")));
  g_string_append_printf (text, "Table %s, %s", called, size);
  if (json_is_integer (json_object_get (table, "rows")))
    g_string_append_printf (text, ", %" JSON_INTEGER_FORMAT " rows",
                            json_integer_value (json_object_get (table, "rows")));
  g_string_append (text, ". Columns:\n");
  append_columns (text, json_object_get (table, "columns"));
  append_sample (text, table, rows);
}

/* What code calls TABLE, the one of number INDEX. A small model that is told two names of one table takes the
 * second for another. The caller's. */
static char *
name_for_code (const json_t *table, gsize index, gboolean only)
{
  return only ? g_strdup ("df")
              : g_strdup_printf ("dfs[\"%s\"]%s", json_member_text (table, "name"),
                                 index == 0 ? ", which is df as well" : "");
}

/* Whether TABLE is better asked by SQL: a small model that is told of it without need takes to it. */
static gboolean
is_for_sql (const json_t *table)
{
  return json_is_true (json_object_get (table, "sql")) &&
         json_integer_value (json_object_get (table, "bytes")) >= SQL_BYTES;
}

char *
describe_tables (const struct analysis *analysis, guint rows)
{
  GString *text = g_string_new (NULL);
  gboolean for_sql = FALSE;
  gsize index;
  json_t *table;
  json_array_foreach (analysis->schema, index, table)
  {
    if (index > 0)
      g_string_append_c (text, '\n');
    gboolean only = rows <= ANALYSIS_SHORT_ROWS && json_array_size (analysis->schema) == 1;
    g_autofree char *called = name_for_code (table, index, only);
    append_table (text, table, called, rows);
    for_sql |= is_for_sql (table);
  }
  if (for_sql)
    g_string_append (
        text, "\nsql(\"select ...\") is there as well: a DataFrame, by DuckDB, from df or \"name\".\n");
  if (json_array_size (analysis->assumed) > 0)
    g_string_append (text, "\nAssumed of the files:\n");
  json_array_foreach (analysis->assumed, index, table)
      g_string_append_printf (text, "- %s\n", json_string_value (table));
  return g_string_free (text, FALSE);
}

char *
describe_columns (const struct analysis *analysis)
{
  GString *text = g_string_new (NULL);
  gsize index, at;
  json_t *table, *column;
  json_array_foreach (analysis->schema, index, table)
  {
    const json_t *columns = json_object_get (table, "columns");
    g_string_append_printf (text, "%sThe columns of %s:", index > 0 ? "\n" : "",
                            json_member_text (table, "name"));
    json_array_foreach (columns, at, column)
    {
      g_autofree char *name = describe_scalar (json_object_get (column, "name"), DESCRIBE_CELL_CHARACTERS);
      if (at < DESCRIBE_CELLS_MAX)
        g_string_append_printf (text, "%s %s", at > 0 ? "," : "", name);
    }
    if (json_array_size (columns) > DESCRIBE_CELLS_MAX)
      g_string_append_printf (text, ", and %" G_GSIZE_FORMAT " more",
                              json_array_size (columns) - DESCRIBE_CELLS_MAX);
  }
  return g_string_free (text, FALSE);
}

char *
describe_result (const struct analysis *analysis)
{
  GString *text = g_string_new (NULL);
  const char *markdown = json_member_text (analysis->result, "markdown");
  const char *plain = json_member_text (analysis->result, "text");
  g_string_append_printf (text, "The result, a %s:\n%s\n", json_member_text (analysis->result, "kind"),
                          markdown[0] ? markdown : plain);
  gint64 hidden = json_integer_value (json_object_get (analysis->result, "hidden_rows"));
  if (hidden > 0)
    g_string_append_printf (text, "(%" G_GINT64_FORMAT " more rows are not shown)\n", hidden);
  if (analysis->stdout_text && analysis->stdout_text[0]) {
    g_autofree char *printed = describe_cut (analysis->stdout_text, PRINTED_CHARACTERS);
    g_string_append_printf (text, "\nPrinted:\n%s\n", printed);
  }
  return g_string_free (text, FALSE);
}
