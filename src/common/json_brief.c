/* SPDX-License-Identifier: Apache-2.0 */
/* JSON made short. */
#include "common/json_brief.h"

#include <string.h>

#include "common/json.h"

#define ITEM_BYTES 8 /* what each item counts for beside its texts */

static void
json_brief_spend (struct json_bounds *bounds, gsize bytes)
{
  bounds->bytes -= MIN (bytes, bounds->bytes);
}

/* The longest beginning of TEXT, valid UTF-8, that is at most MOST bytes. */
static gsize
whole_characters (const char *text, gsize most)
{
  while (most > 0 && ((guchar)text[most] & 0xC0) == 0x80)
    most--;
  return most;
}

static json_t *
brief_text (const char *text, gsize length, struct json_bounds *bounds)
{
  gsize most = MIN (bounds->text_bytes, bounds->bytes);
  if (length <= most) {
    json_brief_spend (bounds, length);
    return json_stringn_nocheck (text, length);
  }
  gsize kept = whole_characters (text, most);
  json_brief_spend (bounds, kept);
  g_autofree char *cut = g_strdup_printf ("%.*s... (%" G_GSIZE_FORMAT " bytes)", (int)kept, text, length);
  return json_string_nocheck (cut);
}

static json_t *
brief_array (const json_t *array, struct json_bounds *bounds)
{
  json_t *copy = json_array ();
  gsize size = json_array_size (array), i;
  for (i = 0; i < size && i < bounds->items && bounds->bytes > 0; i++)
    json_array_append_new (copy, json_brief (json_array_get (array, i), bounds));
  if (i < size) {
    g_autofree char *rest = g_strdup_printf ("... (%" G_GSIZE_FORMAT " items)", size);
    json_array_append_new (copy, json_string (rest));
  }
  return copy;
}

static json_t *
brief_object (const json_t *object, struct json_bounds *bounds)
{
  json_t *copy = json_object ();
  const char *name;
  json_t *value;
  gsize size = json_object_size (object), i = 0;
  json_object_foreach ((json_t *)(guintptr)object, name, value)
  {
    if (i == bounds->items || bounds->bytes == 0)
      break;
    g_autoptr (json_t) key = brief_text (name, strlen (name), bounds);
    json_object_set_new (copy, json_string_value (key), json_brief (value, bounds));
    i++;
  }
  if (i < size)
    json_object_set_new (copy, "...", json_integer ((json_int_t)size));
  return copy;
}

json_t *
json_brief (const json_t *value, struct json_bounds *bounds)
{
  json_brief_spend (bounds, ITEM_BYTES);
  if (json_is_string (value))
    return brief_text (json_string_value (value), json_string_length (value), bounds);
  if (!json_is_array (value) && !json_is_object (value))
    return json_incref ((json_t *)(guintptr)value);
  if (bounds->depth == 0)
    return json_string ("...");
  bounds->depth--;
  json_t *copy = json_is_array (value) ? brief_array (value, bounds) : brief_object (value, bounds);
  bounds->depth++;
  return copy;
}

json_t *
json_brief_text (const char *text, struct json_bounds *bounds)
{
  if (!text)
    return json_null ();
  g_autofree char *clean = g_utf8_validate (text, -1, NULL) ? NULL : g_utf8_make_valid (text, -1);
  const char *valid = clean ? clean : text;
  return brief_text (valid, strlen (valid), bounds);
}
