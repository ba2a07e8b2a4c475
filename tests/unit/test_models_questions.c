/* SPDX-License-Identifier: Apache-2.0 */
/* One conversation as each of the three APIs wants it, and what is left out for servers that do not take it.
 */
#include <string.h>

#include "common/json.h"
#include "models/dialect.h"
#include "suite.h"

/* A picture in a question, reasoning of all three, text, two calls (one of them malformed, its name no name),
 * results of which one failed and one has a picture, and what the user says then. */
static const char conversation[] =
    "[{'role': 'user', 'content': [{'type': 'text', 'text': 'Look'}, {'type': 'image', 'mime': 'image/png', "
    "'data': 'QQ=='}]},"
    " {'role': 'assistant', 'content': ["
    "   {'type': 'opaque', 'dialect': 'chat', 'data': {'reasoning_content': 'hm', 'role': 'evil', 'calls': "
    "{'a': {'extra_content': 1}}}},"
    "   {'type': 'opaque', 'dialect': 'responses', 'data': {'type': 'reasoning', 'id': 'rs', "
    "'encrypted_content': 'E', 'summary': []}},"
    "   {'type': 'opaque', 'dialect': 'responses', 'data': {'type': 'reasoning', 'id': 'rs2', 'summary': "
    "[]}},"
    "   {'type': 'opaque', 'dialect': 'messages', 'data': {'type': 'thinking', 'thinking': 'T', 'signature': "
    "'S'}},"
    "   {'type': 'text', 'text': 'I look.'},"
    "   {'type': 'call', 'id': 'a', 'name': 'f', 'arguments': {'x': 1}},"
    "   {'type': 'call', 'id': 'b:2', 'name': 'g.h', 'arguments': null, 'raw': '{x'}]},"
    " {'role': 'tool', 'content': [{'type': 'result', 'id': 'a', 'name': 'f', 'is_error': false,"
    "   'content': [{'type': 'text', 'text': 'one'}, {'type': 'image', 'mime': 'image/png', 'data': "
    "'Qg=='}]}]},"
    " {'role': 'tool', 'content': [{'type': 'result', 'id': 'b:2', 'name': 'g.h', 'is_error': true,"
    "   'content': [{'type': 'text', 'text': 'bad'}]}]},"
    " {'role': 'user', 'content': [{'type': 'text', 'text': 'And?'}]}]";

static const char tools[] = "[{'name': 'f', 'description': 'd', 'parameters': {'type': 'object', "
                            "'properties': {'x': {'type': 'integer'}},"
                            "  'required': ['x'], 'additionalProperties': false}},"
                            " {'name': 'g', 'description': 'e', 'parameters': {'type': 'object', "
                            "'properties': {'x': {'type': 'integer'}}}}]";

#define CHAT_TOOL_F                                                                                          \
  "{'type': 'function', 'function': {'name': 'f', 'description': 'd', 'strict': true, 'parameters': "        \
  "{'type': 'object',"                                                                                       \
  " 'properties': {'x': {'type': 'integer'}}, 'required': ['x'], 'additionalProperties': false}}}"
#define G_PARAMETERS "{'type': 'object', 'properties': {'x': {'type': 'integer'}}}"
#define F_PARAMETERS                                                                                         \
  "{'type': 'object', 'properties': {'x': {'type': 'integer'}}, 'required': ['x'], 'additionalProperties': " \
  "false}"
#define EPHEMERAL "'cache_control': {'type': 'ephemeral'}"

static const char chat_body[] =
    "{'model': 'm', 'max_tokens': 100, 'stream': true, 'stream_options': {'include_usage': true},"
    " 'tools': [" CHAT_TOOL_F "], 'tool_choice': 'required', 'parallel_tool_calls': false,"
    " 'messages': [{'role': 'system', 'content': 'Be good'},"
    "  {'role': 'user', 'content': [{'type': 'text', 'text': 'Look'},"
    "    {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,QQ=='}}]},"
    "  {'role': 'assistant', 'content': 'I look.', 'reasoning_content': 'hm', 'tool_calls': ["
    "    {'id': 'a', 'type': 'function', 'function': {'name': 'f', 'arguments': '{\\\"x\\\":1}'}, "
    "'extra_content': 1},"
    "    {'id': 'b_2', 'type': 'function', 'function': {'name': 'g_h', 'arguments': "
    "'{\\\"malformed_arguments\\\":\\\"{x\\\"}'}}]},"
    "  {'role': 'tool', 'tool_call_id': 'a', 'content': 'one'},"
    "  {'role': 'tool', 'tool_call_id': 'b_2', 'content': 'bad'},"
    "  {'role': 'user', 'content': [{'type': 'text', 'text': 'These are the pictures of the results above.'},"
    "    {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,Qg=='}}, {'type': 'text', 'text': "
    "'And?'}]}]}";

static const char chat_blind_body[] =
    "{'model': 'm', 'max_completion_tokens': 100, 'stream': true,"
    " 'tools': [{'type': 'function', 'function': {'name': 'f', 'description': 'd', "
    "'parameters': " F_PARAMETERS "}},"
    "  {'type': 'function', 'function': {'name': 'g', 'description': 'e', 'parameters': " G_PARAMETERS "}}],"
    " 'tool_choice': 'required',"
    " 'messages': [{'role': 'system', 'content': 'Be good'},"
    "  {'role': 'user', 'content': 'Look\\n[a picture, image/png, that cannot be shown here]'},"
    "  {'role': 'assistant', 'content': 'I look.', 'reasoning_content': 'hm', 'tool_calls': ["
    "    {'id': 'a', 'type': 'function', 'function': {'name': 'f', 'arguments': '{\\\"x\\\":1}'}, "
    "'extra_content': 1},"
    "    {'id': 'b_2', 'type': 'function', 'function': {'name': 'g_h', 'arguments': "
    "'{\\\"malformed_arguments\\\":\\\"{x\\\"}'}}]},"
    "  {'role': 'tool', 'tool_call_id': 'a', 'content': 'one\\n[a picture, image/png, that cannot be shown "
    "here]'},"
    "  {'role': 'tool', 'tool_call_id': 'b_2', 'content': 'bad'},"
    "  {'role': 'user', 'content': 'And?'}]}";

#define RESPONSES_CALLS                                                                                      \
  "  {'type': 'reasoning', 'id': 'rs', 'encrypted_content': 'E', 'summary': []},"                            \
  "  {'type': 'message', 'role': 'assistant', 'status': 'completed', 'content': [{'type': 'output_text', "   \
  "'text': "                                                                                                 \
  "'I look.', 'annotations': []}]},"                                                                         \
  "  {'type': 'function_call', 'call_id': 'a', 'name': 'f', 'arguments': '{\\\"x\\\":1}'},"                  \
  "  {'type': 'function_call', 'call_id': 'b_2', 'name': 'g_h', 'arguments': "                               \
  "'{\\\"malformed_arguments\\\":\\\"{x\\\"}'},"
#define RESPONSES_LOOK                                                                                       \
  "  {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'Look'},"                \
  "    {'type': 'input_image', 'detail': 'auto', 'image_url': 'data:image/png;base64,QQ=='}]},"

static const char responses_body[] =
    "{'model': 'm', 'instructions': 'Be good', 'max_output_tokens': 100, 'store': false, 'stream': true,"
    " 'include': ['reasoning.encrypted_content'],"
    " 'tools': [{'type': 'function', 'name': 'f', 'description': 'd', 'strict': true, "
    "'parameters': " F_PARAMETERS "},"
    "  {'type': 'function', 'name': 'g', 'description': 'e', 'strict': false, 'parameters': " G_PARAMETERS
    "}],"
    " 'tool_choice': {'type': 'function', 'name': 'f'},"
    " 'input': [" RESPONSES_LOOK RESPONSES_CALLS
    "  {'type': 'function_call_output', 'call_id': 'a', 'output': [{'type': 'input_text', 'text': 'one'},"
    "    {'type': 'input_image', 'detail': 'auto', 'image_url': 'data:image/png;base64,Qg=='}]},"
    "  {'type': 'function_call_output', 'call_id': 'b_2', 'output': 'bad'},"
    "  {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'And?'}]}]}";

static const char responses_plain_body[] =
    "{'model': 'm', 'instructions': 'Be good', 'max_output_tokens': 100, 'store': false, 'stream': true,"
    " 'tools': [{'type': 'function', 'name': 'f', 'description': 'd', 'parameters': " F_PARAMETERS "},"
    "  {'type': 'function', 'name': 'g', 'description': 'e', 'parameters': " G_PARAMETERS "}],"
    " 'input': [" RESPONSES_LOOK RESPONSES_CALLS
    "  {'type': 'function_call_output', 'call_id': 'a', 'output': 'one'},"
    "  {'type': 'function_call_output', 'call_id': 'b_2', 'output': 'bad'},"
    "  {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'These are the "
    "pictures of the results "
    "above.'}, {'type': 'input_image', 'detail': 'auto', 'image_url': 'data:image/png;base64,Qg=='}]},"
    "  {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'And?'}]}]}";

static const char messages_body[] =
    "{'model': 'm', 'max_tokens': 100, 'stream': true,"
    " 'system': [{'type': 'text', 'text': 'Be good', " EPHEMERAL "}],"
    " 'tools': [{'name': 'f', 'description': 'd', 'input_schema': " F_PARAMETERS "},"
    "  {'name': 'g', 'description': 'e', 'input_schema': " G_PARAMETERS "}],"
    " 'tool_choice': {'type': 'tool', 'name': 'f', 'disable_parallel_tool_use': true},"
    " 'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Look'},"
    "    {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': 'QQ=='}}]},"
    "  {'role': 'assistant', 'content': [{'type': 'thinking', 'thinking': 'T', 'signature': 'S'}, {'type': "
    "'text', 'text': 'I look.'},"
    "    {'type': 'tool_use', 'id': 'a', 'name': 'f', 'input': {'x': 1}},"
    "    {'type': 'tool_use', 'id': 'b_2', 'name': 'g_h', 'input': {'malformed_arguments': '{x'}}]},"
    "  {'role': 'user', 'content': ["
    "    {'type': 'tool_result', 'tool_use_id': 'a', 'content': [{'type': 'text', 'text': 'one'},"
    "      {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png', 'data': 'Qg=='}}]},"
    "    {'type': 'tool_result', 'tool_use_id': 'b_2', 'is_error': true, 'content': [{'type': 'text', "
    "'text': 'bad'}]},"
    "    {'type': 'text', 'text': 'And?', " EPHEMERAL "}]}]}";

static const struct row {
  const char *name;
  const struct dialect_class *class;
  const char *tool;
  gboolean sees;
  guint quirks;
  const char *body;
} rows[] = {
    {"chat", &dialect_chat, "f", TRUE, 0, chat_body},
    {"chat/to one that cannot see, with all quirks", &dialect_chat, "", FALSE,
     QUIRK_MAX_COMPLETION | QUIRK_NO_USAGE | QUIRK_NO_STRICT | QUIRK_NO_PARALLEL, chat_blind_body},
    {"responses", &dialect_responses, "f", TRUE, 0, responses_body},
    {"responses/with all quirks", &dialect_responses, NULL, TRUE,
     QUIRK_NO_ENCRYPTED | QUIRK_NO_STRICT | QUIRK_TEXT_RESULTS, responses_plain_body},
    {"messages", &dialect_messages, "f", TRUE, 0, messages_body},
};

/* JSON with ' for ". */
static json_t *
read_json (const char *text)
{
  g_autofree char *copy = g_strdelimit (g_strdup (text), "'", '"');
  json_error_t problem;
  json_t *value = json_loads (copy, JSON_REJECT_DUPLICATES, &problem);
  if (!value)
    g_error ("%s at %d: %s", problem.text, problem.position, copy);
  return value;
}

static void
test_row (gconstpointer data)
{
  const struct row *row = data;
  g_autoptr (json_t) messages = read_json (conversation), offered = read_json (tools),
                     expected = read_json (row->body);
  g_autoptr (json_t) before = json_deep_copy (messages);
  struct model_question question = {
      .instructions = "Be good", .messages = messages, .tools = offered, .tool = row->tool};
  struct dialect_question asked = {&question, "m", 100, row->sees, TRUE, row->quirks};
  g_autoptr (GError) error = NULL;
  g_autoptr (json_t) body = row->class->ask (&asked, &error);
  g_assert_no_error (error);
  g_autofree char *shown = json_to_text (body);
  if (!json_equal (body, expected))
    g_error ("%s: %s", row->name, shown);
  g_assert_true (json_equal (messages, before));
}

/* ---- questions that are none ---- */

static void
check_refused (const char *messages, const char *offered, const char *tool, const char *because)
{
  static const struct dialect_class *const classes[] = {&dialect_chat, &dialect_responses, &dialect_messages};
  g_autoptr (json_t) said = read_json (messages), list = read_json (offered);
  struct model_question question = {.messages = said, .tools = list, .tool = tool};
  struct dialect_question asked = {.question = &question, .model = "m"};
  for (gsize i = 0; i < G_N_ELEMENTS (classes); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (classes[i]->ask (&asked, &error));
    g_assert_error (error, MODEL_ERROR, MODEL_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, because));
  }
}

static void
test_refused (void)
{
  check_refused ("[]", "[]", NULL, "last message");
  check_refused ("[{'role': 'assistant', 'content': []}]", "[]", NULL, "last message");
  check_refused ("[{'role': 'user', 'content': []}]", tools, "h", "not among");
  check_refused ("[{'role': 'user', 'content': []}]", "[]", "", "none is given");
}

/* The API refuses blank text and messages without a block, and wants roles to take turns. */
static void
test_messages_blank (void)
{
  g_autoptr (json_t) messages = read_json (
      "[{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}]}, {'role': 'assistant', 'content': "
      "[{'type': 'text', "
      "'text': ' \\n'}]}, {'role': 'user', 'content': [{'type': 'text', 'text': 'b'}]}]");
  g_autoptr (json_t) expected = read_json ("{'model': 'm', 'max_tokens': 8192, 'stream': false, 'messages': "
                                           "[{'role': 'user', 'content': [{'type': 'text', "
                                           "'text': 'a'}, {'type': 'text', 'text': 'b'}]}]}");
  struct model_question question = {.instructions = "", .messages = messages};
  struct dialect_question asked = {.question = &question, .model = "m", .quirks = QUIRK_NO_CACHE};
  g_autoptr (json_t) body = dialect_messages.ask (&asked, NULL);
  g_assert_true (json_equal (body, expected));
}

/* OpenAI refuses "parallel_tool_calls" where there are no tools. */
static void
test_chat_without_tools (void)
{
  g_autoptr (json_t) messages = read_json ("[{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}]}]");
  g_autoptr (json_t) expected =
      read_json ("{'model': 'm', 'stream': false, 'messages': [{'role': 'user', 'content': 'a'}]}");
  struct model_question question = {.messages = messages};
  struct dialect_question asked = {.question = &question, .model = "m"};
  g_autoptr (json_t) body = dialect_chat.ask (&asked, NULL);
  g_assert_true (json_equal (body, expected));
}

/* ---- schemas that a server can hold a model to ---- */

static const struct {
  const char *schema;
  gboolean strict;
} schemas[] = {
    {F_PARAMETERS, TRUE},
    {G_PARAMETERS, FALSE},
    {"{'type': 'object'}", FALSE},
    {"{'type': 'object', 'properties': {}, 'additionalProperties': false}", TRUE},
    {"{'type': 'object', 'properties': {'x': {'type': ['string', 'null']}}, 'required': ['x'], "
     "'additionalProperties': false}",
     TRUE},
    {"{'type': 'object', 'properties': {'x': {}}, 'required': [], 'additionalProperties': false}", FALSE},
    {"{'type': 'object', 'properties': {'x': {'type': 'object'}}, 'required': ['x'], 'additionalProperties': "
     "false}",
     FALSE},
    {"{'type': 'object', 'properties': {'x': {'anyOf': [{'type': 'object'}]}}, 'required': ['x'], "
     "'additionalProperties': false}",
     FALSE},
    {"{'type': 'object', 'properties': {'x': {'items': {'type': 'string'}}}, 'required': ['x'], "
     "'additionalProperties': false}",
     TRUE},
    {"{'type': 'object', 'properties': {'x': {'minimum': 1}}, 'required': ['x'], 'additionalProperties': "
     "false}",
     FALSE},
    {"{'type': 'object', 'properties': {'x': true}, 'required': ['x'], 'additionalProperties': false}",
     FALSE},
};

static void
test_schemas (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (schemas); i++) {
    g_autoptr (json_t) schema = read_json (schemas[i].schema);
    g_test_message ("%s", schemas[i].schema);
    g_assert_cmpint (dialect_is_strict (schema), ==, schemas[i].strict);
  }
  g_assert_false (dialect_is_strict (NULL));
}

UNIT_SUITE (models_questions)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strconcat ("/models/questions/", rows[i].name, NULL);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  g_test_add_func ("/models/questions/refused", test_refused);
  g_test_add_func ("/models/questions/blank", test_messages_blank);
  g_test_add_func ("/models/questions/without tools", test_chat_without_tools);
  g_test_add_func ("/models/questions/schemas", test_schemas);
  return g_test_run ();
}
