/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of step 6: checks that the model proposes. It does so before it writes code, lest they be
 * what the code happens to do. One that is none is left out: no question fails for a check that nobody asked
 * for. */
#include "analysis/steps.h"

#include <string.h>

#include "analysis/prompts.h"
#include "common/json.h"
#include "library/analysis_form.h"

#define CHECKS_MAX 20

static gboolean
has_checks (const json_t *arguments, char **ret_why)
{
  if (!json_is_array (json_object_get (arguments, "checks")))
    *ret_why = g_strdup ("checks must be a list of texts, each a JSON object: call it again.");
  return !*ret_why;
}

/* A check as it was written: a text that is an object, or the object itself. The caller's, or NULL. */
static json_t *
read_check (const json_t *written)
{
  const char *text = json_string_value (written);
  if (json_is_object (written))
    return json_deep_copy (written);
  return text ? json_parse_object (text, strlen (text), "the check", NULL) : NULL;
}

static void
take_check (struct analysis *analysis, const json_t *tables, const json_t *written)
{
  g_autoptr (json_t) check = read_check (written);
  g_autoptr (json_t) alone = check ? json_pack ("[O]", check) : NULL;
  if (alone && json_array_size (analysis->expect) < CHECKS_MAX &&
      analysis_form_check_expect (alone, tables, NULL))
    json_array_append (analysis->expect, check);
}

/* The tables' names. The caller's. */
static json_t *
expect_names_of (const struct analysis *analysis)
{
  json_t *names = json_array ();
  gsize index;
  json_t *table;
  json_array_foreach (analysis->csv, index, table) json_array_append (names, json_object_get (table, "name"));
  return names;
}

gboolean
analysis_check_expect (const struct analysis *analysis, GError **error)
{
  g_autoptr (json_t) names = expect_names_of (analysis);
  return json_array_size (analysis->expect) == 0 ||
         analysis_form_check_expect (analysis->expect, names, error);
}

gboolean
analysis_expect (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  g_autofree char *checks = analysis_form_describe_checks ();
  g_autofree char *text = prompt_with (prompt_ask_checks, checks);
  if (dialogue_is_new (means->dialogue))
    analysis_open_dialogue (analysis, means->dialogue, text);
  else
    dialogue_tell (means->dialogue, text, FALSE);
  g_autoptr (json_t) arguments = NULL;
  if (!dialogue_try (means->dialogue, PROMPT_TOOL_CHECKS, has_checks, &arguments, error))
    return FALSE;
  g_autoptr (json_t) tables = json_array ();
  gsize index;
  json_t *item;
  json_array_foreach (analysis->csv, index, item) json_array_append (tables, json_object_get (item, "name"));
  json_array_foreach (json_object_get (arguments, "checks"), index, item) take_check (analysis, tables, item);
  return TRUE;
}
