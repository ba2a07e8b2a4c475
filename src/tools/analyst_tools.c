/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the toolset `analyst`: each is some of the steps of analysis/, in the engine of this
 * process. */
#include <string.h>

#include "analysis/prompts.h"
#include "analysis/steps.h"
#include "common/config.h"
#include "common/hang_up.h"
#include "common/json.h"
#include "tools/analyst.h"

#define REFUSED 126

/* ---- a call's input ---- */

/* An omitted parameter is null here, and missing where checks are read. The caller's. */
static json_t *
without_nulls (const json_t *list)
{
  json_t *copies = json_array ();
  gsize index;
  json_t *item;
  json_array_foreach (list, index, item)
  {
    json_t *copy = json_object ();
    const char *name;
    json_t *value;
    json_object_foreach (item, name, value)
    {
      if (!json_is_null (value))
        json_object_set (copy, name, value);
    }
    json_array_append_new (copies, copy);
  }
  return copies;
}

struct asked {
  struct analysis *analysis;
  GArray *tables;
  struct analyst_host host;
};

static void
asked_clear (struct asked *asked)
{
  analysis_free (asked->analysis);
  g_clear_pointer (&asked->tables, g_array_unref);
}

static gboolean
asked_init (struct asked *asked, struct call *call, GError **error)
{
  *asked = (struct asked){.analysis = analysis_new (call_text (call, "question"))};
  asked->analysis->code = g_strdup (call_text (call, "code"));
  json_decref (asked->analysis->expect);
  asked->analysis->expect = without_nulls (json_object_get (call->arguments, "expect"));
  asked->tables = analyst_tables (call, asked->analysis, error);
  asked->host = (struct analyst_host){call, asked->tables};
  return asked->tables != NULL;
}

/* ---- what it replies ---- */

static json_t *
analyst_tools_or_null (json_t *value)
{
  return value ? json_incref (value) : json_null ();
}

/* For PNG, which interfaces turn into images. */
static json_t *
analyst_tools_pictures_of (const struct analysis *analysis)
{
  json_t *pictures = json_array ();
  gsize index;
  json_t *picture;
  json_array_foreach (analysis->pictures, index, picture)
  {
    if (strcmp (json_member_text (picture, "mime"), "image/png") == 0)
      json_array_append (pictures, json_object_get (picture, "data"));
  }
  return pictures;
}

/* Whether the failure says something about the code: lack of room, or cancellation, is the call's error. */
static gboolean
is_told (const struct analysis *analysis)
{
  static const AdderOutcome untold[] = {ADDER_OUTCOME_APPROVAL_REQUIRED, ADDER_OUTCOME_CANCELLED,
                                        ADDER_OUTCOME_BUSY, ADDER_OUTCOME_FAILED};
  for (gsize i = 0; i < G_N_ELEMENTS (untold); i++)
    if (analysis_ended_as (analysis, untold[i]))
      return FALSE;
  return TRUE;
}

static json_t *
last_run (const struct analysis *analysis)
{
  return json_array_get (analysis->run_ids, json_array_size (analysis->run_ids) - 1);
}

static void
analyst_tools_reply (struct call *call, const struct analysis *analysis, json_t *value)
{
  call_reply (call, value, NULL);
  if (last_run (analysis))
    json_object_set (value, "run_id", last_run (analysis));
}

/* The error of the state's last run. */
static void
analyst_tools_reply_error (struct call *call, const struct analysis *analysis)
{
  const char *message = json_member_text (analysis->error, "message");
  const char *hint = json_member_text (analysis->error, "hint");
  g_autofree char *text = g_strdup_printf ("%s%s%s", message, hint[0] ? " " : "", hint);
  analyst_tools_reply (call, analysis, json_pack ("{s:o}", "error", json_text_or_null (text)));
  call->reply->is_error = TRUE;
  call->reply->exit_code = (int)analysis->exit_code;
}

/* What run_analysis and ask_csv both report. The caller's. */
static json_t *
told (const struct call *call, const struct analysis *analysis)
{
  json_t *value = json_pack (
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:I, s:o, s:o}", "answer",
      json_text_or_null (analysis->answer), "code", json_text_or_null (analysis->code), "table",
      analyst_tools_or_null (analysis->result), "table_file", analyst_tools_or_null (analysis->table_file),
      "table_note", json_text_or_null (analysis->table_note), "schema",
      analyst_tools_or_null (analysis->schema), "tests", analyst_tools_or_null (analysis->tests),
      "violations", analyst_tools_or_null (analysis->violations), "errors",
      analyst_tools_or_null (analysis->errors), "assumed", analyst_tools_or_null (analysis->assumed),
      "outcome", analysis->outcome, "exit_code", (json_int_t)analysis->exit_code, "stdout",
      json_string (analysis->stdout_text ? analysis->stdout_text : ""), "pictures",
      analyst_tools_pictures_of (analysis));
  if (call_flag (call, "charts"))
    json_object_set (value, "charts", analysis->charts);
  return value;
}

static void
reply_told (struct call *call, const struct analysis *analysis, json_t *value)
{
  analyst_tools_reply (call, analysis, value);
  call->reply->is_error = !analysis_is_answered (analysis);
  call->reply->exit_code = analysis_ended_as (analysis, ADDER_OUTCOME_REFUSED) ? REFUSED
                           : call->reply->is_error                             ? 1
                                                                               : 0;
}

/* ---- scan_csv ---- */

void
analyst_scan_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct asked asked;
  const struct analysis_means means = {.host = {analyst_host_run, &asked.host, TRUE}};
  if (!asked_init (&asked, call, &problem) || !analysis_scan (asked.analysis, &means, &problem))
    call_fail (call, problem);
  else if (!analysis_ended_as (asked.analysis, ADDER_OUTCOME_OK))
    analyst_tools_reply_error (call, asked.analysis);
  else
    analyst_tools_reply (
        call, asked.analysis,
        json_pack ("{s:O, s:O}", "schema", asked.analysis->schema, "assumed", asked.analysis->assumed));
  asked_clear (&asked);
}

/* ---- check_code ---- */

void
analyst_check_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (analysis_auto) analysis = analysis_new (NULL);
  struct analyst_host host = {call, NULL};
  const struct analysis_means means = {.host = {analyst_host_run, &host, FALSE}};
  analysis->code = g_strdup (call_text (call, "code"));
  if (!analysis_guard (analysis, &means, &problem))
    call_fail (call, problem);
  else if (!is_told (analysis))
    analyst_tools_reply_error (call, analysis);
  else
    analyst_tools_reply (call, analysis,
                         json_pack ("{s:b, s:O, s:O}", "ok", json_array_size (analysis->errors) == 0,
                                    "violations", analysis->violations, "errors", analysis->errors));
}

/* ---- run_analysis ---- */

static gboolean
analyst_tools_run (struct analysis *analysis, const struct analysis_means *means, GError **error)
{
  return analysis_run (analysis, means, error) &&
         (json_array_size (analysis->errors) > 0 || analysis_test (analysis, means, error)) &&
         analysis_answer (analysis, means, error);
}

void
analyst_run_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct asked asked;
  const struct analysis_means means = {.host = {analyst_host_run, &asked.host, TRUE}};
  if (!asked_init (&asked, call, &problem) || !analyst_tools_run (asked.analysis, &means, &problem))
    call_fail (call, problem);
  else if (!is_told (asked.analysis))
    analyst_tools_reply_error (call, asked.analysis);
  else
    reply_told (call, asked.analysis, told (call, asked.analysis));
  asked_clear (&asked);
}

/* ---- ask_csv ---- */

static gboolean
analyst_tools_ask (struct call *call, struct asked *asked, GError **error)
{
  gboolean has_code = call_text (call, "code") != NULL;
  struct model *model = has_code ? NULL : analyst_model_open (call, error);
  if (!model && !has_code)
    return FALSE;
  struct hang_up *watch = hang_up_new (call->caller->watch_fd);
  struct dialogue *dialogue = model ? dialogue_new (model, hang_up_fd (watch)) : NULL;
  if (dialogue)
    dialogue_limit (dialogue, call->tools->config->models_tokens, "[models] tokens of adder.conf");
  struct analyst_steps steps = {call, 0};
  const struct analysis_means means = {
      .host = {analyst_host_run, &asked->host, TRUE},
      .dialogue = dialogue,
      .begins = analyst_steps_begins,
      .saw = analyst_steps_saw,
      .saw_data = &steps,
      .proposes_checks = json_array_size (asked->analysis->expect) == 0 && !dialogue_is_short (dialogue),
  };
  json_t *plan = json_object_get (call->arguments, "plan");
  asked->analysis->plan = json_is_object (plan) ? json_incref (plan) : NULL;
  gboolean ok = analysis_solve (asked->analysis, &means, error);
  dialogue_free (dialogue);
  hang_up_free (watch);
  analyst_model_close (call, model);
  return ok;
}

static json_t *
told_more (const struct call *call, const struct analysis *analysis)
{
  json_t *value = told (call, analysis);
  json_object_set_new (value, "plan", analyst_tools_or_null (analysis->plan));
  json_object_set_new (value, "attempts", analyst_tools_or_null (analysis->attempts));
  json_object_set_new (value, "model", analyst_tools_or_null (analysis->model));
  json_object_set_new (value, "usage", analyst_tools_or_null (analysis->usage));
  json_object_set_new (value, "run_ids", analyst_tools_or_null (analysis->run_ids));
  return value;
}

void
analyst_ask_tool (struct call *call)
{
  g_autoptr (GError) problem = NULL;
  struct asked asked;
  if (!asked_init (&asked, call, &problem) || !analyst_tools_ask (call, &asked, &problem))
    call_fail (call, problem);
  else if (!is_told (asked.analysis))
    analyst_tools_reply_error (call, asked.analysis);
  else
    reply_told (call, asked.analysis, told_more (call, asked.analysis));
  asked_clear (&asked);
}
