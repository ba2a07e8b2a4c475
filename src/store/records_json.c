/* SPDX-License-Identifier: Apache-2.0 */
/* A row as JSON: the same words as in a result, where both have a thing. */
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

/* The last moment that a calendar of four digits has. */
#define STARTED_MS_MOST G_GINT64_CONSTANT (253402300799999)

static const gboolean is_number[RECORD_COLUMNS] = {
    [RECORD_SEQ] = TRUE,     [RECORD_STARTED_MS] = TRUE, [RECORD_CELL] = TRUE,     [RECORD_EXIT_CODE] = TRUE,
    [RECORD_WALL_US] = TRUE, [RECORD_CPU_US] = TRUE,     [RECORD_QUEUE_US] = TRUE, [RECORD_PEAK_BYTES] = TRUE,
    [RECORD_LEVEL] = TRUE,   [RECORD_BYTES] = TRUE,
};

static gboolean
is_sound (const struct sql_value *row, enum record_column column)
{
  gboolean needed = column == RECORD_NODE || column == RECORD_RUN_ID || column == RECORD_DIGEST;
  if (column == RECORD_STARTED_MS && (row[column].integer < 0 || row[column].integer > STARTED_MS_MOST))
    return FALSE;
  if (is_number[column])
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
  g_auto (GStrv) names = g_strsplit (records_columns, ", ", RECORD_COLUMNS);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    if (damage & 1U << i)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", names[i]);
  return g_string_free (text, FALSE);
}

gboolean
record_has_place (const struct sql_value *row)
{
  return row[RECORD_STARTED_MS].kind == SQL_INTEGER && row[RECORD_RUN_ID].kind == SQL_TEXT &&
         row[RECORD_RUN_ID].text[0] != '\0';
}

static json_t *
text_of (const struct sql_value *value)
{
  return json_text_or_null (value->text);
}

static json_t *
number_of (const struct sql_value *value)
{
  return value->kind == SQL_INTEGER ? json_integer (value->integer) : json_null ();
}

/* Microseconds as milliseconds. */
static json_t *
ms_of (const struct sql_value *value)
{
  return value->kind == SQL_INTEGER ? json_real ((double)value->integer / 1000.0) : json_null ();
}

static json_t *
more_of (const struct sql_value *value)
{
  json_t *more = value->text ? json_loads (value->text, JSON_REJECT_DUPLICATES, NULL) : NULL;
  if (json_is_object (more))
    return more;
  json_decref (more);
  return json_null ();
}

static json_t *
usage_of (const struct sql_value *row)
{
  return json_pack ("{s:o, s:o, s:o, s:o}", "queue_ms", ms_of (&row[RECORD_QUEUE_US]), "wall_ms",
                    ms_of (&row[RECORD_WALL_US]), "cpu_ms", ms_of (&row[RECORD_CPU_US]), "peak_memory_bytes",
                    number_of (&row[RECORD_PEAK_BYTES]));
}

static void
set_damage (json_t *record, guint damage)
{
  g_autofree char *text = record_damage_names (damage);
  g_auto (GStrv) names = g_strsplit (text, " ", -1);
  json_t *array = json_array ();
  for (guint i = 0; names[i]; i++)
    json_array_append_new (array, json_string (names[i]));
  json_object_set_new (record, "damaged", json_true ());
  json_object_set_new (record, "damaged_columns", array);
}

json_t *
record_to_json (const struct sql_value *stored, gboolean brief)
{
  static const struct {
    const char *name;
    enum record_column column;
  } texts[] = {
      {"owner", RECORD_OWNER},
      {"conversation", RECORD_CONVERSATION},
      {"front_end", RECORD_FRONT_END},
      {"role", RECORD_ROLE},
      {"tool", RECORD_TOOL},
      {"profile", RECORD_PROFILE},
      {"environment", RECORD_ENVIRONMENT},
      {"session_id", RECORD_SESSION},
  };
  guint damage = record_find_damage (stored);
  const struct sql_value none = {.kind = SQL_NULL};
  struct sql_value row[RECORD_COLUMNS];
  for (guint i = 0; i < RECORD_COLUMNS; i++)
    row[i] = damage & (1U << i) ? none : stored[i];
  json_t *record = json_object ();
  g_autofree char *started =
      row[RECORD_STARTED_MS].kind == SQL_INTEGER ? text_time (row[RECORD_STARTED_MS].integer * 1000) : NULL;
  json_object_set_new (record, "run_id", text_of (&row[RECORD_RUN_ID]));
  json_object_set_new (record, "started", json_text_or_null (started));
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    json_object_set_new (record, texts[i].name, text_of (&row[texts[i].column]));
  json_object_set_new (record, "cell",
                       row[RECORD_CELL].integer > 0 ? json_integer (row[RECORD_CELL].integer) : json_null ());
  json_object_set_new (record, "outcome", text_of (&row[RECORD_OUTCOME]));
  json_object_set_new (record, "exit_code", number_of (&row[RECORD_EXIT_CODE]));
  json_object_set_new (record, "usage", usage_of (row));
  json_object_set_new (record, "isolation_level",
                       row[RECORD_LEVEL].integer >= 0 ? number_of (&row[RECORD_LEVEL]) : json_null ());
  json_object_set_new (record, "approval", text_of (&row[RECORD_APPROVAL]));
  json_object_set_new (record, brief ? "code_start" : "code", text_of (&row[RECORD_CODE]));
  json_object_set_new (record, "code_sha256", text_of (&row[RECORD_CODE_SHA256]));
  if (!brief)
    json_object_set_new (record, "more", more_of (&row[RECORD_MORE]));
  json_object_set_new (record, "node", text_of (&row[RECORD_NODE]));
  json_object_set_new (record, "seq", number_of (&row[RECORD_SEQ]));
  json_object_set_new (record, "digest", text_of (&row[RECORD_DIGEST]));
  if (damage)
    set_damage (record, damage);
  return record;
}
