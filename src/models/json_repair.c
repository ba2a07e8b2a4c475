/* SPDX-License-Identifier: Apache-2.0 */
#include "models/json_repair.h"

#include <string.h>

#include "common/json.h"

/* Levels: what is recorded has a few more around it, and must be read again. */
#define DEPTH_MAX   64

#define FENCE       "```"
#define REPLACEMENT "\\ufffd"

/* The four hexadecimal digits at TEXT, or -1. */
static int
read_unit (const char *text)
{
  int unit = 0;
  for (int i = 0; i < 4; i++) {
    int digit = g_ascii_xdigit_value (text[i]);
    if (digit < 0)
      return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

static gboolean
is_high (int unit)
{
  return unit >= 0xd800 && unit <= 0xdbff;
}

static gboolean
is_low (int unit)
{
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/* Appends what the "\u" at TEXT stands for, and says how long it is there. */
static gsize
repair_unit (GString *repaired, const char *text)
{
  int unit = read_unit (text + 2);
  if (is_high (unit) && text[6] == '\\' && text[7] == 'u' && is_low (read_unit (text + 8))) {
    g_string_append_len (repaired, text, 12);
    return 12;
  }
  if (unit < 0) {
    g_string_append_len (repaired, text, 2);
    return 2;
  }
  if (unit == 0 || is_high (unit) || is_low (unit))
    g_string_append (repaired, REPLACEMENT);
  else
    g_string_append_len (repaired, text, 6);
  return 6;
}

/* Appends what the "\" at TEXT, which is in a string, begins, and says how long it is there. */
static gsize
repair_escape (GString *repaired, const char *text)
{
  if (text[1] == 'u')
    return repair_unit (repaired, text);
  if (text[1] == '\'')
    g_string_append_c (repaired, '\'');
  else
    g_string_append_len (repaired, text, text[1] ? 2 : 1);
  return text[1] ? 2 : 1;
}

/* Appends what is between the three quotes at TEXT and the next as a string, and says how long it is there;
 * 0: there are no next ones. */
static gsize
repair_long_string (GString *repaired, const char *text)
{
  const char *from = text + strlen (JSON_REPAIR_LONG_QUOTE), *end = strstr (from, JSON_REPAIR_LONG_QUOTE);
  if (!end)
    return 0;
  g_autoptr (json_t) value = json_stringn (from, (gsize)(end - from));
  g_autofree char *string = json_to_text (value);
  g_string_append (repaired, string);
  return (gsize)(end - text) + strlen (JSON_REPAIR_LONG_QUOTE);
}

static GString *
repair (const char *text, gsize length)
{
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)length);
  GString *repaired = g_string_new (NULL);
  gboolean in_string = FALSE;
  for (const char *at = valid; *at;) {
    if (in_string && *at == '\\') {
      at += repair_escape (repaired, at);
      continue;
    }
    gsize length_there =
        !in_string && g_str_has_prefix (at, JSON_REPAIR_LONG_QUOTE) ? repair_long_string (repaired, at) : 0;
    if (length_there > 0) {
      at += length_there;
      continue;
    }
    if (*at == '"')
      in_string = !in_string;
    if (in_string && (guchar)*at < 0x20)
      g_string_append_printf (repaired, "\\u%04x", (guint)(guchar)*at);
    else
      g_string_append_c (repaired, *at);
    at++;
  }
  return repaired;
}

/* Whether VALUE is nested in more than MOST levels. */
static gboolean
is_deeper (const json_t *value, guint most)
{
  const char *name;
  gsize index;
  json_t *member;
  if (!json_is_array (value) && !json_is_object (value))
    return FALSE;
  if (most == 0)
    return TRUE;
  json_array_foreach (value, index, member)
  {
    if (is_deeper (member, most - 1))
      return TRUE;
  }
  json_object_foreach ((json_t *)(guintptr)value, name, member)
  {
    if (is_deeper (member, most - 1))
      return TRUE;
  }
  return FALSE;
}

json_t *
json_repair (const char *text, gsize length)
{
  json_t *value = json_loadb (text, length, JSON_DECODE_ANY, NULL);
  if (!value) {
    GString *repaired = repair (text, length);
    value = json_loadb (repaired->str, repaired->len, JSON_DECODE_ANY, NULL);
    g_string_free (repaired, TRUE);
  }
  if (is_deeper (value, DEPTH_MAX))
    g_clear_pointer (&value, json_decref);
  return value;
}

/* What is between the fences around TEXT, where there are some. */
static char *
without_fences (const char *text, gsize length)
{
  g_autofree char *copy = g_strndup (text, length);
  g_strstrip (copy);
  if (!g_str_has_prefix (copy, FENCE) || !g_str_has_suffix (copy, FENCE))
    return g_steal_pointer (&copy);
  const char *from = strchr (copy, '\n');
  gsize end = strlen (copy) - strlen (FENCE);
  if (!from || (gsize)(from - copy) > end)
    return g_steal_pointer (&copy);
  char *inner = g_strndup (from, end - (gsize)(from - copy));
  return g_strstrip (inner);
}

json_t *
json_repair_arguments (const char *text, gsize length)
{
  g_autofree char *bare = without_fences (text, length);
  if (bare[0] == '\0' || strcmp (bare, "null") == 0)
    return json_object ();
  json_t *value = json_repair (bare, strlen (bare));
  if (json_is_string (value)) {
    json_t *outer = value;
    value = json_repair (json_string_value (outer), json_string_length (outer));
    json_decref (outer);
  }
  if (!json_is_object (value))
    g_clear_pointer (&value, json_decref);
  return value;
}
