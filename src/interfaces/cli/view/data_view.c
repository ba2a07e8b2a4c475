/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/data_view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/size.h"
#include "common/text.h"
#include "interfaces/cli/view/text_table.h"

#define CELL_BYTES  40 /* of a value in a table */
#define COLUMNS_MAX 12 /* of a table; --json has all */
#define NAMES_BYTES 400
#define LABEL_WIDTH 10

static char *
data_view_value_of (const json_t *value)
{
  if (!value || json_is_null (value))
    return g_strdup ("");
  if (json_is_string (value))
    return text_one_line (json_string_value (value), CELL_BYTES);
  g_autofree char *text = json_dumps (value, JSON_ENCODE_ANY | JSON_REAL_PRECISION (6));
  return text_one_line (text ? text : "", CELL_BYTES);
}

/* "2026-11-22 05:09" */
static char *
data_view_moment_of (const json_t *object)
{
  char *moment = text_one_line (json_member_text (object, "created"), CELL_BYTES);
  if (strlen (moment) > strlen ("2026-11-22T05:09"))
    moment[strlen ("2026-11-22T05:09")] = '\0';
  return g_strdelimit (moment, "T", ' ');
}

static guint64
data_view_number_of (const json_t *object, const char *name)
{
  return (guint64)MAX (json_integer_value (json_object_get (object, name)), 0);
}

void
data_view_list (const json_t *datasets)
{
  static const char *const heads[] = {"NAME", "VERSION", "ROWS", "SIZE", "MADE (UTC)", "COMPLETE"};
  gsize i;
  json_t *dataset;
  if (json_array_size (datasets) == 0) {
    cli_say_none ("data sets", "adder data import FILE --name NAME");
    return;
  }
  struct text_table table;
  text_table_init (&table, heads, G_N_ELEMENTS (heads));
  json_array_foreach (datasets, i, dataset)
  {
    text_table_add (&table, data_view_value_of (json_object_get (dataset, "name")));
    text_table_add_coloured (&table, data_view_value_of (json_object_get (dataset, "version")), CLI_DIM);
    text_table_add (&table, data_view_value_of (json_object_get (dataset, "rows")));
    text_table_add (&table, size_format (data_view_number_of (dataset, "bytes")));
    text_table_add_coloured (&table, data_view_moment_of (dataset), CLI_DIM);
    text_table_add (&table, g_strdup (json_is_true (json_object_get (dataset, "complete")) ? "yes" : "no"));
  }
  text_table_print (&table);
}

/* The names of columns, in one line. */
static char *
columns_of (const json_t *dataset)
{
  g_autoptr (GString) names = g_string_new (NULL);
  gsize i;
  json_t *column;
  json_array_foreach (json_object_get (dataset, "schema"), i, column)
  {
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", json_member_text (column, "name"));
  }
  return text_one_line (names->str, NAMES_BYTES);
}

static void
data_view_show (const char *label, const char *text)
{
  if (text && text[0] != '\0')
    cli_print_labelled (LABEL_WIDTH, label, text);
}

/* A provider's state, beside its name. */
static void
show_providers (const json_t *dataset)
{
  gsize i;
  json_t *provider;
  json_array_foreach (json_object_get (dataset, "providers"), i, provider)
  {
    g_autofree char *name = text_one_line (json_member_text (provider, "name"), CELL_BYTES);
    g_autofree char *error = text_one_line (json_member_text (provider, "error"), NAMES_BYTES);
    g_autofree char *line = g_strdup_printf (
        "%s: %s, %" G_GUINT64_FORMAT " records%s%s", name, json_member_text (provider, "state"),
        data_view_number_of (provider, "records"), error[0] ? ": " : "", error);
    data_view_show (i == 0 ? "providers" : "", line);
  }
}

void
data_view_one (const json_t *dataset)
{
  static const struct {
    const char *label, *name;
  } rows[] = {{"name", "name"},    {"version", "version"},   {"rows", "rows"},
              {"made", "created"}, {"complete", "complete"}, {"sha256", "sha256"}};
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    const json_t *value = json_object_get (dataset, rows[i].name);
    g_autofree char *text = json_is_string (value) ? text_one_line (json_string_value (value), NAMES_BYTES)
                                                   : data_view_value_of (value);
    data_view_show (rows[i].label, text);
  }
  g_autofree char *filter =
      text_one_line (json_member_text (json_object_get (dataset, "query"), "filter"), NAMES_BYTES);
  data_view_show ("filter", filter);
  g_autofree char *size = size_format (data_view_number_of (dataset, "bytes"));
  data_view_show ("size", size);
  show_providers (dataset);
  g_autofree char *columns = columns_of (dataset);
  data_view_show ("columns", columns);
}

void
data_view_rows (const json_t *rows)
{
  gsize i;
  json_t *row, *value;
  const char *name, *names[COLUMNS_MAX];
  g_auto (GStrv) heads = g_new0 (char *, COLUMNS_MAX + 1);
  gsize columns = 0, all = json_object_size (json_array_get (rows, 0));
  json_object_foreach (json_array_get (rows, 0), name, value)
  {
    if (columns < COLUMNS_MAX) {
      heads[columns] = text_one_line (name, CELL_BYTES);
      names[columns++] = name;
    }
  }
  if (columns == 0) {
    cli_say_none ("rows", NULL);
    return;
  }
  struct text_table table;
  text_table_init (&table, (const char *const *)heads, columns);
  json_array_foreach (rows, i, row)
  {
    for (gsize at = 0; at < columns; at++)
      text_table_add (&table, data_view_value_of (json_object_get (row, names[at])));
  }
  text_table_print (&table);
  if (all > columns && isatty (STDERR_FILENO))
    fprintf (stderr, "%sthe first %zu of %zu columns; --json shows the others too%s\n",
             cli_colour (stderr, CLI_DIM), columns, all, cli_colour (stderr, CLI_PLAIN));
}
