/* SPDX-License-Identifier: Apache-2.0 */
/* A row as JSON: the same words as in a result, where both have a thing. */
#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

static const gboolean is_number[RECORD_COLUMNS] = {
    [RECORD_SEQ] = TRUE,     [RECORD_STARTED_MS] = TRUE, [RECORD_CELL] = TRUE,     [RECORD_EXIT_CODE] = TRUE,
    [RECORD_WALL_US] = TRUE, [RECORD_CPU_US] = TRUE,     [RECORD_QUEUE_US] = TRUE, [RECORD_PEAK_BYTES] = TRUE,
    [RECORD_LEVEL] = TRUE,   [RECORD_BYTES] = TRUE,
};

gboolean
record_check_row (const struct sql_value *row, guint columns, GError **error)
{
  gboolean ok = columns == RECORD_COLUMNS;
  for (guint i = 0; ok && i < RECORD_COLUMNS; i++)
    ok = row[i].kind == (is_number[i] ? SQL_INTEGER : SQL_TEXT) || (row[i].kind == SQL_NULL && !is_number[i]);
  if (!ok || !row[RECORD_RUN_ID].text || !row[RECORD_NODE].text || !row[RECORD_DIGEST].text) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "a record in the database is not as Adder writes them: adder record verify says which");
    return FALSE;
  }
  return TRUE;
}

static json_t *
text_of (const struct sql_value *value)
{
  return json_text_or_null (value->text);
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
  return json_pack ("{s:f, s:f, s:f, s:I}", "queue_ms", (double)row[RECORD_QUEUE_US].integer / 1000.0,
                    "wall_ms", (double)row[RECORD_WALL_US].integer / 1000.0, "cpu_ms",
                    (double)row[RECORD_CPU_US].integer / 1000.0, "peak_memory_bytes",
                    (json_int_t)row[RECORD_PEAK_BYTES].integer);
}

json_t *
record_to_json (const struct sql_value *row, gboolean brief)
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
  json_t *record = json_object ();
  g_autofree char *started = text_time (row[RECORD_STARTED_MS].integer * 1000);
  json_object_set_new (record, "run_id", text_of (&row[RECORD_RUN_ID]));
  json_object_set_new (record, "started", json_string (started));
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    json_object_set_new (record, texts[i].name, text_of (&row[texts[i].column]));
  json_object_set_new (record, "cell",
                       row[RECORD_CELL].integer > 0 ? json_integer (row[RECORD_CELL].integer) : json_null ());
  json_object_set_new (record, "outcome", text_of (&row[RECORD_OUTCOME]));
  json_object_set_new (record, "exit_code", json_integer (row[RECORD_EXIT_CODE].integer));
  json_object_set_new (record, "usage", usage_of (row));
  json_object_set_new (record, "isolation_level",
                       row[RECORD_LEVEL].integer >= 0 ? json_integer (row[RECORD_LEVEL].integer)
                                                      : json_null ());
  json_object_set_new (record, "approval", text_of (&row[RECORD_APPROVAL]));
  json_object_set_new (record, brief ? "code_start" : "code", text_of (&row[RECORD_CODE]));
  json_object_set_new (record, "code_sha256", text_of (&row[RECORD_CODE_SHA256]));
  if (!brief)
    json_object_set_new (record, "more", more_of (&row[RECORD_MORE]));
  json_object_set_new (record, "node", text_of (&row[RECORD_NODE]));
  json_object_set_new (record, "seq", json_integer (row[RECORD_SEQ].integer));
  json_object_set_new (record, "digest", text_of (&row[RECORD_DIGEST]));
  return record;
}
