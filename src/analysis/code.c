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

/* What is there, by the names under which it is imported. */
static const struct {
  const char *module, *name;
} present[] = {{"pandas", "pd"}, {"numpy", "np"}, {"scipy.stats", "stats"}, {"stats", "stats"}};

static const char *
find_present (const char *module)
{
  for (gsize i = 0; i < G_N_ELEMENTS (present); i++)
    if (strcmp (present[i].module, module) == 0)
      return present[i].name;
  return NULL;
}

/* LINE, an import of what is there, as code that imports nothing: "", or another name for it. NULL: it is
 * none of those. The caller's. */
static char *
replace_import (const char *line)
{
  static const char form[] =
      "^(?:import ([a-z.]+)(?: as ([A-Za-z_.]+))?|from scipy import stats)\\s*(?:#.*)?$";
  g_autoptr (GRegex) regex = g_regex_new (form, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  if (!g_regex_match (regex, line, 0, &match))
    return NULL;
  g_autofree char *module = g_match_info_fetch (match, 1), *alias = g_match_info_fetch (match, 2);
  if (!module || !module[0])
    return g_strdup ("");
  const char *name = find_present (module), *called = alias && alias[0] ? alias : module;
  if (!name)
    return NULL;
  return strcmp (called, name) == 0 || strchr (called, '.') ? g_strdup ("")
                                                            : g_strdup_printf ("%s = %s", called, name);
}

/* LINE with the one table TABLE in the place of each file that it loads: no file can be read, and the model
 * makes its name up, since it was told none. The caller's. */
static char *
replace_loads (const char *line, const char *table)
{
  static const char form[] = "\\bpd\\.read_(?:csv|parquet|excel|json)\\((?:\"[^\"]*\"|'[^']*')\\)";
  g_autoptr (GRegex) regex = g_regex_new (form, 0, 0, NULL);
  g_autofree char *loaded = g_strdup_printf ("dfs[\"%s\"]", table);
  return g_regex_replace_literal (regex, line, -1, 0, loaded, 0, NULL);
}

/* CODE as it can run: indented less where all of it is indented, and without what brings what is there. TABLE
 * NULL: there are several. The caller's. */
static char *
tidied (const char *code, const char *table)
{
  g_auto (GStrv) lines = g_strsplit (code, "\n", -1);
  GString *text = g_string_new (NULL);
  gsize indent = code_indent_of (lines);
  for (gsize i = 0; lines[i]; i++) {
    const char *line = lines[i] + MIN (indent, strlen (lines[i]));
    g_autofree char *replaced = replace_import (line);
    if (!replaced)
      replaced = table ? replace_loads (line, table) : g_strdup (line);
    if (replaced[0] || !line[0])
      g_string_append_printf (text, "%s%s", replaced, lines[i + 1] ? "\n" : "");
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
  g_autofree char *text =
      prompt_with (dialogue_is_short (dialogue) ? prompt_code_failed_short : prompt_code_failed, errors);
  g_autofree char *whole =
      g_strconcat (text, code_is_repeated (analysis->attempts) ? prompt_code_repeated : "", NULL);
  dialogue_tell (dialogue, whole, TRUE);
}

static void
code_ask (const struct analysis *analysis, struct dialogue *dialogue)
{
  const char *text = dialogue_is_short (dialogue) ? prompt_ask_code_short : prompt_ask_code;
  if (dialogue_is_new (dialogue))
    analysis_open_dialogue (analysis, dialogue, text);
  else
    dialogue_tell (dialogue, text, FALSE);
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
  const char *table = json_array_size (analysis->csv) == 1
                          ? json_member_text (json_array_get (analysis->csv, 0), "name")
                          : NULL;
  analysis->code = tidied (json_member_text (arguments, "code"), table);
  return TRUE;
}
