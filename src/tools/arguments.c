/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments against parameters. All problems are gathered, because a model that hears of one at a time calls
 * as often. */
#include "tools/arguments.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"

#define SHOWN_BYTES   40
#define PROBLEMS_MOST 16
#define EXACT_MOST    9007199254740992.0 /* 2**53: below it a double is each integer */

struct check {
  GString *problems;
  guint count;
  gboolean lost; /* a name was like none that there is */
};

static void complain (struct check *check, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
complain (struct check *check, const char *format, ...)
{
  if (++check->count > PROBLEMS_MOST)
    return;
  if (check->count > 1)
    g_string_append (check->problems, "; ");
  va_list arguments;
  va_start (arguments, format);
  g_string_append_vprintf (check->problems, format, arguments);
  va_end (arguments);
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
words_of (guint types)
{
  for (gsize i = 0; i < G_N_ELEMENTS (type_words); i++)
    if (types & type_words[i].type)
      return type_words[i].words;
  return "nothing";
}

/* A number without a fraction is an integer, however it is written: so JSON Schema has it. */
static gboolean
is_whole (const json_t *value)
{
  double real = json_real_value (value);
  return json_is_real (value) && real > -EXACT_MOST && real < EXACT_MOST && real == (double)(gint64)real;
}

static guint
type_of (const json_t *value)
{
  switch (json_typeof (value)) {
  case JSON_STRING:
    return FIELD_TEXT;
  case JSON_INTEGER:
    return FIELD_INTEGER | FIELD_NUMBER;
  case JSON_REAL:
    return FIELD_NUMBER | (is_whole (value) ? (guint)FIELD_INTEGER : 0);
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

static gint64
whole_value (const json_t *value)
{
  return json_is_real (value) ? (gint64)json_real_value (value) : (gint64)json_integer_value (value);
}

/* ---- bounds ---- */

/* WHAT: " characters", " items", or a unit with its blank. */
static void
check_bounds (struct check *check, const struct field *field, gint64 value, const char *what)
{
  if (field->minimum == 0 && field->maximum == 0)
    return;
  if (value < field->minimum)
    complain (check, "%s must be at least %" G_GINT64_FORMAT "%s, not %" G_GINT64_FORMAT, field->name,
              field->minimum, what, value);
  else if (value > field->maximum)
    complain (check, "%s must be at most %" G_GINT64_FORMAT "%s, not %" G_GINT64_FORMAT, field->name,
              field->maximum, what, value);
}

static void
check_text (struct check *check, const struct field *field, const char *text)
{
  guint before = check->count;
  check_bounds (check, field, (gint64)g_utf8_strlen (text, -1), " characters");
  if (check->count > before || !field->pattern)
    return;
  g_autoptr (GRegex) regex = g_regex_new (field->pattern, G_REGEX_DOLLAR_ENDONLY, 0, NULL);
  if (g_regex_match (regex, text, 0, NULL))
    return;
  g_autofree char *shown = text_one_line (text, SHOWN_BYTES);
  complain (check, "%s must be %s, not \"%s\"", field->name, field->pattern_words, shown);
}

static void
check_items (struct check *check, const struct field *field, const json_t *list)
{
  gsize index;
  json_t *item;
  check_bounds (check, field, (gint64)json_array_size (list), " items");
  json_array_foreach (list, index, item)
  {
    if (type_of (item) & field->items)
      continue;
    complain (check, "each item of %s must be %s, not %s", field->name, words_of (field->items),
              words_of (type_of (item)));
    return;
  }
}

/* VALUE of FIELD in its normal form, or NULL with a complaint. The caller's. */
static json_t *
check_value (struct check *check, const struct field *field, json_t *value)
{
  guint before = check->count, type = type_of (value) & field->types;
  g_autofree char *unit = field->unit ? g_strdup_printf (" %s", field->unit) : g_strdup ("");
  json_t *normal = NULL;
  if (type == 0)
    complain (check, "%s must be %s, not %s", field->name, words_of (field->types),
              words_of (type_of (value)));
  else if (type & FIELD_TEXT)
    check_text (check, field, json_string_value (value));
  else if (type & FIELD_INTEGER) {
    check_bounds (check, field, whole_value (value), unit);
    normal = json_integer (whole_value (value));
  } else if (type & FIELD_LIST)
    check_items (check, field, value);
  if (check->count == before)
    return normal ? normal : json_incref (value);
  json_decref (normal);
  return NULL;
}

/* ---- names ---- */

static void
complain_of_name (struct check *check, const struct tool *tool, const char *name)
{
  struct text_guess guess = TEXT_GUESS_NONE;
  for (const struct field *field = tool->parameters; field->name; field++)
    text_consider (&guess, name, field->name);
  g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
  if (guess.best)
    complain (check, "there is no parameter \"%s\", did you mean %s?", shown, guess.best);
  else
    complain (check, "there is no parameter \"%s\"", shown);
  check->lost = check->lost || !guess.best;
}

/* Once, for whoever named a parameter that is like none. */
static void
name_parameters (struct check *check, const struct tool *tool)
{
  g_string_append (check->problems, "; the parameters are");
  for (const struct field *field = tool->parameters; field->name; field++)
    g_string_append_printf (check->problems, "%s %s", field == tool->parameters ? "" : ",", field->name);
  if (!tool->parameters->name)
    g_string_append (check->problems, " none");
}

json_t *
arguments_check (const struct tool *tool, const json_t *arguments, GError **error)
{
  g_autoptr (json_t) normal = json_object ();
  g_autoptr (GString) problems = g_string_new (NULL);
  struct check check = {problems, 0, FALSE};
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)arguments, name, value)
  {
    if (!field_find (tool->parameters, name))
      complain_of_name (&check, tool, name);
  }
  for (const struct field *field = tool->parameters; field->name; field++) {
    value = json_object_get (arguments, field->name);
    if (value && !(field->optional && json_is_null (value)))
      value = check_value (&check, field, value);
    else if (field->optional)
      value = field->standard ? json_loads (field->standard, JSON_DECODE_ANY, NULL) : json_null ();
    else {
      complain (&check, "%s is missing", field->name);
      value = NULL;
    }
    if (value)
      json_object_set_new (normal, field->name, value);
  }
  if (check.count == 0)
    return g_steal_pointer (&normal);
  if (check.count > PROBLEMS_MOST)
    g_string_append_printf (problems, "; and %u more", check.count - PROBLEMS_MOST);
  if (check.lost)
    name_parameters (&check, tool);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: %s", tool->name, problems->str);
  return NULL;
}
