/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of sessions, as JSON from a sandbox. */
#include "engine/request/answer.h"

#include <string.h>

#include "common/field.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/request/message.h"

#define NAME_BYTES      2000
#define KIND_BYTES      40
#define SIGNATURE_BYTES 2000
#define TEXT_BYTES      8192
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

/* Each of LIST likewise, at most COUNT; NULL when one is malformed. */
static json_t *
answer_copy_list (const json_t *list, const struct answer_member *members, guint64 most, gsize count)
{
  g_autoptr (json_t) copies = json_array ();
  gsize index;
  json_t *one;
  if (!json_is_array (list) || json_array_size (list) > count)
    return NULL;
  json_array_foreach (list, index, one)
  {
    json_t *copy = answer_copy (one, members, most);
    if (!copy)
      return NULL;
    json_array_append_new (copies, copy);
  }
  return g_steal_pointer (&copies);
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
