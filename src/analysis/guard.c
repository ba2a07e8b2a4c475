/* SPDX-License-Identifier: Apache-2.0 */
/* Step 4: the code against the rules of the profile, before any of it runs. */
#include "analysis/steps.h"

#include <string.h>

#include "common/json.h"

/* "line 3, column 5: while: while True: (Use a for loop ...)"; columns count from 1 here. */
static void
note_violation (struct analysis *analysis, const json_t *violation)
{
  const char *hint = json_member_text (violation, "hint");
  g_autofree char *text = g_strdup_printf (
      "line %" JSON_INTEGER_FORMAT ", column %" JSON_INTEGER_FORMAT ": %s: %s%s%s%s",
      json_integer_value (json_object_get (violation, "line")),
      json_integer_value (json_object_get (violation, "column")) + 1, json_member_text (violation, "rule"),
      json_member_text (violation, "text"), hint[0] ? " (" : "", hint, hint[0] ? ")" : "");
  json_array_append_new (analysis->errors, json_text_or_null (text));
}

/* Code that Python cannot read breaks no rule. */
static void
note_unread (struct analysis *analysis)
{
  const char *traceback = json_member_text (analysis->error, "traceback");
  const char *text = traceback[0] ? traceback : json_member_text (analysis->error, "message");
  json_array_append_new (analysis->errors, json_text_or_null (text));
}

gboolean
analysis_guard (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  g_autoptr (json_t) result = analysis_run_once (analysis, means, ANALYSIS_KIND_CHECK, error);
  if (!result)
    return FALSE;
  json_t *violations = json_object_get (result, "violations");
  gsize index;
  json_t *violation;
  json_array_clear (analysis->violations);
  json_array_extend (analysis->violations, violations);
  json_array_foreach (violations, index, violation) note_violation (analysis, violation);
  if (!analysis_ended_as (analysis, ADDER_OUTCOME_OK) && json_array_size (violations) == 0)
    note_unread (analysis);
  return TRUE;
}
