/* SPDX-License-Identifier: Apache-2.0 */
/* Step 6: the checks. The sandbox makes them, beside the result itself; here is what follows from them. */
#include "analysis/steps.h"

#include "common/json.h"

#define TESTS_FAILED "tests_failed"

gboolean
analysis_test (struct analysis *analysis, G_GNUC_UNUSED const struct analysis_means *means,
               G_GNUC_UNUSED GError **error)
{
  gsize index;
  json_t *test;
  json_array_foreach (analysis->tests, index, test)
  {
    if (!json_is_true (json_object_get (test, "ok")))
      json_array_append (analysis->errors, json_object_get (test, "message"));
  }
  if (json_array_size (analysis->errors) > 0) {
    g_free (analysis->outcome);
    analysis->outcome = g_strdup (TESTS_FAILED);
    analysis->exit_code = 1;
  }
  return TRUE;
}
