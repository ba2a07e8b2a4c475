/* SPDX-License-Identifier: Apache-2.0 */
/* The form of an analysis: tables of what its members may be. All mistakes are reported together, since a
 * model that wrote it has few attempts. */
#include "library/analysis_form.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "engine/files/workspace.h"

#define FORM_BYTES    (256 << 10)
#define FORM_DEPTH    16
#define TABLES_MAX    32
#define CHECKS_MAX    100
#define ITEMS_MAX     1000
#define NAME_BYTES    200
#define ROWS_MAX      100
#define FAULTS_MAX    20
#define SHOWN_BYTES   60
#define MESSAGE_BYTES 8000
#define PATTERN_BYTES 1000
#define COUNT_MAX     ((json_int_t)1 << 53)

struct form {
  GPtrArray *faults;    /* sentences */
  const json_t *tables; /* the known names; NULL: none */
};

/* WHERE has the form "expect[2].by". */
static void fault (struct form *form, const char *where, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
fault (struct form *form, const char *where, const char *format, ...)
{
  if (form->faults->len >= FAULTS_MAX)
    return;
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (form->faults, g_strdup_printf ("%s %s", where, text));
}

/* ---- kinds of values ---- */

static gboolean
analysis_form_is_name (const json_t *value)
{
  return json_string_length (value) > 0 && json_string_length (value) <= NAME_BYTES;
}

static gboolean
is_list_of (const json_t *value, gboolean (*fits) (const json_t *value))
{
  gsize i;
  json_t *item;
  json_array_foreach (value, i, item)
  {
    if (!fits (item))
      return FALSE;
  }
  return json_array_size (value) > 0 && json_array_size (value) <= ITEMS_MAX;
}

static gboolean
is_names (const json_t *value)
{
  return is_list_of (value, analysis_form_is_name);
}

static gboolean
is_name_or_names (const json_t *value)
{
  return analysis_form_is_name (value) || is_names (value);
}

static gboolean
analysis_form_is_count (const json_t *value)
{
  return json_is_integer (value) && json_integer_value (value) >= 0 &&
         json_integer_value (value) <= COUNT_MAX;
}

static gboolean
is_rows (const json_t *value)
{
  return json_is_integer (value) && json_integer_value (value) >= 0 && json_integer_value (value) <= ROWS_MAX;
}

static gboolean
is_position (const json_t *value)
{
  return json_is_integer (value) && llabs (json_integer_value (value)) <= COUNT_MAX;
}

static gboolean
analysis_form_is_number (const json_t *value)
{
  return json_is_number (value);
}

static gboolean
is_tolerance (const json_t *value)
{
  return json_is_number (value) && json_number_value (value) >= 0;
}

static gboolean
is_bound (const json_t *value)
{
  return json_is_number (value) || analysis_form_is_name (value);
}

static gboolean
is_switch (const json_t *value)
{
  return json_is_boolean (value);
}

static gboolean
is_any (const json_t *value)
{
  return value != NULL;
}

static gboolean
is_scalar (const json_t *value)
{
  return !json_is_object (value) && !json_is_array (value);
}

static gboolean
is_scalars (const json_t *value)
{
  return is_list_of (value, is_scalar);
}

static gboolean
is_pattern (const json_t *value)
{
  return json_string_length (value) > 0 && json_string_length (value) <= PATTERN_BYTES;
}

static gboolean
is_character (const json_t *value)
{
  return g_utf8_strlen (json_is_string (value) ? json_string_value (value) : "", -1) == 1;
}

static gboolean
is_character_or_none (const json_t *value)
{
  return is_character (value) || (json_is_string (value) && json_string_length (value) == 0);
}

static gboolean
analysis_form_is_file (const json_t *value)
{
  return json_is_string (value) && workspace_check_name (json_string_value (value), NULL);
}

static gboolean
is_list (const json_t *value)
{
  return json_is_array (value);
}

static gboolean
analysis_form_is_word (const json_t *value)
{
  return json_is_string (value);
}

enum kind {
  KIND_NAME,
  KIND_NAMES,
  KIND_NAME_OR_NAMES,
  KIND_TABLE,
  KIND_COUNT,
  KIND_ROWS,
  KIND_POSITION,
  KIND_NUMBER,
  KIND_TOLERANCE,
  KIND_BOUND,
  KIND_SWITCH,
  KIND_ANY,
  KIND_SCALARS,
  KIND_PATTERN,
  KIND_CHARACTER,
  KIND_CHARACTER_OR_NONE,
  KIND_FILE,
  KIND_LIST,
  KIND_MODE,
  KIND_DIRECTION,
  KIND_PERIOD,
  KIND_TYPE,
  KIND_RESULTS,
  KIND_MARK,
};

static const char *const modes[] = {"scan", "run", NULL};
static const char *const directions[] = {"asc", "desc", NULL};
static const char *const periods[] = {"day", "week", "month", "quarter", "year", NULL};
static const char *const types[] = {"integer", "number", "text", "date", "boolean", NULL};
static const char *const results[] = {"table", "series",  "number", "text",  "boolean", "date",
                                      "list",  "mapping", "none",   "other", NULL};
static const char *const marks[] = {".", ",", NULL};

static const struct {
  gboolean (*fits) (const json_t *value);
  const char *wanted;         /* "must be ..." */
  const char *const *choices; /* of a text, or of each item of a list; or NULL */
} kind_table[] = {
    [KIND_NAME] = {analysis_form_is_name, "a text of at most 200 bytes that is not empty", NULL},
    [KIND_NAMES] = {is_names, "a list of texts", NULL},
    [KIND_NAME_OR_NAMES] = {is_name_or_names, "a text or a list of texts", NULL},
    [KIND_TABLE] = {analysis_form_is_name, "the name of a table", NULL},
    [KIND_COUNT] = {analysis_form_is_count, "a whole number from 0", NULL},
    [KIND_ROWS] = {is_rows, "a whole number from 0 to 100", NULL},
    [KIND_POSITION] = {is_position, "a whole number", NULL},
    [KIND_NUMBER] = {analysis_form_is_number, "a number", NULL},
    [KIND_TOLERANCE] = {is_tolerance, "a number from 0", NULL},
    [KIND_BOUND] = {is_bound, "a number, or a date as text", NULL},
    [KIND_SWITCH] = {is_switch, "true or false", NULL},
    [KIND_ANY] = {is_any, "there", NULL},
    [KIND_SCALARS] = {is_scalars, "a list of texts, numbers, true, false or null", NULL},
    [KIND_PATTERN] = {is_pattern, "a regular expression of at most 1000 bytes", NULL},
    [KIND_CHARACTER] = {is_character, "one character", NULL},
    [KIND_CHARACTER_OR_NONE] = {is_character_or_none, "one character, or an empty text", NULL},
    [KIND_FILE] = {analysis_form_is_file, "the name of a file that is put in", NULL},
    [KIND_LIST] = {is_list, "a list", NULL},
    [KIND_MODE] = {analysis_form_is_word, NULL, modes},
    [KIND_DIRECTION] = {analysis_form_is_word, NULL, directions},
    [KIND_PERIOD] = {analysis_form_is_word, NULL, periods},
    [KIND_TYPE] = {analysis_form_is_word, NULL, types},
    [KIND_RESULTS] = {is_name_or_names, NULL, results},
    [KIND_MARK] = {analysis_form_is_word, NULL, marks},
};

static gboolean
analysis_form_is_choice (const json_t *value, const char *const *choices)
{
  gsize i;
  json_t *item;
  if (json_is_string (value))
    return g_strv_contains (choices, json_string_value (value));
  json_array_foreach (value, i, item)
  {
    if (!g_strv_contains (choices, json_string_value (item)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
has_table (const json_t *tables, const char *name)
{
  gsize i;
  json_t *table;
  json_array_foreach (tables, i, table)
  {
    if (g_strcmp0 (json_string_value (table), name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Whether NAME is one of TABLES, or may be one of several in such a file: "book.Sheet1". */
static gboolean
may_be_table (const json_t *tables, const char *name)
{
  gsize i;
  json_t *table;
  json_array_foreach (tables, i, table)
  {
    const char *file = json_string_value (table);
    if (file && g_str_has_prefix (name, file) && name[strlen (file)] == '.')
      return TRUE;
  }
  return has_table (tables, name);
}

static void
look_at_value (struct form *form, const char *where, enum kind kind, const json_t *value)
{
  const char *const *choices = kind_table[kind].choices;
  if (!kind_table[kind].fits (value) || (choices && !analysis_form_is_choice (value, choices))) {
    g_autofree char *list = choices ? g_strjoinv (", ", (GStrv)(guintptr)choices) : NULL;
    fault (form, where, choices ? "must be one of: %s" : "must be %s",
           choices ? list : kind_table[kind].wanted);
    return;
  }
  if (kind == KIND_TABLE && !may_be_table (form->tables, json_string_value (value))) {
    g_autofree char *shown = text_one_line (json_string_value (value), SHOWN_BYTES);
    fault (form, where, "names a table that is not given: %s", shown);
  }
}

/* ---- objects ---- */

#define MEMBERS_MAX 9

struct member {
  const char *name;
  enum kind kind;
  gboolean is_needed;
};

/* Ends with a member without a name. */
static const struct member *
analysis_form_find_member (const struct member *members, const char *name)
{
  for (gsize i = 0; i < MEMBERS_MAX && members[i].name; i++)
    if (strcmp (members[i].name, name) == 0)
      return &members[i];
  return NULL;
}

static char *
list_members (const struct member *members)
{
  GString *list = g_string_new (NULL);
  for (gsize i = 0; i < MEMBERS_MAX && members[i].name; i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ", " : "", members[i].name);
  return g_string_free (list, FALSE);
}

/* Whether VALUE is an object; its members except SPARED are checked. A null counts as missing. */
static gboolean
look_at_members (struct form *form, const char *where, const struct member *members, const json_t *value,
                 const char *spared)
{
  const char *name;
  json_t *item;
  if (!json_is_object (value)) {
    fault (form, where, "must be an object");
    return FALSE;
  }
  json_object_foreach ((json_t *)(guintptr)value, name, item)
  {
    const struct member *member = analysis_form_find_member (members, name);
    g_autofree char *shown = text_one_line (name, SHOWN_BYTES);
    g_autofree char *place = g_strdup_printf ("%s%s%s", where, where[0] ? "." : "", shown);
    if (member && (!json_is_null (item) || member->kind == KIND_ANY))
      look_at_value (form, place, member->kind, item);
    else if (!member && g_strcmp0 (name, spared) != 0) {
      g_autofree char *known = list_members (members);
      fault (form, place, "is unknown (there are: %s)", known[0] ? known : "none");
    }
  }
  for (gsize i = 0; i < MEMBERS_MAX && members[i].name; i++) {
    const json_t *found = json_object_get (value, members[i].name);
    if (members[i].is_needed && (!found || (json_is_null (found) && members[i].kind != KIND_ANY)))
      fault (form, where[0] ? where : "the analysis", "lacks %s", members[i].name);
  }
  return TRUE;
}

/* ---- checks ---- */

/* What the runner checks (runner/python/checks.py). */
static const struct check {
  const char *name;
  struct member members[MEMBERS_MAX];
  const char *some_of[4]; /* at least one of them is required; ends with NULL */
  const char *text;
} check_table[] = {
    {"columns", {{"names", KIND_NAMES, TRUE}, {"table", KIND_TABLE, FALSE}}, {NULL}, "the columns are there"},
    {"shape",
     {{"rows", KIND_COUNT, FALSE}, {"columns", KIND_COUNT, FALSE}, {"table", KIND_TABLE, FALSE}},
     {"rows", "columns", NULL},
     "exactly so many rows and columns"},
    {"rows",
     {{"least", KIND_COUNT, FALSE}, {"most", KIND_COUNT, FALSE}, {"table", KIND_TABLE, FALSE}},
     {"least", "most", NULL},
     "at least, and at most, so many rows"},
    {"length",
     {{"least", KIND_COUNT, FALSE}, {"most", KIND_COUNT, FALSE}, {"equals", KIND_COUNT, FALSE}},
     {"least", "most", "equals", NULL},
     "so many items of a list or mapping, rows of a table, or characters of a text"},
    {"not_empty", {{NULL, KIND_ANY, FALSE}}, {NULL}, "there is a result, and it is not empty"},
    {"kind", {{"is", KIND_RESULTS, TRUE}}, {NULL}, "the result is a table, a number, a text ..."},
    {"type",
     {{"column", KIND_NAME, TRUE}, {"is", KIND_TYPE, TRUE}, {"table", KIND_TABLE, FALSE}},
     {NULL},
     "the values of the column are of that type"},
    {"order",
     {{"by", KIND_NAME_OR_NAMES, TRUE}, {"direction", KIND_DIRECTION, TRUE}},
     {NULL},
     "the rows are sorted by the columns, ascending (asc) or descending (desc)"},
    {"unique", {{"columns", KIND_NAMES, TRUE}}, {NULL}, "no two rows have the same values in the columns"},
    {"numeric",
     {{"columns", KIND_NAMES, TRUE}, {"table", KIND_TABLE, FALSE}},
     {NULL},
     "the columns hold numbers"},
    {"no_missing",
     {{"columns", KIND_NAMES, FALSE}, {"table", KIND_TABLE, FALSE}},
     {NULL},
     "no value is missing (NaN) in the columns, or anywhere"},
    {"range",
     {{"column", KIND_NAME, FALSE}, {"least", KIND_BOUND, FALSE}, {"most", KIND_BOUND, FALSE}},
     {"least", "most", NULL},
     "the values of the column, or the result itself, lie within these bounds"},
    {"value",
     {{"equals", KIND_ANY, TRUE},
      {"tolerance", KIND_TOLERANCE, FALSE},
      {"column", KIND_NAME, FALSE},
      {"row", KIND_POSITION, FALSE}},
     {NULL},
     "the result is this; of a table, the value of the column in that row (0 is the first, -1 the last)"},
    {"sum",
     {{"column", KIND_NAME, TRUE}, {"equals", KIND_NUMBER, TRUE}, {"tolerance", KIND_TOLERANCE, FALSE}},
     {NULL},
     "the column adds up to this"},
    {"same_sum",
     {{"column", KIND_NAME, TRUE},
      {"table", KIND_TABLE, TRUE},
      {"table_column", KIND_NAME, FALSE},
      {"tolerance", KIND_TOLERANCE, FALSE}},
     {NULL},
     "the column adds up to what the column of a table that was given adds up to"},
    {"dates",
     {{"column", KIND_NAME, TRUE},
      {"every", KIND_PERIOD, TRUE},
      {"by", KIND_NAME_OR_NAMES, FALSE},
      {"gaps", KIND_SWITCH, FALSE}},
     {NULL},
     "one row for each day, week, month, quarter or year (and each value of `by`), without gaps unless gaps "
     "is true"},
    {"contains",
     {{"values", KIND_SCALARS, TRUE}, {"column", KIND_NAME, FALSE}},
     {NULL},
     "these values are in the column, or in the list or text"},
    {"only",
     {{"column", KIND_NAME, TRUE}, {"values", KIND_SCALARS, TRUE}},
     {NULL},
     "no others than these values are in the column"},
    {"known",
     {{"column", KIND_NAME, TRUE}, {"table", KIND_TABLE, TRUE}, {"table_column", KIND_NAME, FALSE}},
     {NULL},
     "each value of the column is in that column of a table that was given"},
    {"distinct",
     {{"column", KIND_NAME, TRUE},
      {"least", KIND_COUNT, FALSE},
      {"most", KIND_COUNT, FALSE},
      {"equals", KIND_COUNT, FALSE}},
     {"least", "most", "equals", NULL},
     "the column has so many different values"},
    {"matches",
     {{"pattern", KIND_PATTERN, TRUE}, {"column", KIND_NAME, FALSE}},
     {NULL},
     "each text of the column, or the result itself, is matched whole by the regular expression"},
};

static const struct check *
find_check (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (check_table); i++)
    if (g_strcmp0 (check_table[i].name, name) == 0)
      return &check_table[i];
  return NULL;
}

static gboolean
says_one_of (const json_t *value, const char *const *names)
{
  for (gsize i = 0; names[i]; i++)
    if (json_object_get (value, names[i]) && !json_is_null (json_object_get (value, names[i])))
      return TRUE;
  return !names[0];
}

static void
look_at_check (struct form *form, const char *where, const json_t *value)
{
  const char *name = json_string_value (json_object_get (value, "check"));
  const struct check *check = find_check (name);
  if (!check) {
    GString *known = g_string_new (NULL);
    for (gsize i = 0; i < G_N_ELEMENTS (check_table); i++)
      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", check_table[i].name);
    fault (form, where, "must be an object whose check is one of: %s", known->str);
    g_string_free (known, TRUE);
    return;
  }
  if (!look_at_members (form, where, check->members, value, "check"))
    return;
  if (!says_one_of (value, check->some_of)) {
    g_autofree char *list = g_strjoinv (", ", (GStrv)(guintptr)check->some_of);
    fault (form, where, "(%s) needs one of: %s", check->name, list);
  }
}

static void
look_at_expect (struct form *form, const json_t *expect)
{
  gsize i;
  json_t *item;
  if (!json_is_array (expect) || json_array_size (expect) > CHECKS_MAX) {
    fault (form, "expect", "must be a list of at most %d checks", CHECKS_MAX);
    return;
  }
  json_array_foreach (expect, i, item)
  {
    g_autofree char *where = g_strdup_printf ("expect[%zu]", i);
    look_at_check (form, where, item);
  }
}

char *
analysis_form_describe_checks (void)
{
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (check_table); i++) {
    const struct member *members = check_table[i].members;
    g_string_append_printf (text, "%s {", check_table[i].name);
    for (gsize at = 0; at < MEMBERS_MAX && members[at].name; at++)
      g_string_append_printf (text, "%s%s%s", at > 0 ? ", " : "", members[at].name,
                              members[at].is_needed ? "" : "?");
    g_string_append_printf (text, "}: %s\n", check_table[i].text);
  }
  return g_string_free (text, FALSE);
}

/* ---- tables ---- */

static const struct member option_members[MEMBERS_MAX] = {
    {"delimiter", KIND_CHARACTER, FALSE}, {"quote", KIND_CHARACTER_OR_NONE, FALSE},
    {"encoding", KIND_NAME, FALSE},       {"header", KIND_SWITCH, FALSE},
    {"decimal", KIND_MARK, FALSE},        {"thousands", KIND_CHARACTER_OR_NONE, FALSE},
    {"day_first", KIND_SWITCH, FALSE},    {"table", KIND_NAME, FALSE},
};

static const struct member table_members[MEMBERS_MAX] = {
    {"name", KIND_NAME, TRUE},
    {"file", KIND_FILE, TRUE},
    {"original", KIND_NAME, FALSE},
    {"options", KIND_ANY, FALSE},
};

/* The names of the tables in LIST. */
static json_t *
look_at_tables (struct form *form, const json_t *list)
{
  json_t *names = json_array ();
  gsize i;
  json_t *table;
  if (json_array_size (list) == 0 || json_array_size (list) > TABLES_MAX)
    fault (form, "tables", "must be a list of 1 to %d tables", TABLES_MAX);
  json_array_foreach (list, i, table)
  {
    g_autofree char *where = g_strdup_printf ("tables[%zu]", i);
    g_autofree char *of_options = g_strdup_printf ("%s.options", where);
    json_t *name = json_object_get (table, "name"), *options = json_object_get (table, "options");
    if (i >= TABLES_MAX || !look_at_members (form, where, table_members, table, NULL))
      continue;
    if (options && !json_is_null (options))
      look_at_members (form, of_options, option_members, options, NULL);
    if (has_table (names, json_string_value (name)))
      fault (form, where, "has the name of another table");
    else if (json_is_string (name))
      json_array_append (names, name);
  }
  return names;
}

/* ---- the whole ---- */

static const struct member form_members[MEMBERS_MAX] = {
    {"mode", KIND_MODE, TRUE},          {"tables", KIND_LIST, TRUE},  {"sample_rows", KIND_ROWS, FALSE},
    {"preview_rows", KIND_ROWS, FALSE}, {"expect", KIND_LIST, FALSE},
};

/* FALSE with ERROR when there were faults, which are taken over. */
static gboolean
analysis_form_settle (struct form *form, const char *what, GError **error)
{
  guint count = form->faults->len;
  g_ptr_array_add (form->faults, NULL);
  g_autofree char *list = g_strjoinv ("; ", (GStrv)form->faults->pdata);
  g_ptr_array_unref (form->faults);
  if (count == 0)
    return TRUE;
  g_autofree char *shown = text_one_line (list, MESSAGE_BYTES);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s: %s", what, shown);
  return FALSE;
}

gboolean
analysis_form_check (const json_t *analysis, GError **error)
{
  struct form form = {g_ptr_array_new_with_free_func (g_free), NULL};
  if (!json_is_object (analysis))
    fault (&form, "it", "must be an object");
  else if (json_dumpb (analysis, NULL, 0, JSON_COMPACT) > FORM_BYTES)
    fault (&form, "it", "has more than %d bytes", FORM_BYTES);
  else if (!json_is_flat (analysis, FORM_DEPTH))
    fault (&form, "it", "is nested deeper than %d levels", FORM_DEPTH);
  else {
    look_at_members (&form, "", form_members, analysis, NULL);
    g_autoptr (json_t) names = look_at_tables (&form, json_object_get (analysis, "tables"));
    json_t *expect = json_object_get (analysis, "expect");
    form.tables = names;
    if (expect && !json_is_null (expect))
      look_at_expect (&form, expect);
  }
  return analysis_form_settle (&form, "the analysis is not as it must be", error);
}

gboolean
analysis_form_check_expect (const json_t *expect, const json_t *tables, GError **error)
{
  struct form form = {g_ptr_array_new_with_free_func (g_free), tables};
  if (json_is_flat (expect, FORM_DEPTH))
    look_at_expect (&form, expect);
  else
    fault (&form, "expect", "is nested deeper than %d levels", FORM_DEPTH);
  return analysis_form_settle (&form, "what is expected is not as it must be", error);
}
