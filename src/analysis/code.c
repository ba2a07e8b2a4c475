/* SPDX-License-Identifier: Apache-2.0 */
/* Step 3: the code; after an attempt that was none, with what was wrong with it. */
#include "analysis/steps.h"

#include <string.h>

#include "analysis/prompts.h"
#include "common/json.h"

static gboolean
is_code (const json_t *arguments, char **ret_why)
{
  if (json_member_text (arguments, "code")[0] == '\0')
    *ret_why = g_strdup ("code must be text, all of the Python code: call it again.");
  return !*ret_why;
}

/* The texts of LIST, a line each. The caller's. */
static char *
lines_of (const json_t *list)
{
  GString *text = g_string_new (NULL);
  gsize index;
  json_t *line;
  json_array_foreach (list, index, line)
      g_string_append_printf (text, "%s%s", index > 0 ? "\n" : "", json_string_value (line));
  return g_string_free (text, FALSE);
}

/* Whether the last attempt was one before it again, but for blanks around it. */
static gboolean
is_repeated (const json_t *attempts)
{
  gsize last = json_array_size (attempts) - 1;
  g_autofree char *now = g_strdup (json_member_text (json_array_get (attempts, last), "code"));
  g_strstrip (now);
  for (gsize i = 0; i < last; i++) {
    g_autofree char *before = g_strdup (json_member_text (json_array_get (attempts, i), "code"));
    if (strcmp (g_strstrip (before), now) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
ask_again (const struct analysis *analysis, struct talk *talk)
{
  g_autofree char *errors = lines_of (analysis->errors);
  g_autofree char *text = prompt_with (prompt_code_failed, errors);
  g_autofree char *whole =
      g_strconcat (text, is_repeated (analysis->attempts) ? prompt_code_repeated : "", NULL);
  talk_tell (talk, whole, TRUE);
}

static void
ask (const struct analysis *analysis, struct talk *talk)
{
  if (talk_is_new (talk))
    analysis_open_talk (analysis, talk, prompt_ask_code);
  else
    talk_tell (talk, prompt_ask_code, FALSE);
}

gboolean
analysis_code (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  if (json_array_size (analysis->errors) > 0)
    ask_again (analysis, means->talk);
  else
    ask (analysis, means->talk);
  g_autoptr (json_t) arguments = talk_call (means->talk, PROMPT_TOOL_CODE, is_code, "code", error);
  if (!arguments)
    return FALSE;
  analysis_forget_code (analysis);
  analysis->code = g_strdup (json_member_text (arguments, "code"));
  return TRUE;
}
