/* SPDX-License-Identifier: Apache-2.0 */
#include "models/mask.h"

#include <string.h>

#define STARS "***"

static gboolean
is_secret (const char *key)
{
  return key && strlen (key) >= MASK_MIN;
}

/* ---- parts ---- */

/* How many letters at TEXT are somewhere in KEY. */
static gsize
common (const char *key, const char *text)
{
  gsize most = 0;
  for (const char *at = key; *at; at++) {
    gsize length = 0;
    while (text[length] && at[length] == text[length])
      length++;
    most = MAX (most, length);
  }
  return most;
}

char *
mask_parts (const char *key, const char *text)
{
  gsize least = key ? MIN (strlen (key), MASK_MIN) : 0;
  if (least == 0)
    return g_strdup (text);
  GString *masked = g_string_new (NULL);
  while (*text) {
    gsize length = common (key, text);
    if (length >= least)
      g_string_append (masked, STARS);
    else
      g_string_append_c (masked, *text);
    text += length >= least ? length : 1;
  }
  return g_string_free (masked, FALSE);
}

/* ---- the whole ---- */

static char *
mask_whole (const char *key, const char *text)
{
  g_auto (GStrv) pieces = g_strsplit (text, key, -1);
  return g_strjoinv (STARS, pieces);
}

static json_t *
mask_text (const char *key, const json_t *value)
{
  g_autofree char *masked = mask_whole (key, json_string_value (value));
  return json_string (masked);
}

static json_t *
mask_object (const char *key, json_t *value)
{
  json_t *object = json_object (), *member;
  const char *name;
  json_object_foreach (value, name, member)
  {
    g_autofree char *masked = mask_whole (key, name);
    json_object_set_new (object, masked, mask_json (key, member));
  }
  return object;
}

json_t *
mask_json (const char *key, json_t *value)
{
  gsize index;
  json_t *member;
  if (!is_secret (key))
    return json_incref (value);
  if (json_is_string (value))
    return mask_text (key, value);
  if (json_is_object (value))
    return mask_object (key, value);
  if (!json_is_array (value))
    return json_incref (value);
  json_t *list = json_array ();
  json_array_foreach (value, index, member) json_array_append_new (list, mask_json (key, member));
  return list;
}

/* ---- in pieces ---- */

void
mask_init (struct mask *mask, const char *key, void (*saw) (gpointer data, const char *text, gsize length),
           gpointer saw_data)
{
  *mask = (struct mask){is_secret (key) ? key : NULL, saw, saw_data, g_string_new (NULL)};
}

static void
mask_tell (struct mask *mask, gsize length)
{
  if (length > 0 && mask->saw)
    mask->saw (mask->saw_data, mask->held->str, length);
  g_string_erase (mask->held, 0, (gssize)length);
}

/* Of what is held, how much at its end may be the beginning of the key. */
static gsize
open_end (const struct mask *mask)
{
  const GString *held = mask->held;
  for (gsize length = mask->key ? MIN (held->len, strlen (mask->key) - 1) : 0; length > 0; length--)
    if (memcmp (held->str + held->len - length, mask->key, length) == 0)
      return length;
  return 0;
}

void
mask_saw (gpointer data, const char *text, gsize length)
{
  struct mask *mask = data;
  if (!text) {
    g_string_truncate (mask->held, 0);
    if (mask->saw)
      mask->saw (mask->saw_data, NULL, 0);
    return;
  }
  g_string_append_len (mask->held, text, (gssize)length);
  if (mask->key) {
    g_autofree char *masked = mask_whole (mask->key, mask->held->str);
    g_string_assign (mask->held, masked);
  }
  mask_tell (mask, mask->held->len - open_end (mask));
}

void
mask_end (struct mask *mask)
{
  mask_tell (mask, mask->held->len);
}

void
mask_clear (struct mask *mask)
{
  g_string_free (mask->held, TRUE);
}
