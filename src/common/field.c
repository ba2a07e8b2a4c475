/* SPDX-License-Identifier: Apache-2.0 */
/* Objects against tables of fields. All problems are collected, because a model that hears of one at a time
 * calls as often. */
#include "common/field.h"

#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/text.h"

#define SHOWN_BYTES  40
#define PROBLEMS_MAX 16
#define EXACT_MAX    9007199254740992.0 /* 2**53: below it a double is each integer */

struct check {
  GString *problems;
  guint count;
  const struct field *lost; /* a name resembled none of these; or NULL */
};

static void field_complain (struct check *check, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
field_complain (struct check *check, const char *format, ...)
{
  if (++check->count > PROBLEMS_MAX)
    return;
  if (check->count > 1)
    g_string_append (check->problems, "; ");
  va_list arguments;
  va_start (arguments, format);
  g_string_append_vprintf (check->problems, format, arguments);
  va_end (arguments);
}

const char *
field_title (const struct field *fields)
{
  while (fields->name)
    fields++;
  return fields->text;
}

const struct field *
field_find (const struct field *fields, const char *name)
{
  for (; fields->name; fields++)
    if (strcmp (fields->name, name) == 0)
      return fields;
  return NULL;
}

/* ---- types ---- */

static const struct {
  enum field_type type;
  const char *words;
} type_words[] = {
    {FIELD_TEXT, "text"},       {FIELD_INTEGER, "an integer"},
    {FIELD_NUMBER, "a number"}, {FIELD_BOOLEAN, "true or false"},
    {FIELD_LIST, "a list"},     {FIELD_OBJECT, "an object"},
    {FIELD_NULL, "null"},
};

static const char *
field_words_of (guint types)
{
  for (gsize i = 0; i < G_N_ELEMENTS (type_words); i++)
    if (types & type_words[i].type)
      return type_words[i].words;
  return "nothing";
}

/* A number without a fraction is an integer, however it is written, as in JSON Schema. */
static gboolean
field_is_whole (const json_t *value)
{
  double real = json_real_value (value);
  return json_is_real (value) && real > -EXACT_MAX && real < EXACT_MAX && real == (double)(gint64)real;
}

static guint
field_type_of (const json_t *value)
{
  switch (json_typeof (value)) {
  case JSON_STRING:
    return FIELD_TEXT;
  case JSON_INTEGER:
    return FIELD_INTEGER | FIELD_NUMBER;
  case JSON_REAL:
    return FIELD_NUMBER | (field_is_whole (value) ? (guint)FIELD_INTEGER : 0);
  case JSON_TRUE:
  case JSON_FALSE:
    return FIELD_BOOLEAN;
  case JSON_ARRAY:
    return FIELD_LIST;
  case JSON_OBJECT:
    return FIELD_OBJECT;
  case JSON_NULL:
  default:
    return FIELD_NULL;
  }
}

gboolean
field_has_type (const json_t *value, guint types)
{
  return value && (field_type_of (value) & types);
}

static gint64
whole_value (const json_t *value)
{
  return json_is_real (value) ? (gint64)json_real_value (value) : (gint64)json_integer_value (value);
}

/* ITEM of a list or a map, which is of one of TYPES, in its normal form. The caller's. */
static json_t *
normal_item (json_t *item, guint types)
{
  return field_has_type (item, types & FIELD_INTEGER) ? json_integer (whole_value (item))
                                                      : json_incref (item);
}

/* ---- bounds ---- */

/* WHAT: " characters", " items", or a unit with its blank. */
static void
field_check_bounds (struct check *check, const char *name, const struct field *field, gint64 value,
                    const char *what)
{
  if (field->minimum == 0 && field->maximum == 0)
    return;
  if (value < field->minimum)
    field_complain (check, "%s must be at least %" G_GINT64_FORMAT "%s, not %" G_GINT64_FORMAT, name,
                    field->minimum, what, value);
  else if (value > field->maximum)
    field_complain (check, "%s must be at most %" G_GINT64_FORMAT "%s, not %" G_GINT64_FORMAT, name,
                    field->maximum, what, value);
}

char *
field_pattern (const struct field *field)
{
  if (!field->words)
    return g_strdup (field->pattern);
  g_autofree char *words = g_strjoinv ("|", (GStrv)(guintptr)field->words);
  return g_strdup_printf ("^(%s)$", words);
}

/* "csv, json or none". The caller's. */
static char *
list_words (const char *const *words)
{
  GString *list = g_string_new (words[0]);
  for (gsize i = 1; words[0] && words[i]; i++)
    g_string_append_printf (list, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
  return g_string_free (list, FALSE);
}

static gboolean
field_matches (const struct field *field, const char *text)
{
  if (field->words)
    return g_strv_contains (field->words, text);
  g_autoptr (GRegex) regex =
      field->pattern ? g_regex_new (field->pattern, G_REGEX_DOLLAR_ENDONLY, 0, NULL) : NULL;
  return !regex || g_regex_match (regex, text, 0, NULL);
}

static void
field_check_text (struct check *check, const char *name, const struct field *field, const char *text)
{
  guint before = check->count;
  field_check_bounds (check, name, field, (gint64)g_utf8_strlen (text, -1), " characters");
  if (check->count > before || field_matches (field, text))
    return;
  g_autofree char *shown = text_one_line (text, SHOWN_BYTES);
  g_autofree char *words = field->words ? list_words (field->words) : g_strdup (field->pattern_words);
  field_complain (check, "%s must be %s, not \"%s\"", name, words, shown);
}

static json_t *check_object (struct check *check, const char *path, const struct field *fields,
                             const json_t *object);

/* The caller's, or NULL with a complaint. */
static json_t *
check_items (struct check *check, const char *name, const struct field *field, const json_t *list)
{
  gsize index;
  json_t *item;
  guint before = check->count;
  field_check_bounds (check, name, field, (gint64)json_array_size (list), " items");
  if (check->count > before)
    return NULL;
  g_autoptr (json_t) normal = json_array ();
  json_array_foreach (list, index, item)
  {
    if (!(field_type_of (item) & field->items)) {
      field_complain (check, "each item of %s must be %s, not %s", name, field_words_of (field->items),
                      field_words_of (field_type_of (item)));
      return NULL;
    }
    if (field->members && json_is_object (item)) {
      g_autofree char *path = g_strdup_printf ("%s[%" G_GSIZE_FORMAT "].", name, index);
      json_t *checked = check_object (check, path, field->members, item);
      if (!checked)
        return NULL;
      json_array_append_new (normal, checked);
    } else
      json_array_append_new (normal, normal_item (item, field->items));
  }
  return g_steal_pointer (&normal);
}

/* An object whose names the caller chooses. The caller's, or NULL with a complaint. */
static json_t *
check_map (struct check *check, const char *name, const struct field *field, const json_t *map)
{
  const char *key;
  json_t *item;
  g_autoptr (json_t) normal = json_object ();
  field_check_bounds (check, name, field, (gint64)json_object_size (map), " names");
  json_object_foreach ((json_t *)(guintptr)map, key, item)
  {
    if (field->items != 0 && !(field_type_of (item) & field->items)) {
      field_complain (check, "each value of %s must be %s, not %s", name, field_words_of (field->items),
                      field_words_of (field_type_of (item)));
      return NULL;
    }
    json_object_set_new (normal, key, normal_item (item, field->items));
  }
  return g_steal_pointer (&normal);
}

/* VALUE of FIELD, called NAME, in its normal form, or NULL with a complaint. The caller's. */
static json_t *
check_value (struct check *check, const char *name, const struct field *field, json_t *value)
{
  guint before = check->count, type = field_type_of (value) & field->types;
  g_autofree char *unit = field->unit ? g_strdup_printf (" %s", field->unit) : g_strdup ("");
  json_t *normal = NULL;
  if (type == 0)
    field_complain (check, "%s must be %s, not %s", name, field_words_of (field->types),
                    field_words_of (field_type_of (value)));
  else if (type & FIELD_TEXT)
    field_check_text (check, name, field, json_string_value (value));
  else if (type & FIELD_INTEGER) {
    field_check_bounds (check, name, field, whole_value (value), unit);
    normal = json_integer (whole_value (value));
  } else if (type & FIELD_LIST)
    normal = check_items (check, name, field, value);
  else if ((type & FIELD_OBJECT) && field->members) {
    g_autofree char *path = g_strdup_printf ("%s.", name);
    normal = check_object (check, path, field->members, value);
  } else if (type & FIELD_OBJECT)
    normal = check_map (check, name, field, value);
  if (check->count == before)
    return normal ? normal : json_incref (value);
  json_decref (normal);
  return NULL;
}

/* ---- names ---- */

static void
complain_of_name (struct check *check, const char *path, const struct field *fields, const char *name)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (const struct field *field = fields; field->name; field++)
    text_consider (&guess, name, field->name);
  g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
  if (guess.best)
    field_complain (check, "there is no parameter \"%s%s\", did you mean %s?", path, shown, guess.best);
  else
    field_complain (check, "there is no parameter \"%s%s\"", path, shown);
  if (!guess.best && !check->lost)
    check->lost = fields;
}

/* Once, for an unknown parameter without a similar name. */
static void
name_parameters (struct check *check)
{
  g_string_append (check->problems, "; the parameters are");
  for (const struct field *field = check->lost; field->name; field++)
    g_string_append_printf (check->problems, "%s %s", field == check->lost ? "" : ",", field->name);
  if (!check->lost->name)
    g_string_append (check->problems, " none");
}

/* The caller's. */
static json_t *
standard_of (const struct field *field)
{
  return field->standard ? json_loads (field->standard, JSON_DECODE_ANY, NULL) : json_null ();
}

/* OBJECT with each of FIELDS filled in, or NULL with complaints. PATH is the prefix of the names in them. The
 * caller's. */
static json_t *
check_object (struct check *check, const char *path, const struct field *fields, const json_t *object)
{
  g_autoptr (json_t) normal = json_object ();
  guint before = check->count;
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)object, name, value)
  {
    if (!field_find (fields, name))
      complain_of_name (check, path, fields, name);
  }
  for (const struct field *field = fields; field->name; field++) {
    g_autofree char *full = *path ? g_strconcat (path, field->name, NULL) : NULL;
    value = json_object_get (object, field->name);
    if (value && !(field->optional && json_is_null (value)))
      value = check_value (check, full ? full : field->name, field, value);
    else if (field->optional)
      value = standard_of (field);
    else {
      field_complain (check, "%s is missing", full ? full : field->name);
      value = NULL;
    }
    if (value)
      json_object_set_new (normal, field->name, value);
  }
  return check->count == before ? g_steal_pointer (&normal) : NULL;
}

json_t *
field_check (const struct field *fields, const char *what, const json_t *object, GError **error)
{
  g_autoptr (GString) problems = g_string_new (NULL);
  struct check check = {problems, 0, NULL};
  json_t *normal = check_object (&check, "", fields, object);
  if (normal)
    return normal;
  if (check.count > PROBLEMS_MAX)
    g_string_append_printf (problems, "; and %u more", check.count - PROBLEMS_MAX);
  if (check.lost)
    name_parameters (&check);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s%s%s", what ? what : "", what ? ": " : "",
               problems->str);
  return NULL;
}

static json_t *
shorten_list (const struct field *members, const json_t *list)
{
  gsize index;
  json_t *item, *brief = json_array ();
  json_array_foreach (list, index, item)
  {
    json_array_append_new (brief, json_is_object (item) ? field_shorten (members, item) : json_incref (item));
  }
  return brief;
}

json_t *
field_shorten (const struct field *fields, const json_t *object)
{
  json_t *brief = json_object ();
  for (const struct field *field = fields; field->name; field++) {
    json_t *value = json_object_get (object, field->name);
    g_autoptr (json_t) standard = field->optional ? standard_of (field) : NULL;
    if (!value || (standard && json_equal (value, standard)))
      continue;
    if (field->members && json_is_object (value))
      json_object_set_new (brief, field->name, field_shorten (field->members, value));
    else if (field->members && json_is_array (value))
      json_object_set_new (brief, field->name, shorten_list (field->members, value));
    else
      json_object_set (brief, field->name, value);
  }
  return brief;
}

/* ---- answers ---- */

static gboolean
item_fits (const struct field *field, const json_t *item)
{
  return field_has_type (item, field->items) &&
         (!json_is_object (item) || !field->members || field_fits (field->members, item));
}

static gboolean
value_fits (const struct field *field, guint types, const json_t *value)
{
  const char *key;
  json_t *item;
  gsize index;
  if (!field_has_type (value, types))
    return FALSE;
  if (json_is_array (value))
    json_array_foreach (value, index, item)
    {
      if (!item_fits (field, item))
        return FALSE;
    }
  if (!json_is_object (value))
    return TRUE;
  if (field->members)
    return field_fits (field->members, value);
  json_object_foreach ((json_t *)(guintptr)value, key, item)
  {
    if (field->items != 0 && !field_has_type (item, field->items))
      return FALSE;
  }
  return TRUE;
}

gboolean
field_fits (const struct field *fields, const json_t *value)
{
  if (!json_is_object (value))
    return FALSE;
  for (const struct field *field = fields; field->name; field++) {
    const json_t *member = json_object_get (value, field->name);
    if (member ? !value_fits (field, field->types, member) : !field->optional)
      return FALSE;
  }
  return TRUE;
}
