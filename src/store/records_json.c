/* SPDX-License-Identifier: Apache-2.0 */
/* A row as JSON: with a result's words, for shared members. */
#include "common/json.h"
#include "common/text.h"
#include "store/record_fields.h"
#include "store/records_private.h"

/* The last time in a four-digit year. */
#define STARTED_MS_MAX G_GINT64_CONSTANT (253402300799999)

static gboolean
is_sound (const struct sql_value *row, enum record_column column)
{
  gboolean needed = column == RECORD_NODE || column == RECORD_RUN_ID || column == RECORD_DIGEST;
  if (column == RECORD_STARTED_MS && (row[column].integer < 0 || row[column].integer > STARTED_MS_MAX))
    return FALSE;
  if (record_table[column].is_integer)
    return row[column].kind == SQL_INTEGER;
  return row[column].kind == SQL_TEXT || (row[column].kind == SQL_NULL && !needed);
}

guint
record_find_damage (const struct sql_value *row)
{
  guint damage = 0;
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    if (!is_sound (row, i))
      damage |= 1U << i;
  return damage;
}

char *
record_damage_names (guint damage)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    if (damage & 1U << i)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", record_table[i].name);
  return g_string_free (text, FALSE);
}

gboolean
record_has_place (const struct sql_value *row)
{
  return row[RECORD_STARTED_MS].kind == SQL_INTEGER && row[RECORD_RUN_ID].kind == SQL_TEXT &&
         row[RECORD_RUN_ID].text[0] != '\0';
}

static json_t *
object_of (const char *text)
{
  json_t *object = text ? json_loads (text, JSON_REJECT_DUPLICATES, NULL) : NULL;
  if (json_is_object (object))
    return object;
  json_decref (object);
  return json_null ();
}

/* A run that is no cell has number 0, one that never ran level -1, and unknown values of one whose daemon
 * died are -1. */
static gboolean
records_json_is_none (const struct sql_value *value, enum record_column column)
{
  static const guint unknown = 1U << RECORD_LEVEL | 1U << RECORD_WALL_US | 1U << RECORD_CPU_US |
                               1U << RECORD_QUEUE_US | 1U << RECORD_PEAK_BYTES;
  return value->kind == SQL_NULL || (column == RECORD_CELL && value->integer <= 0) ||
         ((unknown & 1U << column) && value->integer < 0);
}

/* The column of FIELD. Times are milliseconds in the database and texts in JSON; microseconds are
 * milliseconds there. */
static json_t *
records_json_value_of (const struct field *field, const struct sql_value *row)
{
  enum record_column column = RECORD_FIELD_COLUMN (field);
  const struct sql_value *value = &row[column];
  if (records_json_is_none (value, column))
    return json_null ();
  if (field->types & FIELD_OBJECT)
    return object_of (value->text);
  if (value->kind == SQL_TEXT)
    return json_string (value->text);
  if (field->types & FIELD_TEXT) {
    g_autofree char *time = text_time (value->integer * 1000);
    return json_string (time);
  }
  return field->types & FIELD_NUMBER ? json_real ((double)value->integer / 1000.0)
                                     : json_integer (value->integer);
}

static json_t *
row_to_json (const struct field *fields, const struct sql_value *row)
{
  json_t *object = json_object ();
  for (const struct field *field = fields; field->name; field++)
    if (field->marks)
      json_object_set_new (object, field->name, records_json_value_of (field, row));
    else if (field->members)
      json_object_set_new (object, field->name, row_to_json (field->members, row));
  return object;
}

static void
set_damage (json_t *record, guint damage)
{
  json_t *names = json_array ();
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    if (damage & 1U << i)
      json_array_append_new (names, json_string (record_table[i].name));
  json_object_set_new (record, "damaged", json_true ());
  json_object_set_new (record, "damaged_columns", names);
}

json_t *
record_to_json (const struct sql_value *stored, gboolean brief)
{
  guint damage = record_find_damage (stored);
  const struct sql_value none = {.kind = SQL_NULL};
  struct sql_value row[RECORD_COLUMNS];
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    row[i] = damage & (1U << i) ? none : stored[i];
  json_t *record = row_to_json (brief ? record_brief_fields : record_fields, row);
  if (damage)
    set_damage (record, damage);
  return record;
}
