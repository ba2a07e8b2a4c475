/* SPDX-License-Identifier: Apache-2.0 */
/* The query: texts, converted to the types of the route's fields. */
#include <math.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "interfaces/http/http_private.h"

#define PAIRS_MAX   64
#define SHOWN_BYTES 40

char *
http_decode (const char *text, gsize length, gboolean plus)
{
  g_autoptr (GString) decoded = g_string_sized_new (length);
  for (gsize i = 0; i < length; i++) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= length || !g_ascii_isxdigit (text[i + 1]) || !g_ascii_isxdigit (text[i + 2]))
        return NULL;
      c = (char)(g_ascii_xdigit_value (text[i + 1]) * 16 + g_ascii_xdigit_value (text[i + 2]));
      i += 2;
    } else if (c == '+' && plus)
      c = ' ';
    if (c == '\0')
      return NULL;
    g_string_append_c (decoded, c);
  }
  return g_utf8_validate (decoded->str, (gssize)decoded->len, NULL)
             ? g_string_free (g_steal_pointer (&decoded), FALSE)
             : NULL;
}

/* ---- types ---- */

static json_t *
boolean_of (const char *text)
{
  if (strcmp (text, "true") == 0)
    return json_true ();
  return strcmp (text, "false") == 0 ? json_false () : NULL;
}

static json_t *
integer_of (const char *text)
{
  gint64 number;
  return g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &number, NULL) && text[0] != '+'
             ? json_integer (number)
             : NULL;
}

static json_t *
http_query_number_of (const char *text)
{
  char *end;
  double number = g_ascii_strtod (text, &end);
  gboolean ok = *text != '\0' && *end == '\0' && isfinite (number) && !strpbrk (text, "xXpP \t");
  return ok ? json_real (number) : NULL;
}

/* "a,b": a list; an empty text is an empty list. */
static json_t *
http_query_list_of (const char *text)
{
  json_t *list = json_array ();
  g_auto (GStrv) items = g_strsplit (text, ",", -1);
  for (gsize i = 0; items[i]; i++)
    json_array_append_new (list, json_string (items[i]));
  return list;
}

/* TEXT as FIELD's type; if that fails, it stays text, and the check reports it. */
static json_t *
http_query_value_of (const struct field *field, const char *text)
{
  json_t *value = NULL;
  if (field && (field->types & FIELD_BOOLEAN))
    value = boolean_of (text);
  if (field && !value && (field->types & FIELD_INTEGER))
    value = integer_of (text);
  if (field && !value && (field->types & FIELD_NUMBER))
    value = http_query_number_of (text);
  if (field && !value && (field->types & FIELD_LIST))
    value = http_query_list_of (text);
  return value ? value : json_string (text);
}

/* ---- pairs ---- */

static gboolean
add_pair (json_t *object, const struct http_route *route, const char *pair, GError **error)
{
  static const struct field none[] = {{0}};
  gsize length = strcspn (pair, "=");
  const char *rest = pair[length] == '=' ? pair + length + 1 : "";
  g_autofree char *name = http_decode (pair, length, TRUE);
  g_autofree char *text = http_decode (rest, strlen (rest), TRUE);
  if (!name || !text) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the query is not encoded as URLs are, in UTF-8 without zero bytes");
    return FALSE;
  }
  if (json_object_get (object, name)) {
    g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the query has %s twice", shown);
    return FALSE;
  }
  json_object_set_new (object, name,
                       http_query_value_of (field_find (route->query ? route->query : none, name), text));
  return TRUE;
}

json_t *
http_query_parse (const struct http_route *route, const char *text, GError **error)
{
  static const struct field none[] = {{0}};
  g_autoptr (json_t) object = json_object ();
  g_auto (GStrv) pairs = g_strsplit (text ? text : "", "&", PAIRS_MAX + 1);
  for (gsize i = 0; pairs[i]; i++) {
    if (i >= PAIRS_MAX) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the query has more than %d parameters",
                   PAIRS_MAX);
      return NULL;
    }
    if (pairs[i][0] != '\0' && !add_pair (object, route, pairs[i], error))
      return NULL;
  }
  return field_check (route->query ? route->query : none, "the query", object, error);
}
