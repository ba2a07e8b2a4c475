/* SPDX-License-Identifier: Apache-2.0 */
/* From what somebody asks for to a WHERE: one table of filters. Values are always parameters. */
#include <stdlib.h>
#include <string.h>

#include "adder.h"
#include "common/moment.h"
#include "common/text.h"
#include "store/records_private.h"

#define LIMIT_DEFAULT 50
#define LIMIT_MOST    1000
#define TEXT_MOST     1000u /* bytes of one filter */

enum filter_kind {
  FILTER_EXACT,
  FILTER_OUTCOME,
  FILTER_MOMENT,
  FILTER_HOLDS,  /* a part of a text */
  FILTER_TOOL,   /* its name, or with its toolset's before it */
  FILTER_BEFORE, /* "MS:RUN_ID" */
  FILTER_LIMIT,
};

static const struct filter_row {
  const char *name;
  enum filter_kind kind;
  const char *condition;
} filter_table[] = {
    {"since", FILTER_MOMENT, "started_ms >= ?"},
    {"until", FILTER_MOMENT, "started_ms < ?"},
    {"outcome", FILTER_OUTCOME, "outcome = ?"},
    {"tool", FILTER_TOOL, "(tool = ? OR tool LIKE ? ESCAPE '!')"},
    {"profile", FILTER_EXACT, "profile = ?"},
    {"environment", FILTER_EXACT, "environment = ?"},
    {"front_end", FILTER_EXACT, "front_end = ?"},
    {"session", FILTER_EXACT, "session = ?"},
    {"conversation", FILTER_EXACT, "conversation = ?"},
    {"node", FILTER_EXACT, "node = ?"},
    {"code", FILTER_HOLDS, "lower(code) LIKE lower(?) ESCAPE '!'"},
    {"before", FILTER_BEFORE, "(started_ms, run_id) < (?, ?)"},
    {"limit", FILTER_LIMIT, NULL},
};

guint
record_filter_value (struct record_filter *filter, struct sql_value value)
{
  if (value.kind == SQL_TEXT) {
    char *copy = g_strdup (value.text);
    g_ptr_array_add (filter->texts, copy);
    value.text = copy;
  }
  g_array_append_val (filter->values, value);
  return filter->values->len;
}

void
record_filter_add (struct record_filter *filter, const char *condition, ...)
{
  va_list values;
  va_start (values, condition);
  g_string_append (filter->where, filter->where->len > 0 ? " AND " : "WHERE ");
  for (const char *at = condition; *at != '\0'; at++)
    if (*at == '?')
      g_string_append_printf (filter->where, "$%u",
                              record_filter_value (filter, va_arg (values, struct sql_value)));
    else
      g_string_append_c (filter->where, *at);
  va_end (values);
}

/* ---- one filter ---- */

static gboolean
fail (const struct filter_row *row, const char *wanted, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the filter \"%s\" must be %s", row->name, wanted);
  return FALSE;
}

/* A pattern: BEFORE and AFTER as they are, TEXT literally between them. */
static char *
make_pattern (const char *before, const char *text, const char *after)
{
  GString *pattern = g_string_new (before);
  for (const char *at = text; *at != '\0'; at++) {
    if (strchr ("%_!", *at))
      g_string_append_c (pattern, '!');
    g_string_append_c (pattern, *at);
  }
  g_string_append (pattern, after);
  return g_string_free (pattern, FALSE);
}

static gboolean
add_before (struct record_filter *filter, const struct filter_row *row, const char *text, GError **error)
{
  char *end;
  gint64 started_ms = g_ascii_strtoll (text, &end, 10);
  if (end == text || *end != ':' || end[1] == '\0')
    return fail (row, "what a list said as its \"next\"", error);
  record_filter_add (filter, row->condition, SQL_INT (started_ms), SQL_STR (end + 1));
  return TRUE;
}

static gboolean
add_moment (struct record_filter *filter, const struct filter_row *row, const char *text, GError **error)
{
  gint64 ms;
  if (!moment_parse (text, &ms, error)) {
    g_prefix_error (error, "the filter \"%s\": ", row->name);
    return FALSE;
  }
  record_filter_add (filter, row->condition, SQL_INT (ms));
  return TRUE;
}

static gboolean
add_outcome (struct record_filter *filter, const struct filter_row *row, const char *text, GError **error)
{
  g_autoptr (GString) known = g_string_new ("one of:");
  for (AdderOutcome i = ADDER_OUTCOME_OK; i <= ADDER_OUTCOME_FAILED; i++) {
    if (strcmp (text, adder_outcome_name (i)) == 0) {
      record_filter_add (filter, row->condition, SQL_STR (text));
      return TRUE;
    }
    g_string_append_printf (known, "%s %s", i == ADDER_OUTCOME_OK ? "" : ",", adder_outcome_name (i));
  }
  return fail (row, known->str, error);
}

static gboolean
add_limit (struct record_filter *filter, const struct filter_row *row, const json_t *value, GError **error)
{
  json_int_t limit = json_integer_value (value);
  if (!json_is_integer (value) || limit < 1 || limit > LIMIT_MOST)
    return fail (row, "a number from 1 to " G_STRINGIFY (LIMIT_MOST), error);
  filter->limit = limit;
  return TRUE;
}

static gboolean
add_one (struct record_filter *filter, const char *name, const json_t *value, GError **error)
{
  const struct filter_row *row = NULL;
  for (gsize i = 0; !row && i < G_N_ELEMENTS (filter_table); i++)
    if (strcmp (filter_table[i].name, name) == 0)
      row = &filter_table[i];
  if (!row) {
    g_autofree char *shown = text_one_line (name, 40);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "records have no filter \"%s\"", shown);
    return FALSE;
  }
  if (row->kind == FILTER_LIMIT)
    return add_limit (filter, row, value, error);
  const char *text = json_string_value (value);
  if (!text || strlen (text) > TEXT_MOST)
    return fail (row, "a text of 1000 bytes at most", error);
  g_autofree char *pattern = NULL;
  switch (row->kind) {
  case FILTER_OUTCOME:
    return add_outcome (filter, row, text, error);
  case FILTER_MOMENT:
    return add_moment (filter, row, text, error);
  case FILTER_BEFORE:
    return add_before (filter, row, text, error);
  case FILTER_HOLDS:
    pattern = make_pattern ("%", text, "%");
    record_filter_add (filter, row->condition, SQL_STR (pattern));
    return TRUE;
  case FILTER_TOOL:
    pattern = make_pattern ("%.", text, "");
    record_filter_add (filter, row->condition, SQL_STR (text), SQL_STR (pattern));
    return TRUE;
  default:
    record_filter_add (filter, row->condition, SQL_STR (text));
    return TRUE;
  }
}

gboolean
record_filter_init (struct record_filter *filter, const char *owner, const json_t *filters, GError **error)
{
  *filter = (struct record_filter){
      .where = g_string_new (NULL),
      .values = g_array_new (FALSE, FALSE, sizeof (struct sql_value)),
      .texts = g_ptr_array_new_with_free_func (g_free),
      .limit = LIMIT_DEFAULT,
  };
  if (owner)
    record_filter_add (filter, "owner = ?", SQL_STR (owner));
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)(guintptr)filters, name, value)
  {
    if (!json_is_null (value) && !add_one (filter, name, value, error)) {
      record_filter_clear (filter);
      return FALSE;
    }
  }
  return TRUE;
}

void
record_filter_clear (struct record_filter *filter)
{
  g_string_free (filter->where, TRUE);
  g_array_unref (filter->values);
  g_ptr_array_unref (filter->texts);
}
