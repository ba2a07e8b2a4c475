/* SPDX-License-Identifier: Apache-2.0 */
/* Fields as members of a struct: the table says where each stands, and its type how it is kept. */
#include "common/field.h"

#include <string.h>

#include "common/json.h"

enum keeping { KEEP_PLAIN, KEEP_TEXT, KEEP_INTEGER, KEEP_BOOLEAN, KEEP_TEXTS, KEEP_JSON };

static enum keeping
keeping_of (const struct field *field)
{
  if (field->types == 0)
    return KEEP_PLAIN;
  if (field->types & FIELD_TEXT)
    return KEEP_TEXT;
  if (field->types & FIELD_INTEGER)
    return KEEP_INTEGER;
  if (field->types & FIELD_BOOLEAN)
    return KEEP_BOOLEAN;
  return (field->types & FIELD_LIST) && field->items == FIELD_TEXT ? KEEP_TEXTS : KEEP_JSON;
}

/* The member of TARGET that FIELD is, of TYPE. */
#define AT(type, field, target) ((type *)(void *)((char *)(guintptr)(target) + (field)->offset))

static GStrv
field_place_texts_of (const json_t *list)
{
  GStrv texts = json_is_array (list) ? g_new0 (char *, json_array_size (list) + 1) : NULL;
  gsize index;
  json_t *item;
  json_array_foreach (list, index, item)
  {
    texts[index] = g_strdup (json_string_value (item));
  }
  return texts;
}

static json_t *
field_place_list_of (GStrv texts)
{
  json_t *list = texts ? json_array () : json_null ();
  for (gsize i = 0; texts && texts[i]; i++)
    json_array_append_new (list, json_string (texts[i]));
  return list;
}

static void
clear_one (const struct field *field, gpointer target)
{
  switch (keeping_of (field)) {
  case KEEP_TEXT:
    g_clear_pointer (AT (char *, field, target), g_free);
    break;
  case KEEP_PLAIN:
  case KEEP_INTEGER:
  case KEEP_BOOLEAN:
    memset (AT (char, field, target), 0, field->size);
    break;
  case KEEP_TEXTS:
    g_clear_pointer (AT (GStrv, field, target), g_strfreev);
    break;
  case KEEP_JSON:
  default:
    g_clear_pointer (AT (json_t *, field, target), json_decref);
    break;
  }
}

static void
fill_one (const struct field *field, json_t *value, gpointer target)
{
  clear_one (field, target);
  switch (keeping_of (field)) {
  case KEEP_PLAIN:
    break;
  case KEEP_TEXT:
    *AT (char *, field, target) = g_strdup (json_string_value (value));
    break;
  case KEEP_INTEGER:
    if (field->size == sizeof (guint32))
      *AT (guint32, field, target) = (guint32)json_integer_value (value);
    else
      *AT (guint64, field, target) = (guint64)json_integer_value (value);
    break;
  case KEEP_BOOLEAN:
    *AT (gboolean, field, target) = json_is_true (value);
    break;
  case KEEP_TEXTS:
    *AT (GStrv, field, target) = field_place_texts_of (value);
    break;
  case KEEP_JSON:
  default:
    *AT (json_t *, field, target) = json_is_null (value) ? NULL : json_incref (value);
    break;
  }
}

static json_t *
field_place_write_one (const struct field *field, gconstpointer target)
{
  switch (keeping_of (field)) {
  case KEEP_PLAIN:
    return NULL;
  case KEEP_TEXT:
    return json_text_or_null (*AT (char *, field, target));
  case KEEP_INTEGER:
    return json_integer (field->size == sizeof (guint32) ? (json_int_t)*AT (guint32, field, target)
                                                         : (json_int_t)*AT (guint64, field, target));
  case KEEP_BOOLEAN:
    return json_boolean (*AT (gboolean, field, target));
  case KEEP_TEXTS:
    return field_place_list_of (*AT (GStrv, field, target));
  case KEEP_JSON:
  default:
    return *AT (json_t *, field, target) ? json_incref (*AT (json_t *, field, target)) : json_null ();
  }
}

static void
copy_one (const struct field *field, gconstpointer source, gpointer target)
{
  clear_one (field, target);
  switch (keeping_of (field)) {
  case KEEP_TEXT:
    *AT (char *, field, target) = g_strdup (*AT (char *, field, source));
    break;
  case KEEP_PLAIN:
  case KEEP_INTEGER:
  case KEEP_BOOLEAN:
    memcpy (AT (char, field, target), AT (char, field, source), field->size);
    break;
  case KEEP_TEXTS:
    *AT (GStrv, field, target) = g_strdupv (*AT (GStrv, field, source));
    break;
  case KEEP_JSON:
  default:
    *AT (json_t *, field, target) = json_deep_copy (*AT (json_t *, field, source));
    break;
  }
}

void
field_fill (const struct field *fields, const json_t *object, gpointer target)
{
  for (const struct field *field = fields; field->name; field++)
    if (field->size > 0)
      fill_one (field, json_object_get (object, field->name), target);
}

json_t *
field_write (const struct field *fields, gconstpointer target)
{
  json_t *object = json_object ();
  for (const struct field *field = fields; field->name; field++)
    if (field->size > 0 && field->types != 0)
      json_object_set_new (object, field->name, field_place_write_one (field, target));
  return object;
}

void
field_copy (const struct field *fields, guint marks, gconstpointer source, gpointer target)
{
  for (const struct field *field = fields; field->name; field++)
    if (field->size > 0 && (marks == 0 || (field->marks & marks)))
      copy_one (field, source, target);
}

void
field_clear (const struct field *fields, gpointer target)
{
  for (const struct field *field = fields; field->name; field++)
    if (field->size > 0)
      clear_one (field, target);
}
