/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a question as its caller sees them: which one begins, and what each found. */
#include "common/json.h"
#include "tools/analyst.h"

#define MEMBERS_MAX 3

/* What each step adds to the state (analysis/state.h) that its caller wants to see before the reply. */
static const char *const members_found[][MEMBERS_MAX + 1] = {
    [ANALYSIS_SCAN] = {"assumed"},         [ANALYSIS_PLAN] = {"plan"},
    [ANALYSIS_EXPECT] = {"expect"},        [ANALYSIS_CODE] = {"code"},
    [ANALYSIS_GUARD] = {"errors"},         [ANALYSIS_RUN] = {"outcome", "errors"},
    [ANALYSIS_TEST] = {"tests", "errors"}, [ANALYSIS_ANSWER] = {NULL},
};

static void
analyst_steps_tell (struct analyst_steps *steps, enum analysis_step step, json_t *value)
{
  json_object_set_new (value, "name", json_string (analysis_step_names[step]));
  call_step (steps->call, analysis_step_texts[step], steps->ended, value);
  json_decref (value);
}

void
analyst_steps_begins (gpointer data, G_GNUC_UNUSED const struct analysis *analysis, enum analysis_step step)
{
  analyst_steps_tell (data, step, json_pack ("{s:b}", "ended", FALSE));
}

void
analyst_steps_saw (gpointer data, const struct analysis *analysis, enum analysis_step step)
{
  struct analyst_steps *steps = data;
  g_autoptr (json_t) state = analysis_to_json (analysis);
  json_t *value = json_pack ("{s:b}", "ended", TRUE);
  for (gsize i = 0; members_found[step][i]; i++)
    json_object_set (value, members_found[step][i], json_object_get (state, members_found[step][i]));
  steps->ended++;
  analyst_steps_tell (steps, step, value);
}
