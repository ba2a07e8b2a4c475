/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of sessions, as JSON from a sandbox. */
#include "engine/request/answer.h"

#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/field.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/message.h"

#define NAME_BYTES      2000
#define KIND_BYTES      40
#define SIGNATURE_BYTES 2000
#define TEXT_BYTES      8192
#define DIGEST_BYTES    64
#define PROBLEM_BYTES   400

/* The runner's own bound (runner/python/complete.py). */
#define MATCHES_MAX 200

/* A member of an answer. A text is one line, or as it is where WHOLE; longer ones are cut. */
struct answer_member {
  const char *name;
  guint types;
  gsize most; /* bytes of a text; 0: as many as the caller allows */
  gboolean whole, optional;
};

/* OBJECT with MEMBERS alone, which end without a name; NULL when one is missing or of another type. */
static json_t *
answer_copy (const json_t *object, const struct answer_member *members, guint64 most)
{
  g_autoptr (json_t) copy = json_object ();
  for (; members->name; members++) {
    json_t *value = json_object_get (object, members->name);
    guint64 bytes = members->most > 0 ? members->most : most;
    if (!value && members->optional)
      continue;
    if (!value || !message_has_type (value, members->types))
      return NULL;
    if (!json_is_string (value))
      json_object_set (copy, members->name, value);
    else
      json_object_set_new (copy, members->name,
                           members->whole ? message_cut (value, bytes) : message_line (value, bytes));
  }
  return g_steal_pointer (&copy);
}

/* Each of LIST, at most COUNT, as COPY with DATA makes it, which returns NULL for what is malformed; then it
 * is NULL. */
static json_t *
answer_copy_each (const json_t *list, gsize count, json_t *(*copy) (json_t *one, gconstpointer data),
                  gconstpointer data)
{
  g_autoptr (json_t) copies = json_array ();
  gsize index;
  json_t *one;
  if (!json_is_array (list) || json_array_size (list) > count)
    return NULL;
  json_array_foreach (list, index, one)
  {
    json_t *copied = copy (one, data);
    if (!copied)
      return NULL;
    json_array_append_new (copies, copied);
  }
  return g_steal_pointer (&copies);
}

struct answer_shape {
  const struct answer_member *members;
  guint64 most;
};

static json_t *
answer_copy_shaped (json_t *one, gconstpointer data)
{
  const struct answer_shape *shape = data;
  return answer_copy (one, shape->members, shape->most);
}

/* Objects with MEMBERS (answer_copy), at most COUNT. */
static json_t *
answer_copy_list (const json_t *list, const struct answer_member *members, guint64 most, gsize count)
{
  const struct answer_shape shape = {members, most};
  return answer_copy_each (list, count, answer_copy_shaped, &shape);
}

json_t *
answer_read (const char *text, gsize length)
{
  return message_parse (text, length);
}

char *
answer_problem (const json_t *answer)
{
  const json_t *error = json_object_get (answer, "error");
  if (!error)
    return NULL;
  g_autofree char *type = text_one_line (json_member_text (error, "type"), PROBLEM_BYTES);
  g_autofree char *message = text_one_line (json_member_text (error, "message"), PROBLEM_BYTES);
  return g_strdup_printf ("%s%s%s", type, message[0] ? ": " : "", message);
}

/* ---- variables ---- */

/* In all, or named. */
#define VARIABLES_MAX 1000

#define ANSWER_VARIABLE                                                                                      \
  {"name", FIELD_TEXT, NAME_BYTES}, {"type", FIELD_TEXT, NAME_BYTES}, {"shape", FIELD_LIST | FIELD_NULL},    \
  {                                                                                                          \
    "bytes", FIELD_INTEGER | FIELD_NULL                                                                      \
  }

json_t *
answer_read_variables (const json_t *answer, guint64 value_bytes)
{
  static const struct answer_member members[] = {
      ANSWER_VARIABLE,
      {"value", FIELD_TEXT, 0, .whole = TRUE, .optional = TRUE},
      {0},
  };
  const json_t *count = json_object_get (answer, "count");
  g_autoptr (json_t) list =
      answer_copy_list (json_object_get (answer, "variables"), members, value_bytes, VARIABLES_MAX);
  if (!list || !message_is_count (count))
    return NULL;
  return json_pack ("{s:O, s:I}", "variables", list, "count", json_integer_value (count));
}

json_t *
answer_read_digests (const json_t *answer)
{
  static const struct answer_member members[] = {
      ANSWER_VARIABLE, {"digest", FIELD_TEXT | FIELD_NULL, DIGEST_BYTES}, {0}};
  return answer_copy_list (json_object_get (answer, "variables"), members, 0, VARIABLES_MAX);
}

#define UNKNOWN_BYTES 200

json_t *
answer_read_state (const json_t *answer)
{
  json_t *digest = json_object_get (answer, "digest"), *unknown = json_object_get (answer, "unknown");
  if (!json_is_string (unknown) || !(json_is_null (digest) || json_is_string (digest)))
    return NULL;
  return json_pack ("{s:o, s:o}", "digest",
                    json_is_null (digest) ? json_null () : message_cut (digest, DIGEST_BYTES), "unknown",
                    message_cut (unknown, UNKNOWN_BYTES));
}

/* ---- rows ---- */

#define COLUMNS_MAX     500
#define CELL_TEXT_BYTES 4000 /* of 1000 characters */
#define ABOUT_BYTES     200

/* Something that is shown in a grid. NULL for lists and objects. */
static json_t *
answer_copy_cell (json_t *cell, G_GNUC_UNUSED gconstpointer unused)
{
  if (json_is_string (cell))
    return message_cut (cell, CELL_TEXT_BYTES);
  return json_is_array (cell) || json_is_object (cell) ? NULL : json_incref (cell);
}

/* DATA is the number of cells that a row has. */
static json_t *
answer_copy_row (json_t *row, gconstpointer data)
{
  const gsize *width = data;
  return json_array_size (row) == *width ? answer_copy_each (row, *width, answer_copy_cell, NULL) : NULL;
}

/* What the runner says when it has no rows (runner/python/rows.py), and what that means: a sentence of the
 * table, BEFORE, what it says about it, if anything, and AFTER. */
static const struct {
  const char *kind;
  AdderError code;
  const char *before;
  gboolean has_about;
  const char *after;
} answer_refusals[] = {
    {"missing", ADDER_ERROR_NOT_FOUND, " does not exist", FALSE, ""},
    {"no_table", ADDER_ERROR_INVALID, " has no rows: its type is ", TRUE, ", which is no table's"},
    {"no_column", ADDER_ERROR_INVALID, " has no column \"", TRUE, "\""},
    {"slow_filter", ADDER_ERROR_INVALID, " is too long to be filtered in time", FALSE, ""},
    {"long_sort", ADDER_ERROR_INVALID, " is too long to be sorted", FALSE, ""},
};

static gssize
answer_find_refusal (const json_t *rows)
{
  const char *kind = json_string_value (json_object_get (rows, "refused"));
  for (gsize i = 0; kind && i < G_N_ELEMENTS (answer_refusals); i++)
    if (strcmp (kind, answer_refusals[i].kind) == 0)
      return (gssize)i;
  return -1;
}

gboolean
answer_rows_refused (const json_t *rows, const char *what, GError **error)
{
  gssize at = answer_find_refusal (rows);
  if (at < 0)
    return FALSE;
  g_autofree char *about = text_one_line (json_member_text (rows, "about"), ABOUT_BYTES);
  g_set_error (error, ADDER_ERROR, answer_refusals[at].code, "%s%s%s%s", what, answer_refusals[at].before,
               answer_refusals[at].has_about ? about : "", answer_refusals[at].after);
  return TRUE;
}

json_t *
answer_read_rows (const json_t *answer, guint64 limit)
{
  static const struct answer_member columns_members[] = {
      {"name", FIELD_TEXT, NAME_BYTES}, {"type", FIELD_TEXT, NAME_BYTES}, {0}};
  static const char *const counts[] = {"total", "matching", "offset", "columns_left_out"};
  if (answer_find_refusal (answer) >= 0)
    return json_pack ("{s:O, s:s}", "refused", json_object_get (answer, "refused"), "about",
                      json_member_text (answer, "about"));
  g_autoptr (json_t) columns =
      answer_copy_list (json_object_get (answer, "columns"), columns_members, 0, COLUMNS_MAX);
  const gsize width = json_array_size (columns);
  g_autoptr (json_t) rows =
      columns ? answer_copy_each (json_object_get (answer, "rows"), limit, answer_copy_row, &width) : NULL;
  g_autoptr (json_t) index =
      rows ? answer_copy_each (json_object_get (answer, "index"), limit, answer_copy_cell, NULL) : NULL;
  if (!index || json_array_size (index) != json_array_size (rows))
    return NULL;
  g_autoptr (json_t) page = json_pack ("{s:O, s:O, s:O}", "columns", columns, "rows", rows, "index", index);
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++) {
    json_t *count = json_object_get (answer, counts[i]);
    if (!message_is_count (count))
      return NULL;
    json_object_set (page, counts[i], count);
  }
  return g_steal_pointer (&page);
}

/* ---- completion and inspection ---- */

/* What would be typed: one line without control characters. */
static gboolean
is_typed (const json_t *match)
{
  for (const char *at = json_member_text (match, "text"); *at; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at)))
      return FALSE;
  return TRUE;
}

static json_t *
answer_copy_matches (const json_t *list)
{
  static const struct answer_member members[] = {
      {"text", FIELD_TEXT, TEXT_BYTES, .whole = TRUE},
      {"kind", FIELD_TEXT, KIND_BYTES},
      {"signature", FIELD_TEXT | FIELD_NULL, SIGNATURE_BYTES},
      {0},
  };
  json_t *matches = answer_copy_list (list, members, 0, MATCHES_MAX);
  for (gsize i = json_array_size (matches); i-- > 0;)
    if (!is_typed (json_array_get (matches, i)))
      json_array_remove (matches, i);
  return matches;
}

json_t *
answer_read_matches (const json_t *answer, guint64 characters)
{
  const json_t *start = json_object_get (answer, "start"), *end = json_object_get (answer, "end");
  if (!message_is_count (start) || !message_is_count (end) ||
      json_integer_value (start) > json_integer_value (end) ||
      (guint64)json_integer_value (end) > characters || !json_is_boolean (json_object_get (answer, "more")))
    return NULL;
  json_t *matches = answer_copy_matches (json_object_get (answer, "matches"));
  return matches ? json_pack ("{s:I, s:I, s:o, s:O}", "start", json_integer_value (start), "end",
                              json_integer_value (end), "matches", matches, "more",
                              json_object_get (answer, "more"))
                 : NULL;
}

json_t *
answer_read_inspection (const json_t *answer)
{
  static const struct answer_member members[] = {
      {"found", FIELD_BOOLEAN},
      {"name", FIELD_TEXT, NAME_BYTES},
      {"type", FIELD_TEXT, NAME_BYTES},
      {"signature", FIELD_TEXT | FIELD_NULL, SIGNATURE_BYTES},
      {"documentation", FIELD_TEXT | FIELD_NULL, TEXT_BYTES, .whole = TRUE},
      {"value", FIELD_TEXT | FIELD_NULL, TEXT_BYTES, .whole = TRUE},
      {0},
  };
  return answer_copy (answer, members, 0);
}
