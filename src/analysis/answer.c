/* SPDX-License-Identifier: Apache-2.0 */
/* Step 7: the paragraph. A model's, where there is one, from the preview of the result; else made from the
 * result by rules. What was assumed of the tables is said in either. */
#include "analysis/steps.h"

#include <string.h>

#include "analysis/agree.h"
#include "analysis/describe.h"
#include "analysis/prompts.h"
#include "common/json.h"

#define ITEMS_SAID   10
#define COLUMNS_SAID 8
#define ASSUMED_SAID 8
#define ERRORS_SAID  3
#define CELL_LETTERS 120

/* ---- a result in words ---- */

/* Value INDEX of ROW with its column's name. */
static void
append_named (GString *text, const json_t *columns, const json_t *row, gsize index)
{
  g_autofree char *value = describe_scalar (json_array_get (row, index), CELL_LETTERS);
  g_autofree char *name =
      describe_scalar (json_object_get (json_array_get (columns, index), "name"), CELL_LETTERS);
  g_string_append_printf (text, "%s%s = %s", index > 0 ? ", " : "", name, value[0] ? value : "(empty)");
}

static void
answer_append_row (GString *text, const json_t *columns, const json_t *row)
{
  gsize count = json_array_size (row);
  for (gsize i = 0; i < MIN (count, COLUMNS_SAID); i++)
    append_named (text, columns, row, i);
  if (count > COLUMNS_SAID)
    g_string_append (text, ", ...");
}

static void
append_names (GString *text, const json_t *columns)
{
  gsize index;
  json_t *column;
  json_array_foreach (columns, index, column)
  {
    g_autofree char *name = describe_scalar (json_object_get (column, "name"), CELL_LETTERS);
    if (index == COLUMNS_SAID) {
      g_string_append (text, ", ...");
      return;
    }
    g_string_append_printf (text, "%s%s", index > 0 ? ", " : "", name);
  }
}

static const char *
plural (gint64 count)
{
  return count == 1 ? "" : "s";
}

static void
say_table (GString *text, const json_t *result)
{
  const json_t *columns = json_object_get (result, "columns"), *rows = json_object_get (result, "rows");
  const json_t *shape = json_object_get (result, "shape");
  gint64 height = json_integer_value (json_array_get (shape, 0));
  if (height == 0) {
    g_string_append (text, "The answer is an empty table: no row is left. Its columns are ");
    append_names (text, columns);
  } else if (height == 1) {
    g_string_append (text, "The answer is ");
    answer_append_row (text, columns, json_array_get (rows, 0));
  } else {
    gint64 width = json_integer_value (json_array_get (shape, 1));
    g_string_append_printf (
        text, "The answer is a table of %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT " column%s (",
        height, width, plural (width));
    append_names (text, columns);
    g_string_append (text, "); its first row is ");
    answer_append_row (text, columns, json_array_get (rows, 0));
  }
}

static void
say_list (GString *text, const json_t *result)
{
  const json_t *value = json_object_get (result, "value");
  gsize count = json_array_size (value);
  g_string_append_printf (text, "The answer is a list of %" G_GSIZE_FORMAT ": ", count);
  for (gsize i = 0; i < MIN (count, ITEMS_SAID); i++) {
    g_autofree char *item = describe_scalar (json_array_get (value, i), CELL_LETTERS);
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", item);
  }
  if (count > ITEMS_SAID)
    g_string_append (text, ", ...");
}

static void
say_mapping (GString *text, const json_t *result)
{
  gsize said = 0;
  const char *key;
  json_t *value;
  g_string_append (text, "The answer is ");
  json_object_foreach ((json_t *)(guintptr)json_object_get (result, "value"), key, value)
  {
    g_autofree char *item = describe_scalar (value, CELL_LETTERS);
    if (said == ITEMS_SAID) {
      g_string_append (text, ", ...");
      return;
    }
    g_string_append_printf (text, "%s%s = %s", said++ > 0 ? ", " : "", key, item);
  }
}

static void
say_boolean (GString *text, const json_t *result)
{
  g_string_append_printf (text, "The answer is %s",
                          json_is_true (json_object_get (result, "value")) ? "yes" : "no");
}

static void
say_scalar (GString *text, const json_t *result)
{
  g_autofree char *value = describe_scalar (json_object_get (result, "value"), 0);
  const char *plain = json_member_text (result, "text");
  g_string_append_printf (text, "The answer is %s", value[0] ? value : plain[0] ? plain : "nothing");
}

static const struct {
  const char *kind;
  void (*say) (GString *text, const json_t *result);
} sayings[] = {
    {"table", say_table},     {"series", say_table},    {"list", say_list},
    {"mapping", say_mapping}, {"boolean", say_boolean},
};

static void
say_result (GString *text, const json_t *result)
{
  const char *kind = json_member_text (result, "kind");
  gsize i = 0;
  while (i < G_N_ELEMENTS (sayings) && strcmp (sayings[i].kind, kind) != 0)
    i++;
  (i < G_N_ELEMENTS (sayings) ? sayings[i].say : say_scalar) (text, result);
}

static void
end_sentence (GString *text)
{
  g_string_truncate (text, strlen (g_strchomp (text->str)));
  if (text->len > 0 && strchr (".!?", text->str[text->len - 1]) == NULL)
    g_string_append_c (text, '.');
}

/* ---- no result ---- */

/* The first line of TEXT is not what a traceback means: its last is. */
static void
answer_append_error (GString *text, const char *error)
{
  g_autofree char *clean = g_strdup (error);
  g_strchomp (clean);
  const char *line = g_str_has_prefix (clean, "Traceback") ? strrchr (clean, '\n') : NULL;
  g_string_append_printf (text, "; %s", line ? line + 1 : clean);
}

/* What the run ended with, where the code itself has no errors to show. */
static void
append_reason (GString *text, const json_t *error)
{
  const char *message = json_member_text (error, "message"), *hint = json_member_text (error, "hint");
  /* Python's own MemoryError has no message. */
  answer_append_error (text, message[0] ? message : json_member_text (error, "type"));
  if (hint[0]) {
    end_sentence (text);
    g_string_append_printf (text, " %s", hint);
  }
}

static void
answer_say_failure (GString *text, const struct analysis *analysis)
{
  gsize tried = json_array_size (analysis->attempts), index;
  json_t *error;
  if (tried > 1)
    g_string_append_printf (text, "There is no answer after %" G_GSIZE_FORMAT " attempts (%s)", tried,
                            analysis->outcome);
  else
    g_string_append_printf (text, "There is no answer (%s)", analysis->outcome);
  json_array_foreach (analysis->errors, index, error)
  {
    if (index == ERRORS_SAID) {
      g_string_append_printf (text, "; and %" G_GSIZE_FORMAT " more",
                              json_array_size (analysis->errors) - index);
      break;
    }
    answer_append_error (text, json_string_value (error));
  }
  if (json_array_size (analysis->errors) == 0 && analysis->error)
    append_reason (text, analysis->error);
}

/* ---- the paragraph ---- */

static void
say_assumed (GString *text, const struct analysis *analysis)
{
  gsize index, count = json_array_size (analysis->assumed);
  json_t *sentence;
  if (count == 0)
    return;
  g_string_append (text, " Assumed of the data:");
  json_array_foreach (analysis->assumed, index, sentence)
  {
    g_autofree char *clean = g_strdup (json_string_value (sentence));
    gsize length = strlen (g_strchomp (clean));
    if (index == ASSUMED_SAID)
      break;
    if (length > 0 && clean[length - 1] == '.')
      clean[length - 1] = '\0';
    g_string_append_printf (text, "%s %s", index > 0 ? ";" : "", clean);
  }
  if (count > ASSUMED_SAID)
    g_string_append_printf (text, "; and %" G_GSIZE_FORMAT " more", count - ASSUMED_SAID);
  g_string_append_c (text, '.');
}

/* The paragraph, which has a second chance to agree with the result; NULL without ERROR: it does not. */
static char *
ask_model (const struct analysis *analysis, struct dialogue *dialogue, GError **error)
{
  g_autofree char *result = describe_result (analysis);
  g_autofree char *ask = prompt_with (prompt_ask_answer, result);
  dialogue_tell (dialogue, ask, FALSE);
  g_autofree char *said = dialogue_say (dialogue, error);
  g_autofree char *wrong = said ? analysis_disagreement (analysis, said) : NULL;
  if (!wrong)
    return g_steal_pointer (&said);
  g_autofree char *again = prompt_with (prompt_answer_wrong, wrong);
  dialogue_tell (dialogue, again, TRUE);
  g_autofree char *second = dialogue_say (dialogue, error);
  g_autofree char *still_wrong = second ? analysis_disagreement (analysis, second) : NULL;
  return still_wrong ? NULL : g_steal_pointer (&second);
}

/* A result that is there is not lost because a model has no words for it, unless the question was given up,
 * or a replay is another question's. */
static gboolean
may_do_without (const GError *problem)
{
  return !g_error_matches (problem, MODEL_ERROR, MODEL_ERROR_CANCELLED) &&
         !g_error_matches (problem, MODEL_ERROR, MODEL_ERROR_MISMATCH);
}

gboolean
analysis_answer (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  gboolean answered = analysis_is_answered (analysis);
  g_autoptr (GError) problem = NULL;
  g_autofree char *said =
      answered && means->dialogue ? ask_model (analysis, means->dialogue, &problem) : NULL;
  if (problem && !may_do_without (problem)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  g_autoptr (GString) text = g_string_new (said);
  if (!answered)
    answer_say_failure (text, analysis);
  else if (!said)
    say_result (text, analysis->result);
  end_sentence (text);
  if (answered && means->dialogue && !said && !problem)
    g_string_append (text, " The model's own words contradicted the result.");
  if (problem) {
    g_string_append_printf (text, " The model put it into no words: %s", problem->message);
    end_sentence (text);
  }
  say_assumed (text, analysis);
  g_free (analysis->answer);
  analysis->answer = g_strdup (text->str);
  return TRUE;
}
