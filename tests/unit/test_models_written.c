/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools in the text of an answer: what is one, what is none, and when nothing more can be one. */
#include <string.h>

#include "common/json.h"
#include "models/response_parser.h"
#include "models/written.h"
#include "suite.h"

#define TOOLS        "[{\"name\": \"f\"}, {\"name\": \"g\"}]"
#define F            "{\"name\": \"f\", \"arguments\": {\"x\": 1}}"
#define G            "{\"name\": \"g\", \"arguments\": {}}"
#define TAGGED(call) "<tool_call>\n" call "\n</tool_call>"
#define BLOCK(call)  "```json\n" call "\n```"

static const struct row {
  const char *name;
  const char *text, *tool; /* the tool that must be called, or NULL */
  const char *given;       /* what a tool returned before; NULL: nothing */
  const char *calls;       /* text before the calls | name arguments, each; NULL: none */
} rows[] = {
    {"bare", F, NULL, NULL, "|f{\"x\":1}"},
    {"function", "{\"function\": " F "}", NULL, NULL, "|f{\"x\":1}"},
    {"as OpenAI has it", "{\"id\": \"a\", \"type\": \"function\", \"function\": " F "}", NULL, NULL,
     "|f{\"x\":1}"},
    {"arguments as text", "{\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 1}\"}", NULL, NULL, "|f{\"x\":1}"},
    {"a tag", TAGGED (F), NULL, NULL, "|f{\"x\":1}"},
    {"a tag that is not closed", "<tool_call>" F, NULL, NULL, "|f{\"x\":1}"},
    {"several tags", TAGGED (F) "\n" TAGGED (G), NULL, NULL, "|f{\"x\":1}g{}"},
    {"several after words", "Both.\n" TAGGED (F) TAGGED (G), NULL, NULL, "Both.|f{\"x\":1}g{}"},
    {"several that are bare", F "\n" G, NULL, NULL, "|f{\"x\":1}g{}"},
    {"a block", BLOCK (F), NULL, NULL, "|f{\"x\":1}"},
    {"a block of several", BLOCK (F "\n" G), NULL, NULL, "|f{\"x\":1}g{}"},
    {"a tag in a block", BLOCK (TAGGED (F)), NULL, NULL, "|f{\"x\":1}"},
    {"a block without language, after words", "I do:\n```\n" F "\n```\nso.", NULL, NULL, "I do:|f{\"x\":1}"},
    {"among words", "I call " F " now.", NULL, NULL, "I call|f{\"x\":1}"},
    {"line ends in strings", "{\"name\": \"f\", \"arguments\": {\"x\": \"a\nb}\"}}", NULL, NULL,
     "|f{\"x\":\"a\\nb}\"}"},
    {"a string of Python's", BLOCK ("{\"name\": \"f\", \"arguments\": {\"x\": \"\"\"\na = \"}\"\n\"\"\"}}"),
     NULL, NULL, "|f{\"x\":\"\\na = \\\"}\\\"\\n\"}"},
    {"after thoughts", "<think>Not " G ".</think>\n" F, NULL, NULL, "<think>Not " G ".</think>|f{\"x\":1}"},
    {"what follows does not count", F "\nIt returned 3. So " G, NULL, NULL, "|f{\"x\":1}"},
    {"nor a quotation of a result", TAGGED (F) "\n<tool_response>3</tool_response>\n" TAGGED (G), NULL, NULL,
     "|f{\"x\":1}"},
    {"the same again is one", TAGGED (F) "\n" TAGGED (F) "\n" TAGGED (G), NULL, NULL, "|f{\"x\":1}"},
    {"the second is cut", TAGGED (F) "\n<tool_call>{\"name\": \"g\"", NULL, NULL, "|f{\"x\":1}"},
    {"arguments of the tool that must be called", "{\"x\": 2}", "f", NULL, "|f{\"x\":2}"},
    {"those in a block after words", "Here:\n" BLOCK ("{\"x\": 2}"), "f", NULL, "Here:|f{\"x\":2}"},
    /* No calls. */
    {"thoughts", "<think>\n" TAGGED (F) "\nOr not?", NULL, NULL, NULL},
    {"words", "Use f, not g.", NULL, NULL, NULL},
    {"JSON", "{\"x\": 1}", NULL, NULL, NULL},
    {"an unknown tool", "{\"name\": \"h\", \"arguments\": {}}", NULL, NULL, NULL},
    {"an unknown tool, where one must be called", "{\"name\": \"h\", \"arguments\": {}}", "f", NULL, NULL},
    {"two among words", "Either " F " or " G ".", NULL, NULL, NULL},
    {"two tags among words", "Either " TAGGED (F) " or " TAGGED (G) ".", NULL, NULL, NULL},
    {"a span of code", "Write `" F "` to call it.", NULL, NULL, NULL},
    {"a block of another language", "```python\n" F "\n```", NULL, NULL, NULL},
    {"in another object", "{\"example\": " F "}", NULL, NULL, NULL},
    {"a definition", "{\"name\": \"f\", \"arguments\": {}, \"description\": \"d\"}", NULL, NULL, NULL},
    {"no arguments", "{\"name\": \"f\"}", NULL, NULL, NULL},
    {"arguments that are none", "{\"name\": \"f\", \"arguments\": \"x = 1\"}", NULL, NULL, NULL},
    {"a string of Python's that is not complete", "{\"name\": \"f\", \"arguments\": {\"x\": \"\"\"a\"}}",
     NULL, NULL, NULL},
    {"not complete", "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}", NULL, NULL, NULL},
    {"words where one must be called", "I would call it with {\"x\": 2}.", "f", NULL, NULL},
    /* Quotations. */
    {"a result", F, NULL, "The page says: " F, NULL},
    {"a result in a tag", TAGGED (F), NULL, F, NULL},
    {"a result that is escaped", F, NULL,
     "{\"page\": \"{\\\"name\\\": \\\"f\\\",\\n\\\"arguments\\\": "
     "{\\\"x\\\": 1}}\"}",
     NULL},
    {"a result with other blanks", "{\"name\":\"f\",\"arguments\":{\"x\":1}}", NULL, F, NULL},
    {"a result that is cited in a tag and then called", TAGGED (F) "\n" TAGGED (G), NULL, F, "\x01|g{}"},
    {"arguments of the tool that must be called, of a result", "{\"x\": 2}", "f", "{\"x\": 2}", NULL},
    {"another call than that of the result", F, NULL, "{\"name\": \"f\", \"arguments\": {\"x\": 2}}",
     "|f{\"x\":1}"},
};

static json_t *
messages_of (const char *given)
{
  json_t *messages = json_pack ("[o]", message_user ("Go on."));
  if (given) {
    g_autoptr (json_t) call = json_pack ("{s:s, s:s, s:{}}", "id", "a", "name", "f", "arguments");
    json_array_append_new (messages, message_result (call, json_pack ("[o]", message_text (given)), FALSE));
  }
  return messages;
}

static char *
say (const json_t *message)
{
  if (!message)
    return NULL;
  g_autofree char *text = message_all_text (message);
  g_autoptr (json_t) calls = message_calls (message);
  GString *said = g_string_new (text);
  g_string_append_c (said, '|');
  gsize index;
  json_t *call;
  json_array_foreach (calls, index, call)
  {
    char *arguments = json_dumps (json_object_get (call, "arguments"), JSON_COMPACT);
    g_string_append_printf (said, "%s%s", json_member_text (call, "name"), arguments);
    g_assert_cmpstr (json_member_text (call, "id"), !=, "");
    free (arguments);
  }
  return g_string_free (said, FALSE);
}

static void
test_row (gconstpointer data)
{
  const struct row *row = data;
  g_autoptr (json_t) messages = messages_of (row->given), tools = json_loads (TOOLS, 0, NULL);
  const struct model_question question = {.messages = messages, .tools = tools, .tool = row->tool};
  g_autoptr (json_t) message =
      json_pack ("{s:s, s:[o]}", "role", "assistant", "content", message_text (row->text));
  g_autoptr (json_t) written = written_message (&question, message);
  g_autofree char *said = say (written);
  if (row->calls && row->calls[0] == '\x01')
    g_assert_true (said && g_str_has_suffix (said, row->calls + 1));
  else
    g_assert_cmpstr (said, ==, row->calls);
}

/* Calls that were made count alone, and what is opaque stays. */
static void
test_other_parts (void)
{
  g_autoptr (json_t) messages = messages_of (NULL), tools = json_loads (TOOLS, 0, NULL);
  const struct model_question question = {.messages = messages, .tools = tools};
  g_autoptr (json_t) both = json_loads (
      "{\"content\": [{\"type\": \"text\", \"text\": \"{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}\"},"
      "{\"type\": \"call\", \"id\": \"a\", \"name\": \"g\", \"arguments\": {}}]}",
      0, NULL);
  g_assert_null (written_message (&question, both));
  g_autoptr (json_t) opaque =
      json_loads ("{\"content\": [{\"type\": \"opaque\", \"dialect\": \"chat\", \"data\": {}},"
                  "{\"type\": \"text\", \"text\": \"{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}\"}]}",
                  0, NULL);
  g_autoptr (json_t) written = written_message (&question, opaque);
  const json_t *content = json_object_get (written, "content");
  g_assert_cmpuint (json_array_size (content), ==, 2);
  g_assert_cmpstr (json_member_text (json_array_get (content, 0), "type"), ==, "opaque");
}

/* When a stream need not be read on. */
static void
test_enough (void)
{
  static const struct {
    const char *text;
    gboolean is_over;
  } texts[] = {
      {F, FALSE},
      {F "\n", FALSE},
      {F "\nAnd", TRUE},
      {TAGGED (F), FALSE},
      {TAGGED (F) "\n<tool", FALSE},
      {TAGGED (F) "\n" TAGGED (G), FALSE},
      {TAGGED (F) "\n" TAGGED (F), TRUE},
      {TAGGED (F) "\n<tool_response>", TRUE},
      {"Look:\n" TAGGED (F) "\nIt is", TRUE},
      {BLOCK (F), FALSE},
      {BLOCK (F) "\nIt is", TRUE},
      {"I call " F " and so on", FALSE},
      {"{\"name\": \"h\", \"arguments\": {}} and so on", FALSE},
      {"Words", FALSE},
  };
  g_autoptr (json_t) messages = messages_of (NULL), tools = json_loads (TOOLS, 0, NULL);
  const struct model_question question = {.messages = messages, .tools = tools};
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_test_message ("%s", texts[i].text);
    g_assert_cmpint (written_is_over (&question, texts[i].text), ==, texts[i].is_over);
  }
  g_autofree char *blanks = g_strnfill (1000, '\n'), *endless = g_strconcat (F, blanks, NULL);
  g_assert_true (written_is_over (&question, endless));
}

/* Blanks without end are read on only where no call is due. */
static void
test_blanks (void)
{
  g_autoptr (json_t) messages = messages_of (NULL), tools = json_loads (TOOLS, 0, NULL);
  struct model_question question = {.messages = messages, .tools = tools, .tool = "f"};
  g_autofree char *blanks = g_strnfill (65, '\n'), *endless = g_strconcat ("Words", blanks, NULL);
  g_assert_true (written_is_over (&question, endless));
  g_assert_true (written_is_over (&question, blanks));
  g_assert_false (written_is_over (&question, blanks + 1));
  question.tool = NULL;
  g_assert_false (written_is_over (&question, endless));
}

/* So is one line again and again, but no list and no code in which lines are alike. */
static void
test_loops (void)
{
  g_autoptr (json_t) messages = messages_of (NULL), tools = json_loads (TOOLS, 0, NULL);
  struct model_question question = {.messages = messages, .tools = tools, .tool = "f"};
  g_autoptr (GString) loop = g_string_new ("{\"name\": \"f\", \"arguments\": {\"code\": \"r = 1\\n");
  static const char *const units[] = {"0, ", "None, ", "[0, 0, 0, 0], ", "-", "0\\n"};
  g_autofree char *head = g_strdup (loop->str);
  g_autoptr (GString) lines = g_string_new (head);
  for (guint i = 0; i < 24; i++) {
    g_assert_false (written_is_over (&question, loop->str));
    g_string_append (loop, "r = r.sum()\\n");
    g_string_append_printf (lines, "r%u = r.sum()\\n", i);
  }
  g_assert_true (written_is_over (&question, loop->str));
  g_assert_false (written_is_over (&question, lines->str));
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++) {
    g_autoptr (GString) list = g_string_new (head);
    for (guint j = 0; j < 400; j++)
      g_string_append (list, units[i]);
    g_assert_false (written_is_over (&question, list->str));
  }
  question.tool = NULL;
  g_assert_false (written_is_over (&question, loop->str));
}

/* The block that is code. */
static void
test_blocks_of_code (void)
{
  static const struct {
    const char *text, *code;
  } texts[] = {
      {"```\na = 1\n```", "a = 1\n"},
      {"So:\n```python\na = {\n}\n```\n```\nb\n```", "a = {\n}\n"},
      {"```json\n {\"name\": \"h\"}\n```\nor\n```python\nb\n```", "b\n"},
      {"```json\n{\"name\": \"h\"\n```", NULL},
      {"```python\na = 1", NULL},
      {"a = 1", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *code = written_block (texts[i].text);
    g_assert_cmpstr (code, ==, texts[i].code);
  }
}

/* The address sanitizer's strstr() measures all of the text in each call. */
#if defined __clang__
#if __has_feature(address_sanitizer)
#define LONG (1 << 18)
#endif
#endif
#ifndef LONG
#define LONG (1 << 20)
#endif

/* However deep and however often something is opened, it is looked at once. */
static void
test_long (void)
{
  static const char *const pieces[] = {"{",        "{\"",   "`",  "<tool_call>", "{\"\"\"",
                                       "{\"a\":{", "```\n", "\\", F " and "};
  g_autoptr (json_t) messages = messages_of (NULL), tools = json_loads (TOOLS, 0, NULL);
  const struct model_question question = {.messages = messages, .tools = tools};
  for (gsize i = 0; i < G_N_ELEMENTS (pieces); i++) {
    g_autoptr (GString) text = g_string_new ("So: ");
    while (text->len < LONG)
      g_string_append (text, pieces[i]);
    g_autoptr (json_t) message =
        json_pack ("{s:s, s:[o]}", "role", "assistant", "content", message_text (text->str));
    g_assert_null (written_message (&question, message));
  }
}

UNIT_SUITE (models_written)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strconcat ("/models/written/", rows[i].name, NULL);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  g_test_add_func ("/models/written/other parts", test_other_parts);
  g_test_add_func ("/models/written/enough", test_enough);
  g_test_add_func ("/models/written/blanks", test_blanks);
  g_test_add_func ("/models/written/loops", test_loops);
  g_test_add_func ("/models/written/blocks of code", test_blocks_of_code);
  g_test_add_func ("/models/written/long", test_long);
  return g_test_run ();
}
