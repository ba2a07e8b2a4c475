/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/agree.h"

#include <math.h>
#include <string.h>

#include "analysis/describe.h"
#include "common/json.h"

/* Shorter names are words as well. */
#define NAME_BYTES 3

/* A rounded number has two digits at least that say something. */
#define DIGITS_MIN 2

/* Numbers of a column whose pairs are looked at; the preview has ANALYSIS_PREVIEW_ROWS. */
#define COLUMN_MAX 32

#define YEAR_MIN   1000

struct number {
  double value, give; /* and how far off a rounded one may be */
  const char *begin, *end;
};

struct agreement {
  const struct analysis *analysis;
  GArray *plain;      /* double: what may be said as it is */
  GPtrArray *columns; /* GArray of double each */
  GString *words;     /* the question, the code, what was printed, the result: in small letters */
};

/* ---- numbers in text ---- */

static gboolean
agree_is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || (guchar)c >= 0x80;
}

/* A number at AT, with MARK for its fractions; other marks group its digits. */
static void
agree_measure (const char *begin, const char *end, char mark, struct number *number)
{
  g_autoptr (GString) digits = g_string_new (NULL);
  const char *point = memchr (begin, mark, (gsize)(end - begin));
  gsize fraction = point ? (gsize)(end - point - 1) : 0, zeros = 0, count = 0;
  for (const char *at = begin; at < end; at++) {
    if (g_ascii_isdigit (*at)) {
      g_string_append_c (digits, *at);
      zeros = *at == '0' ? zeros + 1 : 0;
      count++;
    } else if (at == point) {
      g_string_append_c (digits, '.');
    }
  }
  gsize loose = fraction > 0 || count <= DIGITS_MIN ? 0 : MIN (zeros, count - DIGITS_MIN);
  number->value = g_ascii_strtod (digits->str, NULL);
  number->give = 0.5 * pow (10, (double)loose - (double)fraction) * (1 + 1e-9);
}

/* Whether the number from BEGIN to END is a part of a word, of a date, or of one whose digits are grouped by
 * blanks, or is said in thousands. */
static gboolean
agree_is_part (const char *text, const char *begin, const char *end)
{
  static const char *const scales[] = {" thousand", " tausend", " mil", " mio", " bil", " mrd", " tri"};
  char before = begin > text ? begin[-1] : ' ', further = begin > text + 1 ? begin[-2] : ' ';
  for (gsize i = 0; i < G_N_ELEMENTS (scales); i++)
    if (g_ascii_strncasecmp (end, scales[i], strlen (scales[i])) == 0)
      return TRUE;
  return agree_is_word (*end) || agree_is_word (before) || before == '.' || before == ',' ||
         (*end && strchr ("-/:", *end) && agree_is_word (end[1])) ||
         (*end == ' ' && g_ascii_isdigit (end[1])) ||
         (strchr ("-/: ", before) && g_ascii_isalnum (further) &&
          (before != ' ' || g_ascii_isdigit (further)));
}

/* The next number from *AT on, which moves behind it. */
static gboolean
next_number (const char *text, const char **at, struct number *number)
{
  for (const char *begin = *at; *begin; begin++) {
    if (!g_ascii_isdigit (*begin))
      continue;
    const char *end = begin;
    while (g_ascii_isdigit (*end) || ((*end == '.' || *end == ',') && g_ascii_isdigit (end[1])))
      end++;
    *at = end;
    if (!agree_is_part (text, begin, end)) {
      number->begin = begin;
      number->end = end;
      return TRUE;
    }
    begin = end - 1;
  }
  return FALSE;
}

/* ---- what may be said ---- */

/* The numbers of TEXT from LEAST on. */
static void
take_numbers (struct agreement *agreement, const char *text, double least)
{
  char *end;
  for (const char *at = text; *at; at++) {
    if (!g_ascii_isdigit (*at))
      continue;
    double value = g_ascii_strtod (at, &end);
    if (value >= least)
      g_array_append_val (agreement->plain, value);
    at = end - 1;
  }
}

static void
agree_take_text (struct agreement *agreement, const char *text)
{
  g_autofree char *small = g_utf8_strdown (text, -1);
  g_string_append_printf (agreement->words, "%s\n", small);
  take_numbers (agreement, text, 0);
}

static void
agree_take_value (struct agreement *agreement, GArray *column, const json_t *value)
{
  const char *name;
  gsize index;
  json_t *member;
  double number = json_number_value (value);
  if (json_is_number (value))
    g_array_append_val (column, number);
  else if (json_is_string (value))
    agree_take_text (agreement, json_string_value (value));
  json_array_foreach (value, index, member) agree_take_value (agreement, column, member);
  json_object_foreach ((json_t *)(guintptr)value, name, member)
  {
    agree_take_text (agreement, name);
    agree_take_value (agreement, column, member);
  }
}

static GArray *
add_column (struct agreement *agreement)
{
  GArray *column = g_array_new (FALSE, FALSE, sizeof (double));
  g_ptr_array_add (agreement->columns, column);
  return column;
}

/* A count of what is there: of rows, or of what is enumerated. */
static void
take_counts (struct agreement *agreement, const json_t *result)
{
  gsize listed = json_array_size (json_object_get (result, "rows")) +
                 json_array_size (json_object_get (result, "value")) +
                 json_object_size (json_object_get (result, "value"));
  for (gsize i = 0; i <= listed; i++) {
    double count = (double)i;
    g_array_append_val (agreement->plain, count);
  }
  agree_take_value (agreement, agreement->plain, json_object_get (result, "shape"));
  agree_take_value (agreement, agreement->plain, json_object_get (result, "hidden_rows"));
}

static void
agree_take_result (struct agreement *agreement)
{
  const json_t *result = agreement->analysis->result, *rows = json_object_get (result, "rows");
  const json_t *columns = json_object_get (result, "columns");
  gsize index, place;
  json_t *row, *column;
  json_array_foreach (columns, place, column)
  {
    GArray *numbers = add_column (agreement);
    agree_take_text (agreement, json_member_text (column, "name"));
    json_array_foreach (rows, index, row) agree_take_value (agreement, numbers, json_array_get (row, place));
  }
  agree_take_value (agreement, add_column (agreement), json_object_get (result, "value"));
  agree_take_text (agreement, json_member_text (result, "text"));
  agree_take_text (agreement, json_member_text (result, "markdown"));
  take_counts (agreement, result);
}

/* A year may be known from the dates of the sample rows alone. */
static void
take_years (struct agreement *agreement)
{
  gsize index, at, place;
  json_t *table, *row, *cell;
  json_array_foreach (agreement->analysis->schema, index, table)
  {
    json_array_foreach (json_object_get (table, "sample"), at, row)
    {
      json_array_foreach (row, place, cell)
      {
        if (json_is_string (cell))
          take_numbers (agreement, json_string_value (cell), YEAR_MIN);
      }
    }
  }
}

static void
agree_take (struct agreement *agreement, const struct analysis *analysis)
{
  const char *const texts[] = {analysis->question, analysis->code, analysis->stdout_text};
  *agreement = (struct agreement){
      .analysis = analysis,
      .plain = g_array_new (FALSE, FALSE, sizeof (double)),
      .columns = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref),
      .words = g_string_new (NULL),
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    agree_take_text (agreement, texts[i] ? texts[i] : "");
  agree_take_result (agreement);
  take_years (agreement);
}

static void
agreement_clear (struct agreement *agreement)
{
  g_array_unref (agreement->plain);
  g_ptr_array_unref (agreement->columns);
  g_string_free (agreement->words, TRUE);
}

/* ---- values ---- */

/* A number is said without its sign, and a fraction also as a percentage. */
static gboolean
agree_fits (const struct number *number, double value)
{
  double given = number->give + fabs (value) * 1e-12;
  return fabs (fabs (value) - number->value) <= given || fabs (fabs (value) * 100 - number->value) <= given;
}

static gboolean
is_of_pair (const struct number *number, double one, double other)
{
  return agree_fits (number, one - other) ||
         (other != 0 && (agree_fits (number, one / other) || agree_fits (number, (one - other) / other)));
}

static gboolean
is_of_column (const struct number *number, const GArray *column)
{
  guint count = MIN (column->len, COLUMN_MAX);
  double sum = 0;
  for (guint i = 0; i < column->len; i++) {
    double value = g_array_index (column, double, i);
    sum += value;
    if (agree_fits (number, value))
      return TRUE;
    for (guint j = 0; i < count && j < count; j++)
      if (i != j && is_of_pair (number, value, g_array_index (column, double, j)))
        return TRUE;
  }
  return column->len > 1 && (agree_fits (number, sum) || agree_fits (number, sum / column->len));
}

static gboolean
is_said (const struct agreement *agreement, const struct number *number)
{
  for (guint i = 0; i < agreement->plain->len; i++)
    if (fabs (g_array_index (agreement->plain, double, i) - number->value) <= number->give)
      return TRUE;
  for (guint i = 0; i < agreement->columns->len; i++)
    if (is_of_column (number, agreement->columns->pdata[i]))
      return TRUE;
  return FALSE;
}

/* The languages of the world write fractions with a point or a comma. */
static const char marks[] = ".,";

static char *
wrong_value (const struct agreement *agreement, const char *paragraph)
{
  struct number number;
  for (const char *at = paragraph; next_number (paragraph, &at, &number);) {
    gboolean is_right = FALSE;
    for (gsize i = 0; i < strlen (marks) && !is_right; i++) {
      agree_measure (number.begin, number.end, marks[i], &number);
      is_right = is_said (agreement, &number);
    }
    if (!is_right)
      return g_strdup_printf ("%.*s is no number of the result.", (int)(number.end - number.begin),
                              number.begin);
  }
  return NULL;
}

/* ---- names ---- */

/* Where NAME stands in TEXT as a word, or NULL. */
static const char *
find_name (const char *text, const char *name)
{
  for (const char *at = text; (at = strstr (at, name)); at++)
    if ((at == text || !agree_is_word (at[-1])) && !agree_is_word (at[strlen (name)]))
      return at;
  return NULL;
}

/* What begins with a small letter may be a word as well ("rain"). */
static gboolean
agree_is_name (const json_t *value)
{
  const char *text = json_string_value (value);
  return text && strlen (text) >= NAME_BYTES && (g_ascii_isupper (text[0]) || (guchar)text[0] >= 0x80);
}

static gboolean
is_known (const struct agreement *agreement, const char *name)
{
  g_autofree char *small = g_utf8_strdown (name, -1);
  return strstr (agreement->words->str, small) != NULL;
}

static char *
wrong_name (const struct agreement *agreement, const char *paragraph)
{
  gsize index, at, place;
  json_t *table, *row, *cell;
  json_array_foreach (agreement->analysis->schema, index, table)
  {
    json_array_foreach (json_object_get (table, "sample"), at, row)
    {
      json_array_foreach (row, place, cell)
      {
        if (!agree_is_name (cell) || !find_name (paragraph, json_string_value (cell)) ||
            is_known (agreement, json_string_value (cell)))
          continue;
        g_autofree char *name = describe_scalar (cell, DESCRIBE_CELL_CHARACTERS);
        return g_strdup_printf ("%s is not in the result.", name);
      }
    }
  }
  return NULL;
}

/* ---- rows ---- */

static const char *
agree_name_of (const json_t *rows, gsize row, int place)
{
  return json_string_value (json_array_get (json_array_get (rows, row), (gsize)place));
}

/* Whether the column PLACE has a text for each row that is not found in that of another. */
static gboolean
is_naming (const json_t *rows, int place)
{
  gsize count = json_array_size (rows);
  for (gsize i = 0; i < count; i++)
    if (!agree_name_of (rows, i, place) || strlen (agree_name_of (rows, i, place)) < NAME_BYTES)
      return FALSE;
  for (gsize i = 0; i < count; i++)
    for (gsize j = 0; j < count; j++)
      if (i != j && find_name (agree_name_of (rows, i, place), agree_name_of (rows, j, place)))
        return FALSE;
  return TRUE;
}

/* The first column that names the rows; -1: none does. */
static int
naming_column (const json_t *rows)
{
  int width = (int)json_array_size (json_array_get (rows, 0));
  for (int place = 0; place < width; place++)
    if (is_naming (rows, place))
      return place;
  return -1;
}

static gboolean
row_has (const json_t *row, struct number *number)
{
  gsize index;
  json_t *cell;
  for (gsize i = 0; i < strlen (marks); i++) {
    agree_measure (number->begin, number->end, marks[i], number);
    json_array_foreach (row, index, cell)
    {
      if (json_is_number (cell) && agree_fits (number, json_number_value (cell)))
        return TRUE;
    }
  }
  return FALSE;
}

/* The part of PARAGRAPH around AT in which no other row is named, and where AT is in it. */
static char *
agree_around (const json_t *rows, int place, const char *paragraph, const char *at, gsize *ret_at)
{
  const char *from = paragraph, *to = at + strlen (at);
  for (gsize i = 0; i < json_array_size (rows); i++) {
    const char *name = agree_name_of (rows, i, place);
    for (const char *other = paragraph; (other = find_name (other, name)); other++) {
      if (other < at)
        from = MAX (from, other + strlen (name));
      else if (other > at)
        to = MIN (to, other);
    }
  }
  *ret_at = (gsize)(at - from);
  return g_strndup (from, (gsize)(to - from));
}

/* Whether PART has numbers behind NAMED, and all numbers in it are those of other rows than ROW. */
static gboolean
is_mixed_up (const json_t *rows, gsize row, const char *part, const char *named)
{
  struct number number;
  gboolean has_numbers = FALSE;
  for (const char *at = part; next_number (part, &at, &number);) {
    gsize other = 0;
    has_numbers = has_numbers || at > named;
    while (other < json_array_size (rows) && !row_has (json_array_get (rows, other), &number))
      other++;
    if (other == json_array_size (rows) || row_has (json_array_get (rows, row), &number))
      return FALSE;
  }
  return has_numbers;
}

static char *
wrong_row (const struct agreement *agreement, const char *paragraph)
{
  const json_t *rows = json_object_get (agreement->analysis->result, "rows");
  int place = json_array_size (rows) > 1 ? naming_column (rows) : -1;
  for (gsize i = 0; place >= 0 && i < json_array_size (rows); i++) {
    const char *at = find_name (paragraph, agree_name_of (rows, i, place));
    gsize named = 0;
    g_autofree char *part = at ? agree_around (rows, place, paragraph, at, &named) : NULL;
    if (part && is_mixed_up (rows, i, part, part + named))
      return g_strdup_printf ("The numbers beside %s are another row's.", agree_name_of (rows, i, place));
  }
  return NULL;
}

/* Whether two rows may change places, since they have a number in common. */
static gboolean
is_tie (const json_t *one, const json_t *other)
{
  gsize place;
  json_t *cell;
  json_array_foreach (one, place, cell)
  {
    if (json_is_number (cell) && json_equal (cell, json_array_get (other, place)))
      return TRUE;
  }
  return FALSE;
}

static char *
wrong_order (const struct agreement *agreement, const char *paragraph)
{
  const json_t *rows = json_object_get (agreement->analysis->result, "rows");
  const json_t *target = json_object_get (agreement->analysis->plan, "target");
  int place = json_is_string (json_object_get (target, "order")) ? naming_column (rows) : -1;
  const char *last = NULL;
  const json_t *last_row = NULL;
  guint ups = 0, downs = 0;
  for (gsize i = 0; place >= 0 && i < json_array_size (rows); i++) {
    const char *at = find_name (paragraph, agree_name_of (rows, i, place));
    if (!at)
      continue;
    const json_t *row = json_array_get (rows, i);
    if (last && !is_tie (last_row, row))
      *(at > last ? &ups : &downs) += 1;
    last = at;
    last_row = row;
  }
  return ups > 0 && downs > 0 ? g_strdup ("The rows are in another order.") : NULL;
}

char *
analysis_disagreement (const struct analysis *analysis, const char *paragraph)
{
  static char *(*const checks[]) (const struct agreement *agreement,
                                  const char *paragraph) = {wrong_name, wrong_value, wrong_row, wrong_order};
  struct agreement agreement;
  char *found = NULL;
  agree_take (&agreement, analysis);
  for (gsize i = 0; i < G_N_ELEMENTS (checks) && !found; i++)
    found = checks[i](&agreement, paragraph);
  agreement_clear (&agreement);
  return found;
}
