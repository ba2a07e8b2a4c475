/* SPDX-License-Identifier: Apache-2.0 */
/* JSON by jansson, with scope release and errors as GError. */
#include "common/json.h"

#include <stdlib.h>

#include "adder_types.h"

/* No number here has more digits, and the shortest form of most has fewer than what "%.17g" writes. */
#define REAL_DIGITS 15

/* What jansson calls by its own names, or not at all. */
static const char *
json_words_of (const json_error_t *problem)
{
  switch (json_error_code (problem)) {
  case json_error_numeric_overflow:
    return "it has a number that is too large: whole numbers have at most 64 bits, others are below 1.8e308; "
           "send it as text";
  case json_error_null_character:
  case json_error_null_byte_in_key:
    return "it has a text with the character U+0000, which no text may have; send such bytes as base64";
  default:
    return NULL;
  }
}

json_t *
json_parse_object (const char *text, gsize length, const char *what, GError **error)
{
  json_error_t problem;
  json_t *value = json_loadb (text, length, JSON_REJECT_DUPLICATES, &problem);
  const char *words = value ? NULL : json_words_of (&problem);
  if (!value) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s %s%s (line %d, column %d)", what,
                 words ? "cannot be used: " : "is not JSON: ", words ? words : problem.text, problem.line,
                 problem.column);
    return NULL;
  }
  if (!json_is_object (value)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s must be a JSON object", what);
    json_decref (value);
    return NULL;
  }
  return value;
}

char *
json_to_text (const json_t *value)
{
  /* jansson's allocator is malloc unless somebody changed it; callers free with g_free, which is free since
   * GLib 2.46. */
  char *text = json_dumps (value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION (REAL_DIGITS));
  g_assert (text);
  return text;
}

json_t *
json_text_or_null (const char *text)
{
  if (!text)
    return json_null ();
  g_autofree char *clean = g_utf8_make_valid (text, -1);
  return json_string (clean);
}

const char *
json_member_text (const json_t *object, const char *name)
{
  const char *text = json_string_value (json_object_get (object, name));
  return text ? text : "";
}

gboolean
json_is_flat (const json_t *value, int levels)
{
  gsize index;
  const char *name;
  json_t *item;
  if (levels == 0)
    return !json_is_array (value) && !json_is_object (value);
  json_array_foreach (value, index, item)
  {
    if (!json_is_flat (item, levels - 1))
      return FALSE;
  }
  json_object_foreach ((json_t *)(guintptr)value, name, item)
  {
    if (!json_is_flat (item, levels - 1))
      return FALSE;
  }
  return TRUE;
}

char *
json_join (const json_t *list, const char *separator)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *item;
  json_array_foreach (list, index, item)
      g_string_append_printf (text, "%s%s", index > 0 ? separator : "", json_string_value (item));
  return g_string_free (text, FALSE);
}

char *
json_plain (const json_t *value, const char *separator)
{
  if (json_is_string (value))
    return g_strdup (json_string_value (value));
  if (json_is_array (value))
    return json_join (value, separator);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  return json_is_real (value)
             ? g_strdup (g_ascii_formatd (number, sizeof number, "%.10g", json_real_value (value)))
             : json_to_text (value);
}

json_t *
json_of_names (const GPtrArray *names)
{
  json_t *array = json_array ();
  for (guint i = 0; i < names->len; i++)
    json_array_append_new (array, json_text_or_null (names->pdata[i]));
  return array;
}

json_t *
json_of_texts (const char *const *texts)
{
  json_t *array = json_array ();
  for (; *texts; texts++)
    json_array_append_new (array, json_text_or_null (*texts));
  return array;
}

json_t *
json_of_texts_or_null (char *const *texts)
{
  return texts ? json_of_texts ((const char *const *)texts) : json_null ();
}

char **
json_to_texts (const json_t *value)
{
  if (!json_is_array (value))
    return NULL;
  gsize i;
  json_t *each;
  char **texts = g_new0 (char *, json_array_size (value) + 1);
  json_array_foreach (value, i, each)
  {
    texts[i] = g_strdup (json_is_string (each) ? json_string_value (each) : "");
  }
  return texts;
}
