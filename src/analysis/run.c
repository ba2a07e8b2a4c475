/* SPDX-License-Identifier: Apache-2.0 */
/* Step 5: the code with all of the data, in a sandbox of the host; and what every run leaves in the state. */
#include "analysis/steps.h"

#include <string.h>

#include "analysis/describe.h"
#include "common/json.h"
#include "policy/profile.h"

#define BUNDLE_TYPE "application/vnd.adder.analysis+json"

const json_t *
analysis_bundle (const json_t *run_result)
{
  const json_t *displays = json_object_get (run_result, "displays");
  for (gsize i = json_array_size (displays); i > 0; i--) {
    const json_t *bundle = json_object_get (json_array_get (displays, i - 1), BUNDLE_TYPE);
    if (json_is_object (bundle))
      return bundle;
  }
  return NULL;
}

gboolean
analysis_ended_as (const struct analysis *analysis, AdderOutcome outcome)
{
  return g_strcmp0 (analysis->outcome, adder_outcome_name (outcome)) == 0;
}

/* ---- how long it may take ---- */

#define SOON_BYTES ((guint64)64 << 20) /* the profile's own time does for them */
#define MS_PER_MIB 40                  /* a table of 1 GB was read and grouped in 27 s (docs/csv.md) */

gboolean
analysis_time (guint64 bytes, guint64 *ret_cpu_ms, guint64 *ret_wall_ms)
{
  struct profile *profile = bytes > SOON_BYTES ? profile_load (ANALYSIS_PROFILE, NULL) : NULL;
  if (!profile)
    return FALSE;
  guint64 more_ms = (bytes - SOON_BYTES) / (1 << 20) * MS_PER_MIB;
  const guint64 *usual = profile->limits.value, *most = profile->maxima.value;
  *ret_cpu_ms = MIN (usual[LIMIT_CPU] + more_ms, most[LIMIT_CPU]);
  *ret_wall_ms = MIN (usual[LIMIT_WALL] + 2 * more_ms, most[LIMIT_WALL]);
  profile_free (profile);
  return TRUE;
}

/* ---- what the sandbox is told ---- */

static json_t *
tables_of (const struct analysis *analysis)
{
  json_t *tables = json_array ();
  gsize index;
  json_t *asked;
  json_array_foreach (analysis->csv, index, asked)
  {
    json_t *table =
        json_pack ("{s:O, s:O, s:O}", "name", json_object_get (asked, "name"), "file",
                   json_object_get (asked, "file"), "original", json_object_get (asked, "original"));
    json_t *options = json_object_get (asked, "options");
    if (json_object_size (options) > 0)
      json_object_set (table, "options", options);
    json_array_append_new (tables, table);
  }
  return tables;
}

static json_t *
spec_of (const struct analysis *analysis, enum analysis_kind kind)
{
  gboolean runs = kind == ANALYSIS_KIND_RUN;
  json_t *spec =
      json_pack ("{s:s, s:o, s:i, s:i}", "mode", runs ? "run" : "scan", "tables", tables_of (analysis),
                 "sample_rows", ANALYSIS_SAMPLE_ROWS, "preview_rows", ANALYSIS_PREVIEW_ROWS);
  if (runs)
    json_object_set (spec, "expect", analysis->expect);
  return spec;
}

/* ---- what a run tells ---- */

static void
run_add_number (json_t *usage, const char *name, const json_t *more)
{
  double sum = json_number_value (json_object_get (usage, name)) + json_number_value (more);
  json_object_set_new (usage, name, json_real (sum));
}

static void
take_usage (struct analysis *analysis, const json_t *usage)
{
  if (!analysis->usage)
    analysis->usage = json_object ();
  run_add_number (analysis->usage, "wall_ms", json_object_get (usage, "wall_ms"));
  run_add_number (analysis->usage, "cpu_ms", json_object_get (usage, "cpu_ms"));
  json_t *peak = json_object_get (usage, "peak_memory_bytes");
  if (json_integer_value (peak) > json_integer_value (json_object_get (analysis->usage, "peak_memory_bytes")))
    json_object_set (analysis->usage, "peak_memory_bytes", peak);
}

static void
run_replace (json_t **place, json_t *value)
{
  json_decref (*place);
  *place = value && !json_is_null (value) ? json_incref (value) : NULL;
}

json_t *
analysis_run_once (struct analysis *analysis, const struct analysis_means *means, enum analysis_kind kind,
                   GError **error)
{
  g_autoptr (json_t) spec = kind == ANALYSIS_KIND_CHECK ? NULL : spec_of (analysis, kind);
  const struct analysis_run run = {kind, kind == ANALYSIS_KIND_SCAN ? "" : analysis->code, spec};
  json_t *result = means->host.run (means->host.data, &run, error);
  if (!result)
    return NULL;
  json_array_append (analysis->run_ids, json_object_get (result, "run_id"));
  take_usage (analysis, json_object_get (result, "usage"));
  run_replace (&analysis->error, json_object_get (result, "error"));
  g_free (analysis->outcome);
  analysis->outcome = g_strdup (json_member_text (result, "outcome"));
  analysis->exit_code = json_integer_value (json_object_get (result, "exit_code"));
  return result;
}

/* ---- pictures ---- */

static void
run_take_pictures (struct analysis *analysis, const json_t *bundle)
{
  static const char *const types[] = {"image/png", "image/jpeg"};
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++) {
    json_t *data = json_object_get (bundle, types[i]);
    if (json_is_string (data))
      json_array_append_new (analysis->pictures, json_pack ("{s:s, s:O}", "mime", types[i], "data", data));
  }
}

/* ---- the table as a file ---- */

static json_t *
file_called (const json_t *files, const char *name)
{
  gsize index;
  json_t *file;
  json_array_foreach (files, index, file)
  {
    if (strcmp (json_member_text (file, "name"), name) == 0)
      return file;
  }
  return NULL;
}

static char *
warnings_of (const json_t *run_result)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *warning;
  json_array_foreach (json_object_get (run_result, "warnings"), index, warning)
      g_string_append_printf (text, "%s%s", index > 0 ? "; " : "", json_string_value (warning));
  return g_string_free (text, FALSE);
}

static gboolean
run_is_table (const json_t *result)
{
  const char *kind = json_member_text (result, "kind");
  return strcmp (kind, "table") == 0 || strcmp (kind, "series") == 0;
}

/* The name is the code's word; only a file of its run can be meant by it. */
static void
run_take_table (struct analysis *analysis, const json_t *run_result, const json_t *bundle)
{
  json_t *file = file_called (json_object_get (run_result, "files"), json_member_text (bundle, "file"));
  run_replace (&analysis->table_file, file);
  g_clear_pointer (&analysis->table_note, g_free);
  if (file || !run_is_table (analysis->result))
    return;
  g_autofree char *why = warnings_of (run_result);
  analysis->table_note = g_strdup (why[0] ? why : "the run left no file of it");
}

/* ---- why it is no answer ---- */

/* As Python says it; what else ended the run, in its one sentence, with what to do about it. */
static void
note_error (struct analysis *analysis)
{
  const char *traceback = json_member_text (analysis->error, "traceback");
  const char *message = json_member_text (analysis->error, "message");
  const char *hint = json_member_text (analysis->error, "hint");
  GString *text = g_string_new (traceback[0] ? traceback : message);
  if (traceback[0] && !strstr (traceback, message))
    g_string_append_printf (text, "\n%s", message);
  if (hint[0])
    g_string_append_printf (text, "\n%s", hint);
  g_autofree char *whole = g_string_free (text, FALSE);
  json_array_append_new (analysis->errors, json_text_or_null (g_strstrip (whole)));
  /* What was asked for by a name that is not there was a column, as a rule. */
  if (strcmp (json_member_text (analysis->error, "type"), "KeyError") == 0) {
    g_autofree char *columns = describe_columns (analysis);
    json_array_append_new (analysis->errors, json_text_or_null (columns));
  }
}

gboolean
analysis_run (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  g_autoptr (json_t) result = analysis_run_once (analysis, means, ANALYSIS_KIND_RUN, error);
  if (!result)
    return FALSE;
  const json_t *bundle = analysis_bundle (result);
  gsize index;
  json_t *display;
  analysis_take_tables (analysis, result);
  run_replace (&analysis->result, json_object_get (bundle, "result"));
  if (means->host.keeps_table)
    run_take_table (analysis, result, bundle);
  if (json_is_array (json_object_get (bundle, "tests")))
    run_replace (&analysis->tests, json_object_get (bundle, "tests"));
  run_replace (&analysis->violations, json_object_get (result, "violations"));
  if (json_is_array (json_object_get (result, "charts")))
    run_replace (&analysis->charts, json_object_get (result, "charts"));
  g_free (analysis->stdout_text);
  analysis->stdout_text = g_strdup (json_member_text (result, "stdout"));
  json_array_foreach (json_object_get (result, "displays"), index, display)
      run_take_pictures (analysis, display);
  if (!analysis_ended_as (analysis, ADDER_OUTCOME_OK))
    note_error (analysis);
  return TRUE;
}
