/* SPDX-License-Identifier: Apache-2.0 */
/* Tools: a row for each. Most say one thing, or ask the client and say what it answered. */
#include "fixtures_tools.h"

#include <string.h>

#include "common/json.h"
#include "fixtures_data.h"
#include "interfaces/mcp/mcp_http.h"

#define ASKS_MAX      3
#define STEP_MS       50
#define PAUSE_MS      100
#define FAILING_MS    1000
#define WATCH_EACH_US 5000

struct ask {
  const char *key, *method, *params;
};

struct fixture {
  const char *name, *text;
  const char *parameters; /* members of "properties"; NULL: none */
  const char *schema;     /* the whole, in place of that */
  const char *content;    /* what it says; {NAME} is an argument */
  const char *said;       /* before what the client answered */
  const char *state;      /* what the client carries, JSON; NULL: nothing */
  gboolean is_error;      /* it fails, by a result */
  enum mcp_tasking tasking;
  struct ask asks[ASKS_MAX];
  void (*call) (struct mcp_request *request, const struct fixture *tool, const json_t *arguments);
};

#define FORM(message, properties, required)                                                                  \
  "{\"mode\": \"form\", \"message\": \"" message                                                             \
  "\", \"requestedSchema\": {\"type\": \"object\", \"properties\": {" properties                             \
  "}, \"required\": [" required "]}}"
#define SAMPLE(text, tokens)                                                                                 \
  "{\"messages\": [{\"role\": \"user\", \"content\": {\"type\": \"text\", \"text\": \"" text                 \
  "\"}}], \"maxTokens\": " tokens "}"
#define ASK_NAME                                                                                             \
  "elicitation/create", FORM ("What is your name?", "\"name\": {\"type\": \"string\"}", "\"name\"")
#define ASK_CONFIRM "elicitation/create", FORM ("Please confirm", "\"ok\": {\"type\": \"boolean\"}", "\"ok\"")
#define ASK_DELETE                                                                                           \
  "elicitation/create", FORM ("Shall it be?", "\"confirm\": {\"type\": \"boolean\"}", "\"confirm\"")

/* ---- handlers ---- */

/* What the client answered to ASK, as a text; the caller's. */
static char *
describe (const struct mcp_ask *ask)
{
  if (strcmp (ask->method, "elicitation/create") == 0) {
    const json_t *content = json_object_get (ask->answer, "content");
    g_autofree char *text = content != NULL ? json_to_text (content) : g_strdup ("{}");
    return g_strdup_printf ("action=%s, content=%s", json_member_text (ask->answer, "action"), text);
  }
  if (strcmp (ask->method, "sampling/createMessage") == 0)
    return g_strdup (json_member_text (json_object_get (ask->answer, "content"), "text"));
  return json_to_text (ask->answer);
}

static void
say (struct mcp_request *request, const char *text, gboolean is_error)
{
  mcp_result (request, mcp_tool_result (json_pack ("[o]", mcp_text (text)), NULL, is_error));
}

/* Waits. FALSE: it was cancelled meanwhile. */
static gboolean
pass (struct mcp_request *request, guint64 ms)
{
  gint64 end = g_get_monotonic_time () + (gint64)ms * 1000;

  while (g_get_monotonic_time () < end && !mcp_is_cancelled (request))
    g_usleep (WATCH_EACH_US);
  return !mcp_is_cancelled (request);
}

/* Asks what TOOL asks, and says what was answered. */
static gboolean
ask_and_tell (struct mcp_request *request, const struct fixture *tool, const json_t *arguments,
              char **ret_told)
{
  struct mcp_ask asks[ASKS_MAX] = {0};
  gsize count = 0;
  json_t *state = tool->state != NULL ? fixture_json (tool->state, arguments) : NULL;

  for (; count < ASKS_MAX && tool->asks[count].key != NULL; count++) {
    const struct ask *ask = &tool->asks[count];
    asks[count] = (struct mcp_ask){ask->key, ask->method, fixture_json (ask->params, arguments), NULL};
  }
  switch (mcp_input (request, asks, count, state)) {
  case MCP_INPUT_LATER:
    return FALSE;
  case MCP_INPUT_UNABLE:
    say (request, "The client cannot be asked this", TRUE);
    return FALSE;
  case MCP_INPUT_HAVE:
    break;
  }
  GString *told = g_string_new (tool->said);
  for (gsize i = 0; i < count; i++) {
    g_autofree char *text = describe (&asks[i]);
    g_string_append_printf (told, "%s%s", i > 0 ? "; " : "", text);
  }
  *ret_told = g_string_free (told, FALSE);
  return TRUE;
}

static void
call_plainly (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  g_autofree char *told = NULL;

  if (tool->asks[0].key == NULL)
    mcp_result (request, mcp_tool_result (fixture_json (tool->content, arguments), NULL, tool->is_error));
  else if (ask_and_tell (request, tool, arguments, &told))
    say (request, told, FALSE);
}

static void
call_progress (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  for (int done = 0; done <= 100; done += 50) {
    mcp_progress (request, done, 100, NULL);
    if (!pass (request, STEP_MS))
      break;
  }
  call_plainly (request, tool, arguments);
}

static void
call_logging (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  static const char *const lines[] = {"Tool execution started", "Tool processing data",
                                      "Tool execution completed"};

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++) {
    mcp_log (request, MCP_LEVEL_INFO, NULL, json_string (lines[i]));
    if (!pass (request, STEP_MS))
      break;
  }
  call_plainly (request, tool, arguments);
}

static void
call_reconnection (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  mcp_http_pause (request);
  pass (request, PAUSE_MS);
  call_plainly (request, tool, arguments);
}

static void
call_sampling_only (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  if (!mcp_client_can (request, "sampling"))
    mcp_problem_capability (request, json_pack ("{s:{}}", "sampling"));
  else
    call_plainly (request, tool, arguments);
}

/* Asks for what the client can, and for nothing else. */
static void
call_able (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  struct fixture able = *tool;
  gsize count = 0;

  memset (able.asks, 0, sizeof able.asks);
  for (gsize i = 0; i < ASKS_MAX && tool->asks[i].key != NULL; i++) {
    g_auto (GStrv) words = g_strsplit (tool->asks[i].method, "/", 2);
    if (mcp_client_can (request, words[0]))
      able.asks[count++] = tool->asks[i];
  }
  call_plainly (request, &able, arguments);
}

/* Two questions, one after the other: how far it is stands in what the client carries. */
static void
call_rounds (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  const json_t *state = mcp_state (request);
  json_int_t round = json_integer_value (json_object_get (state, "round"));

  for (gsize i = round > 1 ? 1 : 0; i < 2; i++) {
    const struct ask *row = &tool->asks[i];
    struct mcp_ask ask = {row->key, row->method, fixture_json (row->params, arguments), NULL};
    enum mcp_input got = mcp_input (request, &ask, 1, json_pack ("{s:i}", "round", (int)i + 1));
    if (got == MCP_INPUT_LATER)
      return;
    if (got == MCP_INPUT_UNABLE) {
      say (request, "The client cannot be asked this", TRUE);
      return;
    }
  }
  say (request, tool->said, FALSE);
}

static void
call_tool_change (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  mcp_server_changed (request->server, NULL, MCP_CHANGE_TOOLS, NULL);
  call_plainly (request, tool, arguments);
}

static void
call_prompt_change (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  mcp_server_changed (request->server, NULL, MCP_CHANGE_PROMPTS, NULL);
  call_plainly (request, tool, arguments);
}

static void
call_slowly (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  double seconds = json_number_value (json_object_get (arguments, "seconds"));

  pass (request, (guint64)(CLAMP (seconds, 0, 600) * 1000));
  call_plainly (request, tool, arguments);
}

static void
call_failing (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  pass (request, FAILING_MS);
  call_plainly (request, tool, arguments);
}

static void
call_broken (struct mcp_request *request, const struct fixture *tool, G_GNUC_UNUSED const json_t *arguments)
{
  mcp_problem (request, MCP_INTERNAL_ERROR, NULL, "%s", tool->said);
}

/* Becomes a task once the client answered. */
static void
call_late_task (struct mcp_request *request, const struct fixture *tool, const json_t *arguments)
{
  g_autofree char *told = NULL;

  if (!ask_and_tell (request, tool, arguments, &told))
    return;
  mcp_become_task (request);
  pass (request, STEP_MS);
  say (request, told, FALSE);
}

/* ---- the table ---- */

#define TEXT(text) "[{\"type\": \"text\", \"text\": \"" text "\"}]"

static const struct fixture tools[] = {
    {"test_simple_text", "Says one text.", .content = TEXT ("This is a simple text response for testing.")},
    {"test_image_content", "Shows a picture.",
     .content = "[{\"type\": \"image\", \"data\": \"" FIXTURE_PNG "\", \"mimeType\": \"image/png\"}]"},
    {"test_audio_content", "Plays a sound.",
     .content = "[{\"type\": \"audio\", \"data\": \"" FIXTURE_WAV "\", \"mimeType\": \"audio/wav\"}]"},
    {"test_embedded_resource", "Has a resource within its result.",
     .content =
         "[{\"type\": \"resource\", \"resource\": {\"uri\": \"test://embedded-resource\", \"mimeType\": "
         "\"text/plain\", \"text\": \"This is an embedded resource content.\"}}]"},
    {"test_multiple_content_types", "Has text, a picture and a resource.",
     .content =
         "[{\"type\": \"text\", \"text\": \"Multiple content types test:\"}, {\"type\": \"image\", \"data\": "
         "\"" FIXTURE_PNG
         "\", \"mimeType\": \"image/png\"}, {\"type\": \"resource\", \"resource\": {\"uri\": "
         "\"test://mixed-content-resource\", \"mimeType\": \"application/json\", \"text\": "
         "\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]"},
    {"test_tool_with_logging", "Logs three lines.", .content = TEXT ("Three lines were logged"),
     .call = call_logging},
    {"test_logging_tool", "Logs three lines, to those who want them.",
     .content = TEXT ("Three lines were logged"), .call = call_logging},
    {"test_error_handling", "Fails.",
     .content = TEXT ("This tool intentionally returns an error for testing"), .is_error = TRUE},
    {"test_tool_with_progress", "Tells how far it is.", .content = TEXT ("All of it is done"),
     .call = call_progress},
    {"test_reconnection", "Has its stream closed while it is at work.",
     .content = TEXT ("The client came again for this"), .call = call_reconnection},
    {"test_missing_capability", "Needs a client that samples.", .content = TEXT ("The client samples"),
     .call = call_sampling_only},
    {"test_trigger_tool_change", "Changes the list of tools.", .content = TEXT ("The list of tools changed"),
     .call = call_tool_change},
    {"test_trigger_prompt_change", "Changes the list of prompts.",
     .content = TEXT ("The list of prompts changed"), .call = call_prompt_change},
    {"test_custom_header", "Has an argument that a header says as well.",
     .parameters =
         "\"region\": {\"type\": \"string\", \"description\": \"Where\", \"x-mcp-header\": \"Region\"}",
     .content = TEXT ("In {region}")},
    {"json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", .content = TEXT ("It is well"),
     .schema =
         "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"type\": \"object\", \"$defs\": "
         "{\"address\": {\"$anchor\": \"addressDef\", \"type\": \"object\", \"properties\": {\"street\": "
         "{\"type\": \"string\"}, \"city\": {\"type\": \"string\"}}}}, \"properties\": {\"name\": {\"type\": "
         "\"string\"}, \"address\": {\"$ref\": \"#/$defs/address\"}, \"contactMethod\": {\"type\": "
         "\"string\", "
         "\"enum\": [\"phone\", \"email\"]}, \"phone\": {\"type\": \"string\"}, \"email\": {\"type\": "
         "\"string\"}}, "
         "\"allOf\": [{\"anyOf\": [{\"required\": [\"phone\"]}, {\"required\": [\"email\"]}]}], \"if\": "
         "{\"properties\": {\"contactMethod\": {\"const\": \"phone\"}}, \"required\": [\"contactMethod\"]}, "
         "\"then\": "
         "{\"required\": [\"phone\"]}, \"else\": {\"required\": [\"email\"]}, \"additionalProperties\": "
         "false}"},

    /* Those that ask the client. */
    {"test_sampling", "Has the client's model say something.",
     .parameters = "\"prompt\": {\"type\": \"string\", \"description\": \"What to ask it\"}",
     .said = "LLM response: ", .asks = {{"sample", "sampling/createMessage", SAMPLE ("{prompt}", "100")}}},
    {"test_elicitation", "Asks the user.",
     .parameters = "\"message\": {\"type\": \"string\", \"description\": \"What to ask the user\"}",
     .said = "User response: ",
     .asks = {{"user", "elicitation/create",
               FORM ("{message}",
                     "\"username\": {\"type\": \"string\", \"description\": \"User's response\"}, \"email\": "
                     "{\"type\": "
                     "\"string\", \"description\": \"User's email address\"}",
                     "\"username\", \"email\"")}}},
    {"test_elicitation_sep1034_defaults", "Asks with defaults of each type.",
     .said = "Elicitation completed: ",
     .asks = {{"defaults", "elicitation/create",
               FORM (
                   "Please look over the defaults",
                   "\"name\": {\"type\": \"string\", \"default\": \"John Doe\"}, \"age\": {\"type\": "
                   "\"integer\", "
                   "\"default\": 30}, \"score\": {\"type\": \"number\", \"default\": 95.5}, \"status\": "
                   "{\"type\": "
                   "\"string\", \"enum\": [\"active\", \"inactive\", \"pending\"], \"default\": \"active\"}, "
                   "\"verified\": {\"type\": \"boolean\", \"default\": true}",
                   "")}}},
    {"test_elicitation_sep1330_enums", "Asks with each kind of choice.", .said = "Elicitation completed: ",
     .asks =
         {{"enums", "elicitation/create",
           FORM (
               "Please choose",
               "\"untitledSingle\": {\"type\": \"string\", \"enum\": [\"option1\", \"option2\", "
               "\"option3\"]}, "
               "\"titledSingle\": {\"type\": \"string\", \"oneOf\": [{\"const\": \"value1\", \"title\": "
               "\"First "
               "Option\"}, {\"const\": \"value2\", \"title\": \"Second Option\"}, {\"const\": \"value3\", "
               "\"title\": \"Third Option\"}]}, \"legacyEnum\": {\"type\": \"string\", \"enum\": [\"opt1\", "
               "\"opt2\", "
               "\"opt3\"], \"enumNames\": [\"Option One\", \"Option Two\", \"Option Three\"]}, "
               "\"untitledMulti\": "
               "{\"type\": \"array\", \"items\": {\"type\": \"string\", \"enum\": [\"option1\", \"option2\", "
               "\"option3\"]}}, \"titledMulti\": {\"type\": \"array\", \"items\": {\"anyOf\": [{\"const\": "
               "\"value1\", "
               "\"title\": \"First Choice\"}, {\"const\": \"value2\", \"title\": \"Second Choice\"}, "
               "{\"const\": "
               "\"value3\", \"title\": \"Third Choice\"}]}}",
               "")}}},
    {"test_streaming_elicitation", "Asks the user.", .said = "Answered: ", .asks = {{"user_name", ASK_NAME}}},
    {"test_input_required_result_elicitation", "Asks for a name.", .said = "Hello! ",
     .asks = {{"user_name", ASK_NAME}}},
    {"test_input_required_result_sampling", "Asks the client's model.", .said = "It says: ",
     .asks = {{"capital_question", "sampling/createMessage",
               SAMPLE ("What is the capital of France?", "100")}}},
    {"test_input_required_result_list_roots", "Asks for the client's roots.",
     .said = "Roots: ", .asks = {{"client_roots", "roots/list", "{}"}}},
    {"test_input_required_result_request_state", "Asks, and has the client carry something.",
     .said = "state-ok: ", .state = "{\"step\": \"confirm\"}", .asks = {{"confirm", ASK_CONFIRM}}},
    {"test_input_required_result_tampered_state", "The same; what is carried is signed.",
     .said = "state-ok: ", .state = "{\"step\": \"confirm\"}", .asks = {{"confirm", ASK_CONFIRM}}},
    {"test_input_required_result_multiple_inputs", "Asks for three things at once.",
     .said = "All answered: ", .state = "{\"step\": \"all\"}",
     .asks = {{"user_name", ASK_NAME},
              {"greeting", "sampling/createMessage", SAMPLE ("Generate a greeting", "50")},
              {"client_roots", "roots/list", "{}"}}},
    {"test_input_required_result_multi_round", "Asks twice.", .said = "Both rounds are over",
     .asks = {{"step1", "elicitation/create",
               FORM ("Step 1: What is your name?", "\"name\": {\"type\": \"string\"}", "\"name\"")},
              {"step2", "elicitation/create",
               FORM ("Step 2: What is your favorite color?", "\"color\": {\"type\": \"string\"}",
                     "\"color\"")}},
     .call = call_rounds},
    {"test_input_required_result_capabilities", "Asks for what the client can.", .said = "Answered: ",
     .asks = {{"user_name", ASK_NAME},
              {"greeting", "sampling/createMessage", SAMPLE ("Generate a greeting", "50")},
              {"client_roots", "roots/list", "{}"}},
     .call = call_able},

    /* Those that are tasks, or might be. */
    {"greet", "Greets, at once.", .parameters = "\"name\": {\"type\": \"string\", \"description\": \"Whom\"}",
     .content = TEXT ("Hello, {name}!")},
    {"slow_compute", "Takes some seconds.",
     .parameters =
         "\"seconds\": {\"type\": \"number\", \"description\": \"How many\"}, \"label\": {\"type\": "
         "\"string\", \"description\": \"Whatever it is called\"}",
     .content = TEXT ("Computed"), .tasking = MCP_TASK_AT_ONCE, .call = call_slowly},
    {"failing_job", "Fails after a second.", .content = TEXT ("The job failed"), .is_error = TRUE,
     .tasking = MCP_TASK_REQUIRED, .call = call_failing},
    {"protocol_error_job", "Fails as no tool should.", .said = "the job broke down",
     .tasking = MCP_TASK_AT_ONCE, .call = call_broken},
    {"confirm_delete", "Asks before it deletes nothing.",
     .parameters = "\"filename\": {\"type\": \"string\", \"description\": \"What\"}",
     .said = "Deleted: ", .tasking = MCP_TASK_AT_ONCE, .asks = {{"confirm", ASK_DELETE}}},
    {"multi_input", "Asks for two things at once.", .said = "Both: ", .tasking = MCP_TASK_AT_ONCE,
     .asks = {{"first", ASK_NAME}, {"second", ASK_DELETE}}},
    {"test_tool_with_task", "Asks for a name, then becomes a task.", .said = "Hello! ",
     .asks = {{"user_name", ASK_NAME}}, .tasking = MCP_TASK_BY_TOOL, .call = call_late_task},
};

static const struct fixture *
find (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (tools); i++)
    if (strcmp (tools[i].name, name) == 0)
      return &tools[i];
  return NULL;
}

json_t *
fixture_list_tools (struct mcp_request *request, const char *cursor, guint most, char **ret_cursor)
{
  json_t *rows = json_array ();

  for (gsize i = 0; i < G_N_ELEMENTS (tools); i++) {
    const struct fixture *tool = &tools[i];
    g_autofree char *plain = g_strdup_printf ("{\"type\": \"object\", \"properties\": {%s}}",
                                              tool->parameters ? tool->parameters : "");
    json_array_append_new (rows, json_pack ("{s:s, s:s, s:o}", "name", tool->name, "description", tool->text,
                                            "inputSchema",
                                            fixture_json (tool->schema ? tool->schema : plain, NULL)));
  }
  return mcp_page (request, rows, cursor, most, ret_cursor);
}

gboolean
fixture_call_tool (struct mcp_request *request, const char *name, json_t *arguments)
{
  const struct fixture *tool = find (name);

  if (tool == NULL)
    return FALSE;
  (tool->call != NULL ? tool->call : call_plainly) (request, tool, arguments);
  return TRUE;
}

enum mcp_tasking
fixture_tasking (G_GNUC_UNUSED struct mcp_request *request, const char *name)
{
  const struct fixture *tool = find (name);

  return tool != NULL ? tool->tasking : MCP_TASK_NEVER;
}

const struct mcp_mirror *
fixture_mirrors (const char *name)
{
  static const struct mcp_mirror region[] = {{"region", "Region"}, {NULL}};

  return strcmp (name, "test_custom_header") == 0 ? region : NULL;
}
