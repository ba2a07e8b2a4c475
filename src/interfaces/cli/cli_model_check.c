/* SPDX-License-Identifier: Apache-2.0 */
/* `adder model check`: three questions that show what a model and its server can do. */
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/text.h"
#include "interfaces/cli/cli.h"
#include "models/model.h"

/* A model that thinks before it answers needs most of them for that. */
#define ANSWER_TOKENS 2048

enum { EXIT_NOT_ALL = 1 };

/* The result of one question. */
struct finding {
  gboolean works;
  char *says; /* one line: the answer, or what is wrong */
  gint64 took_ms;
  guint attempts, pieces;
  gboolean hopeless; /* no other question would be answered */
};

static void
count_piece (gpointer data, const char *text, gsize length)
{
  struct finding *finding = data;
  if (text && length > 0)
    finding->pieces++;
}

/* ---- the questions ---- */

static gboolean
judge_text (const struct model_answer *answer, struct finding *finding)
{
  g_autofree char *text = message_all_text (answer->message);
  finding->says = text_one_line (g_strstrip (text), 60);
  return finding->says[0] != '\0';
}

static gboolean
judge_call (const struct model_answer *answer, struct finding *finding)
{
  g_autoptr (json_t) calls = message_calls (answer->message);
  const json_t *call = json_array_get (calls, 0), *arguments = json_object_get (call, "arguments");
  if (!call)
    finding->says = g_strdup ("it did not call the tool");
  else if (!json_is_number (json_object_get (arguments, "a")) ||
           !json_is_number (json_object_get (arguments, "b")))
    finding->says = g_strdup ("it called the tool without the numbers");
  else {
    g_autofree char *written = json_to_text (arguments);
    g_autofree char *shown = text_one_line (written, 60);
    finding->says = g_strdup_printf ("%s %s", json_member_text (call, "name"), shown);
    return TRUE;
  }
  return FALSE;
}

static gboolean
judge_stream (const struct model_answer *answer, struct finding *finding)
{
  (void)answer;
  finding->says = finding->pieces > 1 ? g_strdup_printf ("%u pieces", finding->pieces)
                                      : g_strdup ("the answer came in one piece");
  return finding->pieces > 1;
}

static json_t *
sum_tool (void)
{
  return json_pack ("[{s:s, s:s, s:{s:s, s:{s:{s:s}, s:{s:s}}, s:[s, s], s:b}}]", "name", "add",
                    "description", "Adds two numbers exactly.", "parameters", "type", "object", "properties",
                    "a", "type", "number", "b", "type", "number", "required", "a", "b",
                    "additionalProperties", FALSE);
}

static const struct question {
  const char *name, *asks;
  json_t *(*tools) (void);
  const char *tool;
  gboolean (*judge) (const struct model_answer *answer, struct finding *finding);
} questions[] = {
    {"answers", "Reply with the single word: ready", NULL, NULL, judge_text},
    {"calls tools", "Add 17 and 25 with the tool.", sum_tool, "add", judge_call},
    {"streams", "Count from one to twenty in words.", NULL, NULL, judge_stream},
};

static gboolean
is_hopeless (const GError *problem)
{
  static const enum model_error kinds[] = {MODEL_ERROR_KEY, MODEL_ERROR_UNKNOWN, MODEL_ERROR_RATE,
                                           MODEL_ERROR_UNAVAILABLE, MODEL_ERROR_TIMEOUT};
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_error_matches (problem, MODEL_ERROR, (gint)kinds[i]))
      return TRUE;
  return FALSE;
}

static void
cli_model_check_ask (struct model *model, const struct question *asked, struct finding *finding)
{
  g_autoptr (json_t) messages = json_pack ("[o]", message_user (asked->asks));
  g_autoptr (json_t) tools = asked->tools ? asked->tools () : NULL;
  struct model_question question = {
      .messages = messages,
      .tools = tools,
      .tool = asked->tool,
      .output_tokens = ANSWER_TOKENS,
      .cancel_fd = -1,
      .saw = count_piece,
      .saw_data = finding,
  };
  struct model_answer answer = {0};
  g_autoptr (GError) problem = NULL;
  gint64 began_us = g_get_monotonic_time ();
  if (model_ask (model, &question, &answer, &problem))
    finding->works = asked->judge (&answer, finding);
  else {
    finding->says = text_one_line (problem->message, -1);
    finding->hopeless = is_hopeless (problem);
  }
  finding->took_ms = (g_get_monotonic_time () - began_us) / 1000;
  finding->attempts = answer.attempts;
  model_answer_clear (&answer);
}

/* ---- telling ---- */

static void
print_finding (const struct question *asked, const struct finding *finding)
{
  printf ("%-12s %s%s%s  %s (%" G_GINT64_FORMAT " ms)\n", asked->name,
          cli_colour (stdout, finding->works ? CLI_GREEN : CLI_RED), finding->works ? "yes" : "no ",
          cli_colour (stdout, CLI_PLAIN), finding->says, finding->took_ms);
  fflush (stdout);
}

static json_t *
finding_json (const struct question *asked, const struct finding *finding)
{
  return json_pack ("{s:s, s:b, s:o, s:I, s:i}", "check", asked->name, "works", finding->works, "says",
                    json_text_or_null (finding->says), "took_ms", (json_int_t)finding->took_ms, "attempts",
                    (int)finding->attempts);
}

static int
cli_model_check_check (struct model *model, gboolean json)
{
  const struct model_facts *facts = model_facts (model);
  g_autoptr (json_t) found = json_array ();
  gboolean all = TRUE, hopeless = FALSE;
  if (!json)
    printf ("%s is %s\n", facts->name, facts->provider);
  for (gsize i = 0; i < G_N_ELEMENTS (questions) && !hopeless; i++) {
    struct finding finding = {0};
    cli_model_check_ask (model, &questions[i], &finding);
    all = all && finding.works;
    hopeless = finding.hopeless;
    if (!json)
      print_finding (&questions[i], &finding);
    json_array_append_new (found, finding_json (&questions[i], &finding));
    g_free (finding.says);
  }
  if (json) {
    g_autoptr (json_t) value =
        json_pack ("{s:s, s:s, s:b, s:b, s:O}", "model", facts->name, "provider", facts->provider, "replay",
                   facts->is_replay, "works", all, "checks", found);
    cli_print_json (value);
  }
  return all ? 0 : EXIT_NOT_ALL;
}

int
cli_model_check (int argc, char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
      {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL},
      {NULL},
  };
  g_autoptr (GError) problem = NULL;
  if (!cli_parse (entries, 0, 1, &argc, &argv, &problem))
    return cli_fail_usage (problem);
  struct model *model = model_open (argc > 1 ? argv[1] : NULL, &problem);
  int code = model ? cli_model_check_check (model, json) : cli_fail (problem);
  model_free (model);
  return code;
}
