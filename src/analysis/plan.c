/* SPDX-License-Identifier: Apache-2.0 */
/* Step 2: from the question to steps, target and time, before any code. */
#include "analysis/steps.h"

#include <stdlib.h>

#include "analysis/describe.h"
#include "analysis/prompts.h"
#include "common/json.h"

/* A plan of somebody else's, as it is told. The caller's. */
static char *
given_plan (const struct analysis *analysis)
{
  if (!analysis->plan)
    return g_strdup ("");
  char *plan = json_dumps (analysis->plan, JSON_INDENT (1));
  char *text = prompt_with (prompt_given_plan, plan);
  free (plan);
  return text;
}

/* The question opens the conversation, whichever step comes first. */
void
analysis_open_dialogue (const struct analysis *analysis, struct dialogue *dialogue, const char *ask)
{
  guint rows = dialogue_is_short (dialogue) ? ANALYSIS_SHORT_ROWS : ANALYSIS_SAMPLE_ROWS;
  g_autofree char *tables = describe_tables (analysis, rows), *plan = given_plan (analysis);
  g_autofree char *text =
      g_strdup_printf ("%s\nThe question: %s\n\n%s%s", tables, analysis->question, plan, ask);
  dialogue_tell (dialogue, text, FALSE);
}

static gboolean
are_steps (const json_t *steps)
{
  gsize index;
  json_t *step;
  json_array_foreach (steps, index, step)
  {
    if (!json_is_string (json_object_get (step, "operation")) ||
        !json_is_string (json_object_get (step, "detail")))
      return FALSE;
  }
  return json_array_size (steps) > 0;
}

static gboolean
is_plan (const json_t *plan, char **ret_why)
{
  const json_t *target = json_object_get (plan, "target"), *time = json_object_get (plan, "time");
  if (!are_steps (json_object_get (plan, "steps")))
    *ret_why =
        g_strdup ("steps must be a list of one or more {operation, detail}, both text: call it again.");
  else if (!json_is_object (target) || !json_is_string (json_object_get (target, "kind")))
    *ret_why = g_strdup ("target must be {kind, columns, rows, order}: call it again.");
  else if (time && !json_is_null (time) && !json_is_object (time))
    *ret_why = g_strdup ("time must be {column, period, change}, or null: call it again.");
  return !*ret_why;
}

gboolean
analysis_plan (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  analysis_open_dialogue (analysis, means->dialogue, prompt_ask_plan);
  return dialogue_try (means->dialogue, PROMPT_TOOL_PLAN, is_plan, &analysis->plan, error);
}
