/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a question, and its way to JSON and back by one table of members. */
#include "analysis/state.h"

#include <string.h>

#include "adder.h"
#include "common/json.h"
#include "common/text.h"

#define NAME_BYTES     64
#define ORIGINAL_BYTES 100

const char *const analysis_step_names[] = {"scan",  "plan", "expect", "code",
                                           "guard", "run",  "test",   "answer"};

enum kind { KIND_TEXT, KIND_NUMBER, KIND_LIST, KIND_OBJECT };

const char *const analysis_step_texts[] = {
    [ANALYSIS_SCAN] = "looking at the tables", [ANALYSIS_PLAN] = "planning",
    [ANALYSIS_EXPECT] = "proposing checks",    [ANALYSIS_CODE] = "writing code",
    [ANALYSIS_GUARD] = "checking the code",    [ANALYSIS_RUN] = "running it on all of the data",
    [ANALYSIS_TEST] = "checking the result",   [ANALYSIS_ANSWER] = "answering",
};

#define AT(member) offsetof (struct analysis, member)

static const struct member {
  const char *name;
  enum kind kind;
  gsize offset;
} members[] = {
    {"question", KIND_TEXT, AT (question)},
    {"answer", KIND_TEXT, AT (answer)},
    {"code", KIND_TEXT, AT (code)},
    {"table", KIND_OBJECT, AT (result)},
    {"table_file", KIND_OBJECT, AT (table_file)},
    {"table_note", KIND_TEXT, AT (table_note)},
    {"pictures", KIND_LIST, AT (pictures)},
    {"charts", KIND_LIST, AT (charts)},
    {"csv", KIND_LIST, AT (csv)},
    {"schema", KIND_LIST, AT (schema)},
    {"plan", KIND_OBJECT, AT (plan)},
    {"expect", KIND_LIST, AT (expect)},
    {"tests", KIND_LIST, AT (tests)},
    {"violations", KIND_LIST, AT (violations)},
    {"error", KIND_OBJECT, AT (error)},
    {"errors", KIND_LIST, AT (errors)},
    {"attempts", KIND_LIST, AT (attempts)},
    {"assumed", KIND_LIST, AT (assumed)},
    {"stdout", KIND_TEXT, AT (stdout_text)},
    {"outcome", KIND_TEXT, AT (outcome)},
    {"exit_code", KIND_NUMBER, AT (exit_code)},
    {"model", KIND_OBJECT, AT (model)},
    {"usage", KIND_OBJECT, AT (usage)},
    {"run_ids", KIND_LIST, AT (run_ids)},
};

#define PLACE(analysis, member, type) ((type *)(void *)((char *)(analysis) + (member)->offset))

/* A list is never missing, only empty. */
static void
fill_lists (struct analysis *analysis)
{
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++) {
    json_t **place = PLACE (analysis, &members[i], json_t *);
    if (members[i].kind == KIND_LIST && !*place)
      *place = json_array ();
  }
}

struct analysis *
analysis_new (const char *question)
{
  struct analysis *analysis = g_new0 (struct analysis, 1);
  analysis->question = g_strdup (question);
  fill_lists (analysis);
  return analysis;
}

static void
clear_member (struct analysis *analysis, const struct member *member)
{
  switch (member->kind) {
  case KIND_TEXT:
    g_clear_pointer (PLACE (analysis, member, char *), g_free);
    break;
  case KIND_NUMBER:
    *PLACE (analysis, member, gint64) = 0;
    break;
  case KIND_LIST:
  case KIND_OBJECT:
  default:
    g_clear_pointer (PLACE (analysis, member, json_t *), json_decref);
    break;
  }
}

void
analysis_free (struct analysis *analysis)
{
  if (!analysis)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    clear_member (analysis, &members[i]);
  g_free (analysis);
}

void
analysis_forget_code (struct analysis *analysis)
{
  static const char *const of_code[] = {"code",   "table",   "table_file", "table_note", "pictures",
                                        "charts", "tests",   "violations", "error",      "errors",
                                        "stdout", "outcome", "exit_code",  NULL};
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (g_strv_contains (of_code, members[i].name))
      clear_member (analysis, &members[i]);
  fill_lists (analysis);
}

gboolean
analysis_is_answered (const struct analysis *analysis)
{
  return g_strcmp0 (analysis->outcome, adder_outcome_name (ADDER_OUTCOME_OK)) == 0 && analysis->result &&
         json_array_size (analysis->errors) == 0;
}

/* ---- tables ---- */

static gboolean
check_name (const struct analysis *analysis, const char *name, GError **error)
{
  g_autofree char *shown = text_one_line (name, NAME_BYTES);
  const char *fault = NULL;
  gsize index;
  json_t *table;
  if (name[0] == '\0' || strlen (name) > NAME_BYTES || strcmp (shown, name) != 0)
    fault = "a table's name is 1 to 64 bytes of UTF-8 without control characters: give it one with NAME=PATH";
  json_array_foreach (analysis->csv, index, table)
  {
    if (strcmp (json_member_text (table, "name"), name) == 0)
      fault = "two tables have this name: give one of them another with NAME=PATH";
  }
  if (fault)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the table \"%s\": %s", shown, fault);
  return !fault;
}

gboolean
analysis_add_table (struct analysis *analysis, const char *name, const char *ending, const char *original,
                    const char *path, guint64 bytes, const json_t *options, GError **error)
{
  gsize count = json_array_size (analysis->csv);
  if (count == ANALYSIS_TABLES_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "more than %d tables cannot be asked at once",
                 ANALYSIS_TABLES_MAX);
    return FALSE;
  }
  if (!check_name (analysis, name, error))
    return FALSE;
  /* Not the table's name, which need not be a file's. */
  g_autofree char *file = g_strdup_printf ("table-%" G_GSIZE_FORMAT ".%s", count + 1, ending);
  g_autofree char *base = g_path_get_basename (original);
  g_autofree char *shown = text_one_line (base, ORIGINAL_BYTES);
  json_t *table = json_pack ("{s:s, s:s, s:s, s:o, s:I, s:n, s:o}", "name", name, "file", file, "original",
                             shown, "path", json_text_or_null (path), "bytes", (json_int_t)bytes, "sha256",
                             "options", options ? json_deep_copy (options) : json_null ());
  json_array_append_new (analysis->csv, table);
  return TRUE;
}

/* ---- JSON ---- */

static json_t *
member_to_json (const struct analysis *analysis, const struct member *member)
{
  switch (member->kind) {
  case KIND_TEXT:
    return json_text_or_null (*PLACE (analysis, member, char *));
  case KIND_NUMBER:
    return json_integer (*PLACE (analysis, member, gint64));
  case KIND_LIST:
  case KIND_OBJECT:
  default: {
    json_t *value = *PLACE (analysis, member, json_t *);
    return value ? json_incref (value) : json_null ();
  }
  }
}

json_t *
analysis_to_json (const struct analysis *analysis)
{
  json_t *value = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    json_object_set_new (value, members[i].name, member_to_json (analysis, &members[i]));
  return value;
}

/* FALSE: VALUE is of another kind. */
static gboolean
take_member (struct analysis *analysis, const struct member *member, json_t *value)
{
  if (!value || json_is_null (value))
    return member->kind != KIND_NUMBER || !value;
  switch (member->kind) {
  case KIND_TEXT:
    *PLACE (analysis, member, char *) = g_strdup (json_string_value (value));
    return json_is_string (value);
  case KIND_NUMBER:
    *PLACE (analysis, member, gint64) = json_integer_value (value);
    return json_is_integer (value);
  case KIND_LIST:
    *PLACE (analysis, member, json_t *) = json_incref (value);
    return json_is_array (value);
  case KIND_OBJECT:
  default:
    *PLACE (analysis, member, json_t *) = json_incref (value);
    return json_is_object (value);
  }
}

struct analysis *
analysis_from_json (const json_t *value, GError **error)
{
  g_autoptr (analysis_auto) analysis = g_new0 (struct analysis, 1);
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (!json_is_object (value) ||
        !take_member (analysis, &members[i], json_object_get (value, members[i].name))) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "this is no state of a question: its member \"%s\" is not what it should be",
                   members[i].name);
      return NULL;
    }
  fill_lists (analysis);
  return g_steal_pointer (&analysis);
}
