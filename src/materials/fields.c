/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/fields.h"

#include <glib.h>
#include <string.h>

struct columns {
  json_t *row;
  guint left;
};

/* OPTIMADE allows a-z, 0-9 and "_" in names, but not everywhere in those of members. */
static void
fields_append_name (GString *column, const char *name)
{
  for (; *name; name++)
    g_string_append_c (column, g_ascii_isalnum (*name) || strchr ("_-+.", *name) ? *name : '_');
}

static gboolean
fields_is_value (const json_t *value)
{
  return json_is_number (value) || json_is_boolean (value) ||
         (json_is_string (value) && json_string_length (value) <= FIELDS_TEXT_MAX);
}

static void
fields_set_value (struct columns *columns, const char *column, const json_t *value)
{
  if (!columns->left || !fields_is_value (value) || json_object_get (columns->row, column))
    return;
  json_object_set (columns->row, column, (json_t *)value);
  columns->left--;
}

/* Sets VALUE, or its members, under the name COLUMN, which is as before afterwards. */
static void
set_column (struct columns *columns, GString *column, const json_t *value, int depth)
{
  if (column->len > FIELDS_NAME_MAX)
    return;
  if (!json_is_object (value)) {
    fields_set_value (columns, column->str, value);
    return;
  }
  const char *name;
  json_t *member;
  gsize length = column->len;
  json_object_foreach ((json_t *)value, name, member)
  {
    if (depth >= FIELDS_DEPTH_MAX || !columns->left)
      return;
    g_string_append_c (column, '_');
    fields_append_name (column, name);
    set_column (columns, column, member, depth + 1);
    g_string_truncate (column, length);
  }
}

/* NAME, which begins with "_", without PROVIDER as its prefix. */
static const char *
without_prefix (const char *name, const char *provider)
{
  gsize length = strlen (provider);
  if (g_str_has_prefix (name + 1, provider) && name[1 + length] == '_')
    return name + length + 2;
  return name + 1;
}

void
fields_set (json_t *row, const char *provider, const json_t *attributes)
{
  struct columns columns = {.row = row, .left = FIELDS_MAX};
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)attributes, name, value)
  {
    if (name[0] != '_')
      continue;
    g_autoptr (GString) column = g_string_new (provider);
    g_string_append_c (column, '_');
    fields_append_name (column, without_prefix (name, provider));
    set_column (&columns, column, value, 1);
  }
}
