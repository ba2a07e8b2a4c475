/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of clients, held against what they were asked. */
#include <glib.h>

#include "adder.h"
#include "common/json.h"
#include "interfaces/mcp/form.h"
#include "suite.h"

static json_t *
parsed (const char *text)
{
  json_t *value = json_loads (text, JSON_DECODE_ANY, NULL);
  g_assert_nonnull (value);
  return value;
}

struct content {
  const char *row; /* of a schema's properties */
  const char *good[6], *bad[8];
};

static const struct content contents[] = {
    {"{\"type\": \"string\"}", {"\"\"", "\"text\""}, {"1", "null", "[]", "{}", "true"}},
    {"{\"type\": \"string\", \"minLength\": 2, \"maxLength\": 3}",
     {"\"ab\"", "\"\xc3\xa4\xc3\xb6\xc3\xbc\""},
     {"\"a\"", "\"abcd\""}},
    {"{\"type\": \"string\", \"format\": \"date\"}",
     {"\"2024-02-29\""},
     {"\"2023-02-29\"", "\"2024-2-1\"", "\"2024-02-29T\"", "\"\"", "\"0000-01-01\""}},
    {"{\"type\": \"string\", \"format\": \"date-time\"}",
     {"\"2024-02-29T12:00:00Z\"", "\"2024-02-29T12:00:00+01:00\""},
     {"\"2024-02-29\"", "\"2024-02-29T12:00:00\"", "\"2024-02-30T12:00:00Z\""}},
    {"{\"type\": \"string\", \"format\": \"email\"}",
     {"\"a@b.example\""},
     {"\"a\"", "\"@b\"", "\"a@\"", "\"a b@c\""}},
    {"{\"type\": \"string\", \"format\": \"uri\"}",
     {"\"https://a.example/b?c\"", "\"urn:x\""},
     {"\"a\"", "\"//a\""}},
    {"{\"type\": \"string\", \"enum\": [\"a\", \"b\"]}", {"\"a\"", "\"b\""}, {"\"c\"", "\"\"", "1"}},
    {"{\"type\": \"string\", \"oneOf\": [{\"const\": \"a\", \"title\": \"A\"}]}",
     {"\"a\""},
     {"\"A\"", "null"}},
    {"{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 3}",
     {"1", "3", "2.0"},
     {"0", "4", "1.5", "\"1\"", "1e300", "true"}},
    {"{\"type\": \"number\", \"maximum\": 1.5}", {"1.5", "-7"}, {"1.6", "\"1\"", "null"}},
    {"{\"type\": \"boolean\"}", {"true", "false"}, {"0", "\"true\"", "null"}},
    {"{\"type\": \"array\", \"minItems\": 1, \"maxItems\": 2, \"items\": {\"enum\": [\"a\", \"b\"]}}",
     {"[\"a\"]", "[\"a\", \"b\"]"},
     {"[]", "[\"a\", \"b\", \"a\"]", "[\"c\"]", "[1]", "\"a\"", "{}"}},
    {"{\"type\": \"array\", \"items\": {\"anyOf\": [{\"const\": \"a\", \"title\": \"A\"}]}}",
     {"[]", "[\"a\"]"},
     {"[\"b\"]"}},
};

static gboolean
fits (const char *row, const char *value)
{
  g_autoptr (json_t) schema =
      json_pack ("{s:s, s:{s:o}, s:[s]}", "type", "object", "properties", "x", parsed (row), "required", "x");
  g_autoptr (json_t) content = json_pack ("{s:o, s:s}", "x", parsed (value), "more", "is not asked for");
  g_autoptr (GError) error = NULL;
  gboolean ok = mcp_form_check (schema, content, &error);
  g_assert_true (ok == (error == NULL));
  return ok;
}

static void
test_contents (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (contents); i++) {
    for (gsize j = 0; j < G_N_ELEMENTS (contents[i].good) && contents[i].good[j]; j++)
      if (!fits (contents[i].row, contents[i].good[j]))
        g_error ("%s is refused for %s", contents[i].good[j], contents[i].row);
    for (gsize j = 0; j < G_N_ELEMENTS (contents[i].bad) && contents[i].bad[j]; j++)
      if (fits (contents[i].row, contents[i].bad[j]))
        g_error ("%s is taken for %s", contents[i].bad[j], contents[i].row);
  }
}

static const char form[] = "{\"mode\": \"form\", \"requestedSchema\": {\"type\": \"object\", \"properties\": "
                           "{\"name\": {\"type\": \"string\"}}, \"required\": [\"name\"]}}";

static const char optional_form[] =
    "{\"mode\": \"form\", \"requestedSchema\": {\"type\": \"object\", \"properties\": "
    "{\"name\": {\"type\": \"string\"}}}}";

static const struct {
  const char *method, *params, *answer;
  gboolean good;
} answers[] = {
    {"elicitation/create", form, "{\"action\": \"accept\", \"content\": {\"name\": \"x\"}}", TRUE},
    {"elicitation/create", form, "{\"action\": \"decline\"}", TRUE},
    {"elicitation/create", form, "{\"action\": \"cancel\", \"content\": 7}", TRUE},
    {"elicitation/create", form, "{\"action\": \"accept\", \"content\": {}}", FALSE},
    {"elicitation/create", form, "{\"action\": \"accept\", \"content\": {\"name\": null}}", FALSE},
    {"elicitation/create", optional_form, "{\"action\": \"accept\", \"content\": {\"name\": null}}", TRUE},
    {"elicitation/create", optional_form, "{\"action\": \"accept\", \"content\": {\"name\": 7}}", FALSE},
    {"elicitation/create", form, "{\"action\": \"accept\"}", FALSE},
    {"elicitation/create", form, "{\"action\": \"yes\", \"content\": {\"name\": \"x\"}}", FALSE},
    {"elicitation/create", form, "{}", FALSE},
    {"elicitation/create", form, "12345", FALSE},
    {"elicitation/create", form, "null", FALSE},
    {"elicitation/create", "{\"mode\": \"url\", \"url\": \"https://a\"}", "{\"action\": \"accept\"}", TRUE},
    {"sampling/createMessage", "{}",
     "{\"role\": \"assistant\", \"content\": {\"type\": \"text\", \"text\": \"x\"}, \"model\": \"m\"}", TRUE},
    {"sampling/createMessage", "{}", "{\"role\": \"system\", \"content\": {}}", FALSE},
    {"sampling/createMessage", "{}", "{\"role\": \"user\", \"content\": \"x\"}", FALSE},
    {"roots/list", "{}", "{\"roots\": [{\"uri\": \"file:///a\"}]}", TRUE},
    {"roots/list", "{}", "{\"roots\": []}", TRUE},
    {"roots/list", "{}", "{\"roots\": [{\"name\": \"a\"}]}", FALSE},
    {"roots/list", "{}", "{\"roots\": {}}", FALSE},
    {"tools/call", "{}", "{}", FALSE},
};

static void
test_answers (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (answers); i++) {
    g_autoptr (json_t) params = parsed (answers[i].params);
    g_autoptr (json_t) given = parsed (answers[i].answer);
    g_autoptr (GError) error = NULL;
    if (mcp_answer_check (answers[i].method, params, given, &error) != answers[i].good)
      g_error ("%s: %s", answers[i].method, answers[i].answer);
  }
}

static const struct {
  const char *method, *params, *capabilities;
  gboolean able;
} abilities[] = {
    {"elicitation/create", "{}", "{\"elicitation\": {}}", TRUE},
    {"elicitation/create", "{}", "{\"elicitation\": {\"form\": {}}}", TRUE},
    {"elicitation/create", "{}", "{\"elicitation\": {\"url\": {}}}", FALSE},
    {"elicitation/create", "{\"mode\": \"url\"}", "{\"elicitation\": {\"url\": {}}}", TRUE},
    {"elicitation/create", "{\"mode\": \"url\"}", "{\"elicitation\": {}}", FALSE},
    {"elicitation/create", "{}", "{\"sampling\": {}}", FALSE},
    {"elicitation/create", "{}", "{\"elicitation\": true}", FALSE},
    {"sampling/createMessage", "{}", "{\"sampling\": {}}", TRUE},
    {"sampling/createMessage", "{}", "{}", FALSE},
    {"roots/list", "{}", "{\"roots\": {\"listChanged\": true}}", TRUE},
};

static void
test_abilities (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (abilities); i++) {
    g_autoptr (json_t) params = parsed (abilities[i].params);
    g_autoptr (json_t) can = parsed (abilities[i].capabilities);
    g_autoptr (json_t) needs = mcp_answer_needs (abilities[i].method, params);
    if (mcp_answer_is_able (can, needs) != abilities[i].able)
      g_error ("%s %s: %s", abilities[i].method, abilities[i].params, abilities[i].capabilities);
  }
  g_assert_null (mcp_answer_needs ("tools/call", NULL));
}

UNIT_SUITE (mcp_form)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mcp/form/contents", test_contents);
  g_test_add_func ("/mcp/form/answers", test_answers);
  g_test_add_func ("/mcp/form/abilities", test_abilities);
  return g_test_run ();
}
