/* SPDX-License-Identifier: Apache-2.0 */
/* Step 8: which step comes next. */
#include "analysis/steps.h"

#include <string.h>

#include "common/json.h"

typedef gboolean (*step_function) (struct analysis *analysis, const struct analysis_means *means,
                                   GError **error);

static const step_function functions[] = {
    [ANALYSIS_SCAN] = analysis_scan, [ANALYSIS_PLAN] = analysis_plan,     [ANALYSIS_EXPECT] = analysis_expect,
    [ANALYSIS_CODE] = analysis_code, [ANALYSIS_GUARD] = analysis_guard,   [ANALYSIS_RUN] = analysis_run,
    [ANALYSIS_TEST] = analysis_test, [ANALYSIS_ANSWER] = analysis_answer,
};

static gboolean
controller_take (struct analysis *analysis, const struct analysis_means *means, enum analysis_step step,
                 GError **error)
{
  if (means->begins)
    means->begins (means->saw_data, analysis, step);
  if (!functions[step](analysis, means, error))
    return FALSE;
  if (means->dialogue) {
    g_autoptr (json_t) used = dialogue_usage (means->dialogue);
    json_object_update (analysis->usage, used);
  }
  if (means->saw)
    means->saw (means->saw_data, analysis, step);
  return TRUE;
}

/* ---- one attempt ---- */

/* Guard, run and test, as far as they go. */
static gboolean
try_code (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  static const enum analysis_step steps[] = {ANALYSIS_GUARD, ANALYSIS_RUN, ANALYSIS_TEST};
  for (gsize i = 0; i < G_N_ELEMENTS (steps) && json_array_size (analysis->errors) == 0; i++)
    if (!controller_take (analysis, means, steps[i], error))
      return FALSE;
  return TRUE;
}

static void
note_attempt (struct analysis *analysis)
{
  json_t *run_id = json_array_get (analysis->run_ids, json_array_size (analysis->run_ids) - 1);
  json_t *attempt =
      json_pack ("{s:o, s:s, s:I, s:o, s:o, s:o, s:O}", "code", json_text_or_null (analysis->code), "outcome",
                 analysis->outcome, "exit_code", (json_int_t)analysis->exit_code, "errors",
                 json_deep_copy (analysis->errors), "violations", json_deep_copy (analysis->violations),
                 "tests", json_deep_copy (analysis->tests), "run_id", run_id);
  json_array_append_new (analysis->attempts, attempt);
}

/* Another code may do better: not where a limit ended it, or somebody, or Adder itself. */
static gboolean
controller_is_about_code (const struct analysis *analysis)
{
  return analysis_ended_as (analysis, ADDER_OUTCOME_REFUSED)
             ? json_array_size (analysis->violations) > 0
             : analysis_ended_as (analysis, ADDER_OUTCOME_ERROR) ||
                   analysis_ended_as (analysis, ADDER_OUTCOME_OK) ||
                   strcmp (analysis->outcome, "tests_failed") == 0;
}

static gboolean
may_go_back (const struct analysis *analysis, const struct analysis_means *means)
{
  return means->dialogue && controller_is_about_code (analysis) &&
         json_array_size (analysis->attempts) <= ANALYSIS_RETRIES;
}

static gboolean
try_until_answered (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  do {
    if (means->dialogue && !controller_take (analysis, means, ANALYSIS_CODE, error))
      return FALSE;
    if (!try_code (analysis, means, error))
      return FALSE;
    note_attempt (analysis);
  } while (!analysis_is_answered (analysis) && may_go_back (analysis, means));
  return TRUE;
}

/* ---- all of it ---- */

static gboolean
needs_plan (const struct analysis *analysis, const struct analysis_means *means)
{
  return means->dialogue && !analysis->plan && !dialogue_is_short (means->dialogue);
}

gboolean
analysis_solve (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  /* Before a model costs anything. */
  if (!analysis_check_expect (analysis, error))
    return FALSE;
  if (means->dialogue)
    analysis->model = dialogue_model (means->dialogue);
  if (!controller_take (analysis, means, ANALYSIS_SCAN, error))
    return FALSE;
  gboolean is_read = analysis_ended_as (analysis, ADDER_OUTCOME_OK);
  if (is_read && needs_plan (analysis, means) && !controller_take (analysis, means, ANALYSIS_PLAN, error))
    return FALSE;
  if (is_read && means->dialogue && means->proposes_checks &&
      !controller_take (analysis, means, ANALYSIS_EXPECT, error))
    return FALSE;
  if (is_read && !try_until_answered (analysis, means, error))
    return FALSE;
  return controller_take (analysis, means, ANALYSIS_ANSWER, error);
}
