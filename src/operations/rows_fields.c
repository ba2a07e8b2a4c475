/* SPDX-License-Identifier: Apache-2.0 */
#include "operations/rows_fields.h"

static const struct field column_fields[] = {
    TEXT ("name", "Its name, at most 200 characters."),
    TEXT ("type", "Its dtype."),
    FIELD_END ("TableColumn"),
};

static const struct field rows_fields[] = {
    LIST ("columns", column_fields, "The first 500 columns."),
    {.name = "rows",
     .types = FIELD_LIST,
     .items = FIELD_LIST,
     .text = "A list of cells for each row: numbers, texts of at most 1000 characters, booleans, null for "
             "missing values. Fewer than `limit` where they would be too long together."},
    {.name = "index", .types = FIELD_LIST, .text = "The label of each row."},
    WHOLE ("total", "Number of rows of the table."),
    WHOLE ("matching", "Number of rows that match the filter."),
    WHOLE ("offset", "The first row of the page."),
    WHOLE ("columns_left_out", "Number of columns after the first 500."),
    FIELD_END ("TableRows"),
};

const struct field *const rows_replies[] = {rows_fields, NULL};

json_t *
rows_page (const struct operation_call *call)
{
  static const char *const names[] = {"name", "offset", "limit", "sort", "descending", "filter"};
  json_t *page = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    json_t *value = json_object_get (call->params, names[i]);
    if (value)
      json_object_set (page, names[i], value);
  }
  return page;
}
