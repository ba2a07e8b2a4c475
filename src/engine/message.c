/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to and from sandboxes. */
#include "engine/message.h"

#include <string.h>

#include "common/json.h"
#include "engine/denial.h"
#include "engine/request.h"

/* A value costs jansson some 50 bytes, however few it has in the text: "[0,0,0..." would make a message of 64
 * MiB a structure of gigabytes. */
#define VALUES_MOST   200000
#define WARNINGS_MOST 100
#define WARNING_BYTES 2000

/* What the runner keeps to; it counts characters. */
#define DENIALS_MOST 16
#define DETAIL_BYTES 800

/* Representations of one value or display. */
#define BUNDLE_MOST 32

gsize
message_count_values (const char *text, gsize length)
{
  gsize count = 1;
  for (gsize at = 0; at < length; at++) {
    char c = text[at];
    count += c == ',' || c == ':' || c == '[' || c == '{';
    if (c != '"')
      continue;
    /* What stands in a string is no value. */
    for (at++; at < length && text[at] != '"'; at++)
      at += text[at] == '\\';
  }
  return count;
}

static json_t *
parse (const char *text, gsize length)
{
  if (message_count_values (text, length) > VALUES_MOST)
    return NULL;
  return json_parse_object (text, length, "a message", NULL);
}

static gboolean
is_bundle (const json_t *bundle)
{
  const char *mime;
  json_t *value;
  if (!json_is_object (bundle) || json_object_size (bundle) > BUNDLE_MOST)
    return FALSE;
  json_object_foreach ((json_t *)(guintptr)bundle, mime, value)
  {
    if (!json_is_string (value) && !g_str_has_suffix (mime, "json"))
      return FALSE;
  }
  return TRUE;
}

json_t *
message_read_display (const char *text, gsize length)
{
  g_autoptr (json_t) bundle = parse (text, length);
  return is_bundle (bundle) ? g_steal_pointer (&bundle) : NULL;
}

/* ---- results ---- */

enum field_type { FIELD_STRING, FIELD_STRING_OR_NULL, FIELD_INTEGER_OR_NULL };

static const struct {
  const char *name;
  enum field_type type;
} error_fields[] = {
    {"type", FIELD_STRING},          {"message", FIELD_STRING},      {"traceback", FIELD_STRING_OR_NULL},
    {"line", FIELD_INTEGER_OR_NULL}, {"hint", FIELD_STRING_OR_NULL},
};

static gboolean
has_type (const json_t *value, enum field_type type)
{
  switch (type) {
  case FIELD_STRING:
    return json_is_string (value);
  case FIELD_STRING_OR_NULL:
    return json_is_string (value) || json_is_null (value);
  case FIELD_INTEGER_OR_NULL:
    return json_is_integer (value) || json_is_null (value);
  }
  return FALSE;
}

/* The beginning of STRING, at most MOST bytes of whole characters. */
static json_t *
cut (json_t *string, guint64 most)
{
  const char *text = json_string_value (string);
  gsize length = json_string_length (string);
  if (length <= most)
    return json_incref (string);
  length = (gsize)most;
  while (length > 0 && ((guchar)text[length] & 0xC0) == 0x80)
    length--;
  return json_stringn (text, length);
}

/* BUNDLE with text cut to MOST bytes, and without what is longer and no text. */
static json_t *
copy_bundle (json_t *bundle, guint64 most, GPtrArray *warnings)
{
  json_t *copy = json_object ();
  const char *mime;
  json_t *value;
  json_object_foreach (bundle, mime, value)
  {
    gboolean text = g_str_has_prefix (mime, "text/") && json_is_string (value);
    if (text)
      json_object_set_new (copy, mime, cut (value, most));
    else if (json_dumpb (value, NULL, 0, JSON_ENCODE_ANY) <= most)
      json_object_set (copy, mime, value);
    else
      g_ptr_array_add (warnings,
                       g_strdup ("a representation of the value is left out: it is too long (value_bytes)"));
  }
  return copy;
}

/* ERROR with the known fields alone, or NULL when one is missing or of another type. */
static json_t *
copy_error (const json_t *error, guint64 most)
{
  g_autoptr (json_t) copy = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (error_fields); i++) {
    json_t *value = json_object_get (error, error_fields[i].name);
    if (!has_type (value, error_fields[i].type))
      return NULL;
    if (json_is_string (value))
      json_object_set_new (copy, error_fields[i].name, cut (value, most));
    else
      json_object_set (copy, error_fields[i].name, value);
  }
  return g_steal_pointer (&copy);
}

static gboolean
take_warnings (const json_t *list, GPtrArray *warnings)
{
  gsize index;
  json_t *warning;
  if (!json_is_array (list))
    return FALSE;
  json_array_foreach (list, index, warning)
  {
    if (!json_is_string (warning))
      return FALSE;
    if (index < WARNINGS_MOST)
      g_ptr_array_add (warnings,
                       g_utf8_make_valid (json_string_value (warning),
                                          (gssize)MIN (json_string_length (warning), WARNING_BYTES)));
  }
  return TRUE;
}

/* TEXT as one line that is safe to show: what would move a terminal's cursor is replaced. */
static json_t *
one_line (const char *text, gsize length)
{
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)length);
  GString *line = g_string_new (NULL);
  for (const char *at = valid; *at; at = g_utf8_next_char (at)) {
    gunichar character = g_utf8_get_char (at);
    g_string_append_unichar (line, g_unichar_iscntrl (character) ? 0xFFFD : character);
  }
  json_t *copy = json_stringn (line->str, line->len);
  g_string_free (line, TRUE);
  return copy;
}

/* LIST, which may be missing, with the known fields alone; NULL when it is not as it must be. */
static json_t *
copy_denials (const json_t *list)
{
  g_autoptr (json_t) copy = json_array ();
  gsize index;
  json_t *denial;
  if (list && !json_is_array (list))
    return NULL;
  json_array_foreach (list, index, denial)
  {
    json_t *kind = json_object_get (denial, "kind"), *detail = json_object_get (denial, "detail");
    if (!json_is_string (kind) || !json_is_string (detail) || !denial_is_kind (json_string_value (kind)))
      return NULL;
    g_autoptr (json_t) shortened = cut (detail, DETAIL_BYTES);
    if (index < DENIALS_MOST)
      denial_add (copy, json_string_value (kind),
                  one_line (json_string_value (shortened), json_string_length (shortened)));
  }
  return g_steal_pointer (&copy);
}

static gboolean
read_limits_met (const json_t *list, guint32 *ret_limits)
{
  guint32 limits = 0;
  gsize index;
  json_t *name;
  if (list && !json_is_array (list))
    return FALSE;
  json_array_foreach (list, index, name)
  {
    int limit = json_is_string (name) ? limit_find (json_string_value (name)) : -1;
    if (limit < 0)
      return FALSE;
    limits |= 1u << limit;
  }
  *ret_limits = limits;
  return TRUE;
}

gboolean
message_read_result (const char *text, gsize length, guint64 value_bytes, struct message_result *ret_result,
                     GPtrArray *warnings)
{
  g_autoptr (json_t) root = parse (text, length);
  json_t *exit_code = json_object_get (root, "exit_code");
  json_t *value = json_object_get (root, "value"), *error = json_object_get (root, "error");
  if (!json_is_integer (exit_code) || json_integer_value (exit_code) < 0 ||
      json_integer_value (exit_code) > 255)
    return FALSE;
  if (!json_is_null (value) && !is_bundle (value))
    return FALSE;
  g_autoptr (json_t) copy = json_is_null (error) ? NULL : copy_error (error, value_bytes);
  if ((!json_is_null (error) && !copy) || !take_warnings (json_object_get (root, "warnings"), warnings))
    return FALSE;

  guint32 limits_met;
  g_autoptr (json_t) denials = copy_denials (json_object_get (root, "denials"));
  if (!denials || !read_limits_met (json_object_get (root, "limits_met"), &limits_met))
    return FALSE;

  /* Before the initializers below, which are evaluated in no certain order. */
  gboolean out_of_memory = copy && json_is_true (json_object_get (root, "out_of_memory"));
  *ret_result = (struct message_result){
      .exit_code = (int)json_integer_value (exit_code),
      .value = json_is_null (value) ? NULL : copy_bundle (value, value_bytes, warnings),
      .out_of_memory = out_of_memory,
      .error = g_steal_pointer (&copy),
      .denials = g_steal_pointer (&denials),
      .limits_met = limits_met,
  };
  return TRUE;
}

void
message_result_clear (struct message_result *result)
{
  g_clear_pointer (&result->value, json_decref);
  g_clear_pointer (&result->error, json_decref);
  g_clear_pointer (&result->denials, json_decref);
}

/* ---- requests ---- */

static json_t *
string_array (const char *const *list)
{
  json_t *array = json_array ();
  for (gsize i = 0; list && list[i]; i++)
    json_array_append_new (array, json_string (list[i]));
  return array;
}

static json_t *
string_object (GHashTable *table)
{
  json_t *object = json_object ();
  GHashTableIter iter;
  gpointer name, value;
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, &value))
    json_object_set_new (object, name, json_string (value));
  return object;
}

char *
message_write_request (const struct run_request *request, gsize *ret_length)
{
  g_autoptr (json_t) object =
      json_pack ("{s:o, s:s, s:o, s:o, s:s, s:I}", "code", json_stringn (request->code, request->code_length),
                 "name", request->name, "arguments", string_array ((const char *const *)request->arguments),
                 "variables", string_object (request->variables), "environment", request->environment,
                 "value_bytes", (json_int_t)request->limits.value[LIMIT_VALUE]);
  char *text = json_to_text (object);
  *ret_length = strlen (text);
  return text;
}
