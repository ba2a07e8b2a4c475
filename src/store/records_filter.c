/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a WHERE: one table of filters. Values are always parameters. */
#include <stdlib.h>
#include <string.h>

#include "adder_types.h"
#include "common/field.h"
#include "common/json.h"
#include "common/moment.h"
#include "engine/request/outcome.h"
#include "store/record_fields.h"
#include "store/records_private.h"

static const struct field filter_fields[] = {RECORD_FILTERS, RECORD_PAGE, {0}};

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
records_filter_fail (const char *name, const char *wanted, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the filter \"%s\" must be %s", name, wanted);
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
add_before (struct record_filter *filter, const char *text, GError **error)
{
  char *end;
  gint64 started_ms = g_ascii_strtoll (text, &end, 10);
  if (end == text || *end != ':' || end[1] == '\0')
    return records_filter_fail ("before", "what a list said as its \"next\"", error);
  record_filter_add (filter, "(started_ms, run_id) < (?, ?)", SQL_INT (started_ms), SQL_STR (end + 1));
  return TRUE;
}

static gboolean
add_moment (struct record_filter *filter, const char *name, const char *condition, const char *text,
            GError **error)
{
  gint64 ms;
  if (!moment_parse (text, &ms, error)) {
    g_prefix_error (error, "the filter \"%s\": ", name);
    return FALSE;
  }
  record_filter_add (filter, condition, SQL_INT (ms));
  return TRUE;
}

static void
add_exact (struct record_filter *filter, const char *column, const char *text)
{
  g_autofree char *condition = g_strconcat (column, " = ?", NULL);
  record_filter_add (filter, condition, SQL_STR (text));
}

static gboolean
add_outcome (struct record_filter *filter, const char *text, GError **error)
{
  if (outcome_is_known (text)) {
    add_exact (filter, "outcome", text);
    return TRUE;
  }
  g_autofree char *known = outcome_list (), *wanted = g_strconcat ("one of: ", known, NULL);
  return records_filter_fail ("outcome", wanted, error);
}

static gboolean
add_one (struct record_filter *filter, const struct field *field, const json_t *value, GError **error)
{
  const char *text = json_string_value (value);
  g_autofree char *pattern = NULL;
  switch ((enum record_filter_kind)field->marks) {
  case RECORD_FILTER_EXACT:
    add_exact (filter, field->name, text);
    return TRUE;
  case RECORD_FILTER_OUTCOME:
    return add_outcome (filter, text, error);
  case RECORD_FILTER_SINCE:
    return add_moment (filter, field->name, "started_ms >= ?", text, error);
  case RECORD_FILTER_UNTIL:
    return add_moment (filter, field->name, "started_ms < ?", text, error);
  case RECORD_FILTER_BEFORE:
    return add_before (filter, text, error);
  case RECORD_FILTER_CODE:
    pattern = make_pattern ("%", text, "%");
    record_filter_add (filter, "lower(code) LIKE lower(?) ESCAPE '!'", SQL_STR (pattern));
    return TRUE;
  case RECORD_FILTER_TOOL:
    pattern = make_pattern ("%.", text, "");
    record_filter_add (filter, "(tool = ? OR tool LIKE ? ESCAPE '!')", SQL_STR (text), SQL_STR (pattern));
    return TRUE;
  case RECORD_FILTER_LIMIT:
    filter->limit = json_integer_value (value);
    return TRUE;
  }
  return FALSE;
}

static gboolean
add_all (struct record_filter *filter, const json_t *filters, GError **error)
{
  g_autoptr (json_t) checked = field_check (filter_fields, "the filter of records", filters, error);
  if (!checked)
    return FALSE;
  for (const struct field *field = filter_fields; field->name; field++) {
    const json_t *value = json_object_get (checked, field->name);
    if (!json_is_null (value) && !add_one (filter, field, value, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
record_filter_init (struct record_filter *filter, const char *owner, const json_t *filters, GError **error)
{
  *filter = (struct record_filter){
      .where = g_string_new (NULL),
      .values = g_array_new (FALSE, FALSE, sizeof (struct sql_value)),
      .texts = g_ptr_array_new_with_free_func (g_free),
      .limit = RECORD_LIMIT_STANDARD,
  };
  if (owner)
    add_exact (filter, "owner", owner);
  if (!filters || add_all (filter, filters, error))
    return TRUE;
  record_filter_clear (filter);
  return FALSE;
}

void
record_filter_clear (struct record_filter *filter)
{
  g_string_free (filter->where, TRUE);
  g_array_unref (filter->values);
  g_ptr_array_unref (filter->texts);
}
