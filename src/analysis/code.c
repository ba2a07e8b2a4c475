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

/* ---- code as small models write it ---- */

/* What all LINES that are not blank are indented by. */
static gsize
code_indent_of (char *const *lines)
{
  gsize least = G_MAXSIZE;
  for (gsize i = 0; lines[i]; i++) {
    gsize indent = strspn (lines[i], " \t");
    if (lines[i][indent + strspn (lines[i] + indent, "\r")] != '\0')
      least = MIN (least, indent);
  }
  return least == G_MAXSIZE ? 0 : least;
}

/* Whether LINE brings what is there: an import of pd, np or stats, also as it was misread, or, of a single
 * table, df from a file, whose name the model makes up, since it was told none. */
static gboolean
is_needless (const char *line, gboolean is_single)
{
  static const char import[] = "^(import (pandas as pd|numpy as np|scipy\\.stats as stats|stats( as "
                               "scipy\\.stats)?)|from scipy import "
                               "stats)\\s*(#.*)?$";
  static const char load[] = "^df = pd\\.read_(csv|parquet)\\((\"[^\"]*\"|'[^']*')\\)\\s*(#.*)?$";
  return g_regex_match_simple (import, line, 0, 0) || (is_single && g_regex_match_simple (load, line, 0, 0));
}

/* CODE as it can run: indented less where all of it is indented, and without lines that are needless. The
 * caller's. */
static char *
tidied (const char *code, gboolean is_single)
{
  g_auto (GStrv) lines = g_strsplit (code, "\n", -1);
  GString *text = g_string_new (NULL);
  gsize indent = code_indent_of (lines);
  for (gsize i = 0; lines[i]; i++) {
    const char *line = lines[i] + MIN (indent, strlen (lines[i]));
    if (!is_needless (line, is_single))
      g_string_append_printf (text, "%s%s", line, lines[i + 1] ? "\n" : "");
  }
  return g_string_free (text, FALSE);
}

/* ---- asking for it ---- */

/* Whether the last attempt was one before it again, but for blanks around it. */
static gboolean
code_is_repeated (const json_t *attempts)
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
ask_again (const struct analysis *analysis, struct dialogue *dialogue)
{
  g_autofree char *errors = json_join (analysis->errors, "\n");
  g_autofree char *text = prompt_with (prompt_code_failed, errors);
  g_autofree char *whole =
      g_strconcat (text, code_is_repeated (analysis->attempts) ? prompt_code_repeated : "", NULL);
  dialogue_tell (dialogue, whole, TRUE);
}

static void
code_ask (const struct analysis *analysis, struct dialogue *dialogue)
{
  if (dialogue_is_new (dialogue))
    analysis_open_dialogue (analysis, dialogue, prompt_ask_code);
  else
    dialogue_tell (dialogue, prompt_ask_code, FALSE);
}

gboolean
analysis_code (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  if (json_array_size (analysis->errors) > 0)
    ask_again (analysis, means->dialogue);
  else
    code_ask (analysis, means->dialogue);
  g_autoptr (json_t) arguments = dialogue_call (means->dialogue, PROMPT_TOOL_CODE, is_code, "code", error);
  if (!arguments)
    return FALSE;
  analysis_forget_code (analysis);
  gboolean is_single = json_array_size (analysis->csv) == 1;
  analysis->code = tidied (json_member_text (arguments, "code"), is_single);
  return TRUE;
}
