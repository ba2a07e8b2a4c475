/* SPDX-License-Identifier: Apache-2.0 */
/* The answer as people read it: the paragraph, the code, a small table, pictures. */
#include "analysis/steps.h"

#include <string.h>

#include "common/json.h"

/* A fence that CODE does not hold. */
static void
append_code (GString *text, const char *code)
{
  const char *fence = strstr (code, "```") ? "````" : "```";
  g_string_append_printf (text, "\n%spython\n%s%s%s\n", fence, code,
                          g_str_has_suffix (code, "\n") ? "" : "\n", fence);
}

static void
markdown_append_result (GString *text, const json_t *result)
{
  const char *markdown = json_member_text (result, "markdown");
  gint64 hidden = json_integer_value (json_object_get (result, "hidden_rows"));
  if (!markdown[0])
    return;
  g_string_append_printf (text, "\n%s%s", markdown, g_str_has_suffix (markdown, "\n") ? "" : "\n");
  if (hidden > 0)
    g_string_append_printf (text, "\n(%" G_GINT64_FORMAT " more rows)\n", hidden);
}

/* Where the rest is: what is shown is the beginning. */
static void
append_file (GString *text, const struct analysis *analysis)
{
  const json_t *shape = json_object_get (analysis->result, "shape");
  const char *name = json_member_text (analysis->table_file, "name");
  if (analysis->table_file)
    g_string_append_printf (text,
                            "\nThe whole table, %" JSON_INTEGER_FORMAT " x %" JSON_INTEGER_FORMAT
                            " (rows x columns): [%s](%s)\n",
                            json_integer_value (json_array_get (shape, 0)),
                            json_integer_value (json_array_get (shape, 1)), name, name);
  else if (analysis->table_note)
    g_string_append_printf (text, "\nThe whole table was not saved, only these rows: %s\n",
                            analysis->table_note);
}

static void
append_attempt (GString *text, const json_t *attempt, gsize number)
{
  gsize index;
  json_t *error;
  g_string_append_printf (text, "\nAttempt %" G_GSIZE_FORMAT " (%s):\n", number,
                          json_member_text (attempt, "outcome"));
  append_code (text, json_member_text (attempt, "code"));
  g_string_append_c (text, '\n');
  json_array_foreach (json_object_get (attempt, "errors"), index, error)
  {
    g_auto (GStrv) lines = g_strsplit (json_string_value (error), "\n", -1);
    g_autofree char *indented = g_strjoinv ("\n  ", lines);
    g_string_append_printf (text, "- %s\n", indented);
  }
}

/* Who wrote it, where no person did; a replay is called one. */
static void
append_model (GString *text, const json_t *model)
{
  if (model)
    g_string_append_printf (text, "\n(Asked: %s, %s.)\n", json_member_text (model, "name"),
                            json_member_text (model, "provider"));
}

char *
analysis_markdown (const struct analysis *analysis, const char *const *pictures)
{
  GString *text = g_string_new (analysis->answer ? analysis->answer : "");
  gsize index;
  json_t *attempt;
  g_string_append_c (text, '\n');
  if (!analysis_is_answered (analysis)) {
    json_array_foreach (analysis->attempts, index, attempt) append_attempt (text, attempt, index + 1);
    append_model (text, analysis->model);
    return g_string_free (text, FALSE);
  }
  append_code (text, analysis->code);
  markdown_append_result (text, analysis->result);
  append_file (text, analysis);
  for (gsize i = 0; pictures && pictures[i]; i++)
    g_string_append_printf (text, "\n![%s](%s)\n", pictures[i], pictures[i]);
  append_model (text, analysis->model);
  return g_string_free (text, FALSE);
}
