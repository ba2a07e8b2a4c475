/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the agent loop that decide without a model: steps, budgets, repetition, replies. */
#include <string.h>
#include <unistd.h>

#include "adder.h"
#include "apps/agent/budget.h"
#include "apps/agent/plain_schema.h"
#include "apps/agent/prompts.h"
#include "apps/agent/repeats.h"
#include "apps/agent/reply.h"
#include "apps/agent/steps.h"
#include "apps/agent/toolbox.h"
#include "common/json.h"
#include "interfaces/cli/view/terminal_text.h"
#include "models/dialect.h"
#include "suite.h"

static json_t *
parse (const char *text)
{
  json_t *value = json_loads (text, JSON_DECODE_ANY, NULL);
  g_assert_nonnull (value);
  return value;
}

/* ---- steps ---- */

static json_t *
list_of (const char *toolset, struct config *config)
{
  static const struct caller_context nowhere = CALLER_CONTEXT_NONE;
  const struct toolbox_settings settings = {
      .config = config,
      .toolset = toolset_find (toolset, NULL),
      .reports = TRUE,
      .context = &nowhere,
      .role = "admin",
      .place = {.out_fd = -1},
  };
  struct toolbox *toolbox = toolbox_new (&settings, NULL);
  g_assert_nonnull (toolbox);
  json_t *list = toolbox_list (toolbox);
  toolbox_free (toolbox);
  return list;
}

static void
test_schema_is_strict (void)
{
  struct config *config = config_load (NULL, NULL);
  g_autoptr (json_t) list = list_of ("compute", config);
  g_autoptr (json_t) steps = steps_tools (list);
  const json_t *tool = json_array_get (steps, 0), *schema = json_object_get (tool, "parameters");
  g_assert_cmpuint (json_array_size (steps), ==, 1);
  g_assert_cmpstr (json_member_text (tool, "name"), ==, "next_step");
  g_assert_true (dialect_is_strict (schema));
  const json_t *choices =
      json_object_get (json_object_get (json_object_get (schema, "properties"), "function"), "anyOf");
  g_assert_cmpuint (json_array_size (choices), ==, 2);
  config_free (config);
}

/* Every tool of every toolset that is on is a choice, and by the name it has. */
static void
test_schema_has_all_tools (void)
{
  struct config *config = config_load (NULL, NULL);
  for (gsize i = 0; toolsets[i]; i++) {
    g_autoptr (json_t) list = list_of (toolsets[i]->name, config);
    g_autoptr (json_t) steps = steps_tools (list);
    const json_t *schema = json_object_get (json_array_get (steps, 0), "parameters");
    const json_t *choices =
        json_object_get (json_object_get (json_object_get (schema, "properties"), "function"), "anyOf");
    gsize next = 0;
    for (gsize tool = 0; tool < toolsets[i]->count; tool++) {
      if (toolsets[i]->tools[tool].hints & TOOL_STARTS_OFF)
        continue;
      const json_t *name = json_object_get (
          json_object_get (json_object_get (json_array_get (choices, next++), "properties"), "name"), "enum");
      g_assert_cmpstr (json_string_value (json_array_get (name, 0)), ==, toolsets[i]->tools[tool].name);
    }
    g_assert_cmpuint (json_array_size (choices), ==, next + 1);
  }
  config_free (config);
}

static const struct {
  const char *arguments; /* of next_step, or what the model wrote */
  const char *problem;   /* NULL: it is a step */
} typed_cases[] = {
    {"{\"current_state\": \"s\", \"function\": {\"name\": \"f\", \"arguments\": {\"a\": 1}}}", NULL},
    {"{\"function\": {\"name\": \"f\", \"arguments\": {}}}", "current_state"},
    {"{\"current_state\": null, \"function\": {\"name\": \"f\", \"arguments\": {}}}", "current_state"},
    {"{\"current_state\": \"s\"}", "function has to be one object"},
    {"{\"current_state\": \"s\", \"function\": []}", "function has to be one object"},
    {"{\"current_state\": \"s\", \"function\": {\"arguments\": {}}}", "function.name"},
    {"{\"current_state\": \"s\", \"function\": {\"name\": 1, \"arguments\": {}}}", "function.name"},
    {"{\"current_state\": \"s\", \"function\": {\"name\": \"f\"}}", "function.arguments"},
    {"{\"current_state\": \"s\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}",
     "function.arguments"},
    {"{\"current_state\": \"s\", \"function\": {\"name\": \"f\", \"arguments\": {}}, \"g\": 1}", "\"g\""},
    {"{\"current_state\": \"s\", \"function\": {\"name\": \"f\", \"arguments\": {}, \"h\": 1}}", "\"h\""},
    {"null", "not one JSON object"},
    {"[]", "not one JSON object"},
};

static void
test_typed_steps (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (typed_cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (json_t) call = json_pack ("{s:s, s:s, s:o, s:s}", "type", "call", "name", STEPS_TOOL,
                                         "arguments", parse (typed_cases[i].arguments), "raw", "{\"cut");
    struct step step;
    gboolean readable = steps_read (call, TRUE, &step, &problem);
    g_test_message ("%s", typed_cases[i].arguments);
    g_assert_true (readable == !typed_cases[i].problem);
    if (readable) {
      g_assert_cmpstr (step.state, ==, "s");
      g_assert_cmpstr (step.name, ==, "f");
      g_assert_cmpint (json_integer_value (json_object_get (step.arguments, "a")), ==, 1);
    } else {
      g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
      g_assert_nonnull (strstr (problem->message, typed_cases[i].problem));
    }
  }
}

static void
test_ordinary_steps (void)
{
  g_autoptr (json_t) call = parse ("{\"name\": \"f\", \"arguments\": {\"current_state\": 1}}");
  g_autoptr (json_t) cut = parse ("{\"name\": \"f\", \"arguments\": null, \"raw\": \"{\\\"a\\\": \\u001b\"}");
  g_autoptr (GError) problem = NULL;
  struct step step;
  g_assert_true (steps_read (call, FALSE, &step, NULL));
  g_assert_null (step.state);
  g_assert_cmpstr (step.name, ==, "f");
  g_assert_false (steps_read (cut, FALSE, &step, &problem));
  g_assert_cmpstr (step.name, ==, "f");
  g_assert_null (step.arguments);
  g_assert_nonnull (strstr (problem->message, "{\"a\": \\x1b"));
}

static void
test_plain_schema (void)
{
  g_autoptr (json_t) schema =
      parse ("{\"$schema\": \"x\", \"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\", "
             "\"minimum\": 1, \"maximum\": 9, \"description\": \"How many.\"}, \"l\": {\"type\": \"array\", "
             "\"maxItems\": 3, \"items\": {\"type\": \"string\", \"pattern\": \"^a\"}}, "
             "\"minimum\": {\"type\": \"null\"}}}");
  g_autoptr (json_t) wanted =
      parse ("{\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\", "
             "\"description\": \"How many. (minimum: 1, maximum: 9)\"}, \"l\": {\"type\": \"array\", "
             "\"description\": \"(maxItems: 3)\", \"items\": {\"type\": \"string\", "
             "\"description\": \"(pattern: \\\"^a\\\")\"}}, \"minimum\": {\"type\": \"null\"}}}");
  g_autoptr (json_t) plain = plain_schema (schema);
  g_assert_true (json_equal (plain, wanted));
}

/* ---- budgets ---- */

static const struct {
  enum budget_item item;
  const char *text;
  guint64 value; /* 0: refused */
} budget_cases[] = {
    {BUDGET_STEPS, "1", 1},        {BUDGET_STEPS, "1000", 1000},      {BUDGET_STEPS, "1001", 0},
    {BUDGET_STEPS, "0", 0},        {BUDGET_STEPS, "-1", 0},           {BUDGET_STEPS, "1.5", 0},
    {BUDGET_TOKENS, "5000", 5000}, {BUDGET_TOKENS, "100000001", 0},   {BUDGET_TIME, "5m", 300000},
    {BUDGET_TIME, "2", 2000},      {BUDGET_TIME, "24h", 86400000},    {BUDGET_TIME, "25h", 0},
    {BUDGET_COST, "0.25", 250000}, {BUDGET_COST, "1000", 1000000000}, {BUDGET_COST, "1000.01", 0},
    {BUDGET_COST, "1e2", 0},       {BUDGET_COST, "inf", 0},           {BUDGET_COST, "nan", 0},
    {BUDGET_COST, "0x10", 0},      {BUDGET_COST, "1 dollar", 0},      {BUDGET_COST, "", 0},
    {BUDGET_COST, "1e300", 0},     {BUDGET_COST, "-0.5", 0},
};

static void
test_budget_settings (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (budget_cases); i++) {
    struct budget budget;
    g_autoptr (GError) problem = NULL;
    budget_init (&budget);
    g_test_message ("%s", budget_cases[i].text);
    if (budget_set (&budget, budget_cases[i].item, budget_cases[i].text, &problem)) {
      g_assert_cmpuint (budget.most[budget_cases[i].item], ==, budget_cases[i].value);
      continue;
    }
    g_assert_cmpuint (budget_cases[i].value, ==, 0);
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_assert_true (g_str_has_prefix (problem->message, "--max-"));
  }
}

static void
test_budget_defaults (void)
{
  struct budget budget;
  enum budget_item item;
  budget_init (&budget);
  budget_begin (&budget);
  g_assert_cmpuint (budget_steps_left (&budget), ==, 10);
  g_assert_false (budget_is_over (&budget, &item));
  for (gsize i = 0; i < BUDGET_ITEMS; i++)
    g_assert_cmpuint (budget_rows[i].standard, <=, budget_rows[i].maximum);
}

static void
test_budget_use (void)
{
  struct budget budget;
  enum budget_item item;
  const struct model_usage known = {.input_tokens = 100, .output_tokens = 20, .cost = 0.5};
  const struct model_usage unknown = {-1, -1, -1, -1};
  budget_init (&budget);
  g_assert_true (budget_set (&budget, BUDGET_TOKENS, "400", NULL));
  budget_begin (&budget);
  budget_spend (&budget, &known, 1, 1);
  g_assert_false (budget_is_over (&budget, &item));
  g_assert_false (budget.estimated || budget.cost_unknown);
  budget_spend (&budget, &unknown, 1000, 101);
  g_assert_true (budget.estimated && budget.cost_unknown);
  g_assert_cmpuint (budget.used[BUDGET_TOKENS], ==, 120 + 250 + 26);
  g_assert_false (budget_is_over (&budget, &item));
  budget_spend (&budget, &known, 1, 1);
  g_assert_true (budget_is_over (&budget, &item));
  g_assert_cmpint (item, ==, BUDGET_TOKENS);
  g_autofree char *says = budget_say (&budget, item);
  g_assert_nonnull (strstr (says, "400 tokens"));
  g_assert_nonnull (strstr (says, "--max-tokens"));
  budget_begin (&budget);
  g_assert_false (budget_is_over (&budget, &item) || budget.estimated);
}

static void
test_budget_cost (void)
{
  struct budget budget;
  enum budget_item item;
  const struct model_usage dear = {.input_tokens = 1, .output_tokens = 1, .cost = 0.6};
  const struct model_usage unknown = {.input_tokens = 1, .output_tokens = 1, .cost = -1};
  budget_init (&budget);
  budget_begin (&budget);
  budget_spend (&budget, &unknown, 1, 1);
  g_assert_false (budget_is_over (&budget, &item)); /* nobody asked to be held to it */
  budget_spend (&budget, &dear, 1, 1);
  budget_spend (&budget, &dear, 1, 1);
  g_assert_true (budget_is_over (&budget, &item));
  g_assert_cmpint (item, ==, BUDGET_COST);
  g_assert_true (budget_set (&budget, BUDGET_COST, "100", NULL));
  budget_begin (&budget);
  budget_spend (&budget, &unknown, 1, 1);
  g_assert_true (budget_is_over (&budget, &item));
  g_autofree char *says = budget_say (&budget, item);
  g_assert_nonnull (strstr (says, "prices"));
}

/* ---- repetition ---- */

static enum repeats_verdict
see (struct repeats *repeats, const char *name, const char *arguments)
{
  g_autoptr (json_t) value = arguments ? parse (arguments) : NULL;
  return repeats_see (repeats, name, value);
}

static void
test_repeats (void)
{
  struct repeats repeats = {0};
  const char *one = "{\"a\": 1, \"b\": [1, 2]}", *same = "{\"b\": [1, 2], \"a\": 1}";
  g_assert_cmpint (see (&repeats, "f", one), ==, REPEATS_RUN);
  g_assert_cmpint (see (&repeats, "f", same), ==, REPEATS_RUN);
  g_assert_cmpint (see (&repeats, "f", one), ==, REPEATS_REFUSE);
  g_assert_cmpint (see (&repeats, "f", same), ==, REPEATS_REFUSE);
  g_assert_cmpint (see (&repeats, "f", one), ==, REPEATS_OVER);
  g_assert_cmpint (see (&repeats, "g", one), ==, REPEATS_RUN);
  g_assert_cmpint (see (&repeats, "f", one), ==, REPEATS_RUN);
  g_assert_cmpint (see (&repeats, "f", "{\"a\": 1, \"b\": [2, 1]}"), ==, REPEATS_RUN);
  g_assert_cmpint (see (&repeats, "f", NULL), ==, REPEATS_RUN);
  repeats_clear (&repeats);
}

/* ---- replies ---- */

static void
make (const char *value_text, const struct reply_place *place, struct reply *reply)
{
  g_autoptr (json_t) value = parse (value_text);
  g_autofree char *warning = NULL;
  reply_make (value, place, reply, &warning);
  g_assert_null (warning);
}

static void
test_long_replies (void)
{
  const struct {
    gboolean reads_on;
    const char *words;
  } cases[] = {{TRUE, "peek_result with result_id \"r1\""}, {FALSE, "ask for less"}};
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *filling = g_strnfill (100000, 'x');
    g_autofree char *value = g_strdup_printf ("{\"text\": \"begin %s end\", \"result_id\": \"r1\"}", filling);
    const struct reply_place place = {.reads_on = cases[i].reads_on, .out_fd = -1};
    struct reply reply;
    make (value, &place, &reply);
    g_assert_cmpuint (strlen (reply.text), <, REPLY_CHARACTERS);
    g_assert_true (g_str_has_prefix (reply.text, "begin x") && g_str_has_suffix (reply.text, "x end"));
    g_assert_nonnull (strstr (reply.text, cases[i].words));
    reply_clear (&reply);
  }
}

static void
test_pictures (void)
{
  const char *value = "{\"text\": \"drawn\", \"pictures\": [\"AAAA\"], \"displays\": [{\"image/jpeg\": "
                      "\"BBBB\", \"text/plain\": \"p\"}, {\"text/plain\": \"none\"}]}";
  for (int sees = 0; sees <= 1; sees++) {
    const struct reply_place place = {.sees = sees, .out_fd = -1};
    struct reply reply;
    make (value, &place, &reply);
    g_assert_cmpuint (json_array_size (reply.images), ==, sees ? 2 : 0);
    g_assert_cmpuint (reply.unsaved, ==, 2);
    g_assert_null (strstr (reply.text, "AAAA"));
    g_assert_nonnull (strstr (reply.text, sees ? "comes with this" : "cannot see it"));
    if (sees)
      g_assert_cmpstr (json_member_text (json_array_get (reply.images, 0), "mime"), ==, "image/jpeg");
    reply_clear (&reply);
  }
}

/* Large ones, and more than a few, are told of in words. */
static void
test_many_pictures (void)
{
  const struct reply_place place = {.sees = TRUE, .out_fd = -1};
  GString *value = g_string_new ("{\"text\": \"drawn\", \"pictures\": [\"");
  for (gsize i = 0; i < REPLY_PICTURE_BYTES / 3 * 4 + 8; i++)
    g_string_append_c (value, 'A');
  for (guint i = 0; i < REPLY_PICTURES + 2; i++)
    g_string_append (value, "\", \"AAAA");
  g_string_append (value, "\"]}");
  struct reply reply;
  make (value->str, &place, &reply);
  g_assert_cmpuint (json_array_size (reply.images), ==, REPLY_PICTURES);
  g_assert_nonnull (strstr (reply.text, "too large to be shown"));
  reply_clear (&reply);
  g_string_free (value, TRUE);
}

/* ---- words ---- */

static void
test_prompts (void)
{
  g_autofree char *filled = prompt_fill (PROMPT_UNKNOWN_TOOL, "%s", "a, b");
  g_assert_cmpstr (filled, ==, "There is no function \"%s\". There are: a, b.");
  for (guint i = 0; i < PROMPTS; i++)
    g_assert_nonnull (prompt_text (i));
}

/* Whatever the pieces, what is written is the same. */
static void
test_terminal_text (void)
{
  const char *text = "h\xc3\xa9llo \xf0\x9f\x90\x8d\n\x1b[2J\xe2\x80\xae\tend\xff.";
  for (gsize size = 1; size <= strlen (text); size++) {
    char *written = NULL;
    size_t length = 0;
    FILE *stream = open_memstream (&written, &length);
    struct terminal_text out = {.stream = stream};
    for (gsize at = 0; at < strlen (text); at += size)
      terminal_text_add (&out, text + at, MIN (size, strlen (text) - at));
    terminal_text_end (&out);
    fclose (stream);
    g_assert_cmpstr (written, ==, "h\xc3\xa9llo \xf0\x9f\x90\x8d\n<U+001B>[2J<U+202E>\tend\xef\xbf\xbd.\n");
    free (written);
  }
}

UNIT_SUITE (agent)
{
  g_test_init (&argc, &argv, NULL);
  g_autofree char *directory = g_dir_make_tmp ("adder-test-agent-XXXXXX", NULL);
  g_setenv ("ADDER_CONFIG_DIR", directory, TRUE);
  g_test_add_func ("/agent/steps/strict", test_schema_is_strict);
  g_test_add_func ("/agent/steps/tools", test_schema_has_all_tools);
  g_test_add_func ("/agent/steps/typed", test_typed_steps);
  g_test_add_func ("/agent/steps/ordinary", test_ordinary_steps);
  g_test_add_func ("/agent/steps/plain-schema", test_plain_schema);
  g_test_add_func ("/agent/budget/settings", test_budget_settings);
  g_test_add_func ("/agent/budget/defaults", test_budget_defaults);
  g_test_add_func ("/agent/budget/use", test_budget_use);
  g_test_add_func ("/agent/budget/cost", test_budget_cost);
  g_test_add_func ("/agent/repeats", test_repeats);
  g_test_add_func ("/agent/reply/long", test_long_replies);
  g_test_add_func ("/agent/reply/pictures", test_pictures);
  g_test_add_func ("/agent/reply/many-pictures", test_many_pictures);
  g_test_add_func ("/agent/prompts", test_prompts);
  g_test_add_func ("/agent/terminal-text", test_terminal_text);
  int code = g_test_run ();
  (void)rmdir (directory);
  return code;
}
