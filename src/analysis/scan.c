/* SPDX-License-Identifier: Apache-2.0 */
/* Step 1: what the tables look like. Nothing but names, types, a few rows and what is odd about the file is
 * kept of them: it is all that a model ever sees. */
#include "analysis/steps.h"

#include <string.h>

#include "common/json.h"

#define LINES_SAID 10

/* The file of the state whose one table TABLE of a run is, or NULL. */
static json_t *
asked_of (const struct analysis *analysis, const json_t *table)
{
  gsize index;
  json_t *asked;
  json_array_foreach (analysis->csv, index, asked)
  {
    if (strcmp (json_member_text (asked, "name"), json_member_text (table, "name")) == 0)
      return asked;
  }
  return NULL;
}

/* A scan has seen a head, and takes it for the file. */
static void
correct_size (const struct analysis *analysis, json_t *table)
{
  json_t *bytes = json_object_get (asked_of (analysis, table), "bytes");
  if (!bytes || json_integer_value (bytes) <= json_integer_value (json_object_get (table, "bytes")))
    return;
  json_object_set (table, "bytes", bytes);
  json_object_set_new (table, "rows", json_null ());
  json_object_set_new (table, "partial", json_true ());
}

/* "2 lines that do not fit were left out (lines 6, 9)", or NULL. The caller's. */
static char *
bad_lines (const json_t *table)
{
  const json_t *bad = json_object_get (table, "bad_lines");
  gint64 count = json_integer_value (json_object_get (bad, "count"));
  gsize index;
  json_t *line;
  if (count == 0)
    return NULL;
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%" G_GINT64_FORMAT " line%s not fit and %s left out (line%s ", count,
                          count == 1 ? " does" : "s do", count == 1 ? "is" : "are", count == 1 ? "" : "s");
  json_array_foreach (json_object_get (bad, "lines"), index, line)
  {
    if (index == LINES_SAID)
      break;
    g_string_append_printf (text, "%s%" JSON_INTEGER_FORMAT, index > 0 ? ", " : "",
                            json_integer_value (line));
  }
  g_string_append (text, count > LINES_SAID ? ", ...)" : ")");
  return g_string_free (text, FALSE);
}

static void
assume (struct analysis *analysis, const char *name, const char *sentence)
{
  gboolean several = json_array_size (analysis->schema) > 1;
  g_autofree char *text = several ? g_strdup_printf ("%s: %s", name, sentence) : g_strdup (sentence);
  json_array_append_new (analysis->assumed, json_text_or_null (text));
}

static void
take_assumed (struct analysis *analysis, const json_t *table)
{
  const char *name = json_member_text (table, "name");
  g_autofree char *bad = bad_lines (table);
  gsize index;
  json_t *sentence;
  json_array_foreach (json_object_get (table, "assumed"), index, sentence)
      assume (analysis, name, json_string_value (sentence));
  if (bad)
    assume (analysis, name, bad);
}

void
analysis_take_tables (struct analysis *analysis, const json_t *run_result)
{
  json_t *tables = json_object_get (analysis_bundle (run_result), "tables");
  if (!json_is_array (tables))
    return;
  json_decref (analysis->schema);
  analysis->schema = json_deep_copy (tables);
  json_array_clear (analysis->assumed);
  gsize index;
  json_t *table;
  json_array_foreach (analysis->schema, index, table)
  {
    correct_size (analysis, table);
    take_assumed (analysis, table);
  }
}

gboolean
analysis_scan (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  g_autoptr (json_t) result = analysis_run_once (analysis, means, ANALYSIS_KIND_SCAN, error);
  if (!result)
    return FALSE;
  analysis_take_tables (analysis, result);
  return TRUE;
}
