/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as servers were seen to send them, and what is made of them: each is read whole, byte by byte, and
 * with other line ends, and it must always be the same. */
#include <string.h>

#include "common/json.h"
#include "models/response_parser.h"
#include "suite.h"

struct row {
  const char *name;
  enum dialect dialect;
  enum response_end end;
  const char *sent;
  /* The parts of the message, the stop and the tokens (input, cached, output); of an error: what it is. */
  const char *expected;
};

#define CHUNK(delta)                                                                                         \
  "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":null}]}\n\n"
#define FINISH(reason)       "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]}\n\n"
#define DONE                 "data: [DONE]\n\n"
#define EVENT(name, members) "event: " name "\ndata: {\"type\":\"" name "\"," members "}\n\n"
#define NO_TOKENS            "\"tokens\": [-1, -1, -1]"

static const struct row rows[] = {
    {"chat/text", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"role\":\"assistant\",\"content\":\"\"}") CHUNK ("{\"content\":\"Hel\"}")
         CHUNK ("{\"content\":\"lo \xc3\xa9\"}")
             FINISH ("stop") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,"
                             "\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n" DONE,
     "{\"content\": [{\"type\": \"text\", \"text\": \"Hello é\"}], \"stop\": \"end\", \"tokens\": [9, 3, "
     "4]}"},
    {"chat/calls in pieces, in turns", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{"
            "\"name\":\"f\","
            "\"arguments\":\"\"}}]}")
         CHUNK ("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\":\"}}]}") CHUNK (
             "{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]"
             "}") CHUNK ("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}")
             FINISH ("tool_calls") DONE,
     "{\"content\": [{\"type\": \"call\", \"id\": \"a\", \"name\": \"f\", \"arguments\": {\"x\": 1}},"
     "{\"type\": \"call\", \"id\": \"b\", \"name\": \"g\", \"arguments\": {}}], \"stop\": "
     "\"calls\", " NO_TOKENS "}"},
    {"chat/no [DONE], and stop with calls", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{"
            "\\\"x\\\":1}\"}}]}") FINISH ("stop"),
     "{\"content\": [{\"type\": \"call\", \"id\": \"a\", \"name\": \"f\", \"arguments\": {\"x\": 1}}], "
     "\"stop\": \"calls\", " NO_TOKENS "}"},
    {"chat/[DONE] and no reason", DIALECT_CHAT, RESPONSE_WHOLE, CHUNK ("{\"content\":\"x\"}") DONE,
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"stop\": \"end\", " NO_TOKENS "}"},
    {"chat/calls without id and index", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"tool_calls\":[{\"id\":\"\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}},"
            "{\"function\":{\"name\":\"f\",\"arguments\":null}}]}") FINISH ("tool_calls"),
     "{\"content\": [{\"type\": \"call\", \"id\": \"call_1_0\", \"name\": \"f\", \"arguments\": {\"x\": 1}},"
     "{\"type\": \"call\", \"id\": \"call_1_1\", \"name\": \"f\", \"arguments\": {}}], \"stop\": "
     "\"calls\", " NO_TOKENS "}"},
    {"chat/whole calls that all have the first index", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{"
            "\\\"x\\\":1}\"}}]}") CHUNK ("{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":"
                                         "\"f\",\"arguments\":\"{\\\"x\\\":2}\"}}]}") FINISH ("tool_calls"),
     "{\"content\": [{\"type\": \"call\", \"id\": \"a\", \"name\": \"f\", \"arguments\": {\"x\": 1}},"
     "{\"type\": \"call\", \"id\": \"b\", \"name\": \"f\", \"arguments\": {\"x\": 2}}], \"stop\": "
     "\"calls\", " NO_TOKENS "}"},
    {"chat/two calls with one id", DIALECT_CHAT, RESPONSE_WHOLE,
     "{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":"
     "\"f\",\"arguments\":\"{}\"}},"
     "{\"id\":\"a\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]"
     "}",
     "{\"content\": [{\"type\": \"call\", \"id\": \"a\", \"name\": \"f\", \"arguments\": {}},"
     "{\"type\": \"call\", \"id\": \"call_1_1\", \"name\": \"g\", \"arguments\": {}}], \"stop\": "
     "\"calls\", " NO_TOKENS "}"},
    {"chat/more tokens than there are", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"content\":\"x\"}")
         FINISH ("stop") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9223372036854775807,"
                         "\"completion_tokens\":-4,\"prompt_tokens_details\":{\"cached_tokens\":"
                         "1000000000001}}}\n\n" DONE,
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"stop\": \"end\", \"tokens\": [1000000000000, "
     "1000000000000, -1]}"},
    {"chat/arguments that are none", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{"
            "\\\"x\\\":\"}}]}") FINISH ("length"),
     "{\"content\": [{\"type\": \"call\", \"id\": \"a\", \"name\": \"f\", \"arguments\": null, \"raw\": "
     "\"{\\\"x\\\":\"}], "
     "\"stop\": \"length\", " NO_TOKENS "}"},
    {"chat/reasoning under another name, and a stream that is one object", DIALECT_CHAT, RESPONSE_WHOLE,
     "\n {\"choices\":[{\"message\":{\"role\":\"assistant\",\"reasoning\":\"I "
     "think\",\"content\":\"4\"},\"finish_reason\":\"stop\"}],"
     "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n",
     "{\"content\": [{\"type\": \"opaque\", \"dialect\": \"chat\", \"data\": {\"reasoning\": \"I think\"}},"
     "{\"type\": \"text\", \"text\": \"4\"}], \"stop\": \"end\", \"tokens\": [1, -1, 2]}"},
    {"chat/reasoning in pieces, under both names", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"reasoning_content\":\"a\",\"reasoning\":\"a\"}")
         CHUNK ("{\"reasoning_content\":\"b\",\"reasoning\":\"b\"}") CHUNK ("{\"content\":\"c\"}")
             FINISH ("stop") DONE,
     "{\"content\": [{\"type\": \"opaque\", \"dialect\": \"chat\", \"data\": {\"reasoning_content\": "
     "\"ab\"}},"
     "{\"type\": \"text\", \"text\": \"c\"}], \"stop\": \"end\", " NO_TOKENS "}"},
    {"chat/what a server hangs on a call", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"extra_content\":{\"google\":{\"thought_signature\":"
            "\"s\"}},"
            "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}") FINISH ("tool_calls") DONE,
     "{\"content\": [{\"type\": \"opaque\", \"dialect\": \"chat\", \"data\": {\"calls\": {\"a\": "
     "{\"extra_content\": {\"google\": "
     "{\"thought_signature\": \"s\"}}}}}}, {\"type\": \"call\", \"id\": \"a\", \"name\": \"f\", "
     "\"arguments\": {}}], "
     "\"stop\": \"calls\", " NO_TOKENS "}"},
    {"chat/content in parts", DIALECT_CHAT, RESPONSE_WHOLE,
     "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
     "\"text\":\"b\"}]},"
     "\"finish_reason\":\"stop\"}]}",
     "{\"content\": [{\"type\": \"text\", \"text\": \"ab\"}], \"stop\": \"end\", " NO_TOKENS "}"},
    {"chat/refused", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"refusal\":\"I can\"}") CHUNK ("{\"refusal\":\"not.\"}") FINISH ("stop") DONE,
     "{\"content\": [{\"type\": \"text\", \"text\": \"I cannot.\"}], \"stop\": \"refusal\", " NO_TOKENS "}"},
    {"chat/filtered", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"content\":\"x\"}") FINISH ("content_filter") DONE,
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"stop\": \"refusal\", " NO_TOKENS "}"},
    {"chat/nothing was said", DIALECT_CHAT, RESPONSE_WHOLE, FINISH ("stop") DONE,
     "{\"content\": [], \"stop\": \"end\", " NO_TOKENS "}"},
    {"chat/half a character and NUL", DIALECT_CHAT, RESPONSE_WHOLE,
     CHUNK ("{\"content\":\"a\\ud83d\"}") CHUNK ("{\"content\":\"b\\u0000\"}") FINISH ("stop") DONE,
     "{\"content\": [{\"type\": \"text\", \"text\": \"a\\ufffdb\\ufffd\"}], \"stop\": \"end\", " NO_TOKENS
     "}"},
    {"chat/comments, other fields and words between events", DIALECT_CHAT, RESPONSE_WHOLE,
     ": ping\n\nretry: 10\nid: 7\ndata: ping\n\ndata:\n\n" CHUNK ("{\"content\":\"x\"}") ": x\n" FINISH (
         "stop") "data:[DONE]\n\n",
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"stop\": \"end\", " NO_TOKENS "}"},
    {"chat/cut", DIALECT_CHAT, RESPONSE_CUT, CHUNK ("{\"content\":\"x\"}") "data: {\"choices\":[{\"del",
     NULL},
    {"chat/nothing at all", DIALECT_CHAT, RESPONSE_CUT, "", NULL},
    {"chat/[DONE] at once", DIALECT_CHAT, RESPONSE_CUT, DONE, NULL},
    {"chat/an error as a string", DIALECT_CHAT, RESPONSE_ERROR,
     CHUNK ("{\"content\":\"x\"}") "{\"error\":\"model runner has crashed\"}\n",
     "\"model runner has crashed\""},
    {"chat/an error as an event", DIALECT_CHAT, RESPONSE_ERROR,
     CHUNK ("{\"content\":\"x\"}") "data: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n",
     "{\"message\": \"m\", \"code\": 429}"},
    {"chat/an error as the whole", DIALECT_CHAT, RESPONSE_ERROR, "{\"error\":{\"message\":\"m\"}}",
     "{\"message\": \"m\"}"},
    {"chat/an error in a list", DIALECT_CHAT, RESPONSE_ERROR, "[{\"error\":{\"message\":\"m\"}}]",
     "{\"message\": \"m\"}"},
    {"chat/an error of vLLM's", DIALECT_CHAT, RESPONSE_ERROR, "{\"object\":\"error\",\"message\":\"m\"}",
     "{\"object\": \"error\", \"message\": \"m\"}"},
    {"chat/a page", DIALECT_CHAT, RESPONSE_MALFORMED, "<!doctype html><p>502", "\"it is a page for people\""},
    {"chat/no JSON", DIALECT_CHAT, RESPONSE_MALFORMED, "{\"choices\": [", "\"it is no JSON\""},
    {"chat/no answer", DIALECT_CHAT, RESPONSE_MALFORMED, "{\"hello\": 1}",
     "\"it has nothing of an answer in it\""},
    {"chat/an event that is no JSON", DIALECT_CHAT, RESPONSE_MALFORMED, "data: {\"a\"\n\n" DONE,
     "\"an event of it is no JSON\""},

    {"responses/text", DIALECT_RESPONSES, RESPONSE_WHOLE,
     EVENT ("response.created",
            "\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null,\"output\":[]}")
         EVENT ("response.output_item.added",
                "\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\",\"content\":[]}")
             EVENT ("response.content_part.added",
                    "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"part\":{}")
                 EVENT ("response.output_text.delta",
                        "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hel\"")
                     EVENT ("response.output_text.delta",
                            "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"lo\"")
                         EVENT ("response.output_text.done",
                                "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"text\":\"Hello\"")
                             EVENT ("response.output_item.done",
                                    "\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\","
                                    "\"content\":[{\"type\":\"output_text\","
                                    "\"text\":\"Hello\"}]}")
                                 EVENT ("response.completed",
                                        "\"response\":{\"status\":\"completed\",\"error\":null,\"output\":[{"
                                        "\"type\":\"message\",\"content\":"
                                        "[{\"type\":\"output_text\",\"text\":\"Hello\"}]}],\"usage\":{"
                                        "\"input_tokens\":5,\"output_tokens\":2,"
                                        "\"input_tokens_details\":{\"cached_tokens\":1}}}"),
     "{\"content\": [{\"type\": \"text\", \"text\": \"Hello\"}], \"stop\": \"end\", \"tokens\": [5, 1, 2]}"},
    {"responses/reasoning and a call", DIALECT_RESPONSES, RESPONSE_WHOLE,
     EVENT ("response.output_item.added",
            "\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[]}")
         EVENT ("response.reasoning_summary_text.delta",
                "\"item_id\":\"rs\",\"output_index\":0,\"delta\":\"hm\"")
             EVENT ("response.output_item.done", "\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":"
                                                 "\"rs\",\"summary\":[],\"encrypted_content\":\"E\"}")
                 EVENT ("response.output_item.added",
                        "\"output_index\":1,\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":"
                        "\"c\",\"name\":\"f\",\"arguments\":\"\"}")
                     EVENT ("response.function_call_arguments.delta",
                            "\"item_id\":\"fc\",\"output_index\":1,\"delta\":\"{\\\"x\\\":\"")
                         EVENT ("response.function_call_arguments.delta",
                                "\"item_id\":\"fc\",\"output_index\":1,\"delta\":\"1}\"")
                             EVENT ("response.function_call_arguments.done",
                                    "\"item_id\":\"fc\",\"output_index\":1,\"arguments\":\"{\\\"x\\\":1}\"")
                                 EVENT ("response.completed",
                                        "\"response\":{\"status\":\"completed\",\"output\":[]}"),
     "{\"content\": [{\"type\": \"opaque\", \"dialect\": \"responses\", \"data\": {\"type\": \"reasoning\", "
     "\"id\": \"rs\", \"summary\": [], "
     "\"encrypted_content\": \"E\"}}, {\"type\": \"call\", \"id\": \"c\", \"name\": \"f\", \"arguments\": "
     "{\"x\": 1}}], "
     "\"stop\": \"calls\", " NO_TOKENS "}"},
    {"responses/ids and no indices", DIALECT_RESPONSES, RESPONSE_WHOLE,
     EVENT ("response.output_item.added", "\"item\":{\"type\":\"message\",\"id\":\"m\",\"content\":[]}")
         EVENT ("response.output_text.delta", "\"item_id\":\"m\",\"delta\":\"a\"")
             EVENT ("response.output_item.added",
                    "\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c\",\"name\":\"f\"}")
                 EVENT ("response.function_call_arguments.delta", "\"item_id\":\"fc\",\"delta\":\"{}\"")
                     EVENT ("response.output_text.delta", "\"item_id\":\"m\",\"delta\":\"b\"")
                         EVENT ("response.completed", "\"response\":{\"status\":\"completed\"}"),
     "{\"content\": [{\"type\": \"text\", \"text\": \"ab\"}, {\"type\": \"call\", \"id\": \"c\", \"name\": "
     "\"f\", \"arguments\": {}}], "
     "\"stop\": \"calls\", " NO_TOKENS "}"},
    {"responses/the end alone", DIALECT_RESPONSES, RESPONSE_WHOLE,
     EVENT ("response.completed",
            "\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":"
            "\"output_text\",\"text\":\"x\"}]},"
            "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}]}"),
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}, {\"type\": \"call\", \"id\": \"c\", \"name\": "
     "\"f\", \"arguments\": {}}], "
     "\"stop\": \"calls\", " NO_TOKENS "}"},
    {"responses/one object, its calls without call_id", DIALECT_RESPONSES, RESPONSE_WHOLE,
     "{\"object\":\"response\",\"status\":\"completed\",\"error\":null,\"output\":[{\"type\":\"function_"
     "call\",\"id\":\"fc_1\",\"name\":\"f\","
     "\"arguments\":\"\"}],\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}",
     "{\"content\": [{\"type\": \"call\", \"id\": \"fc_1\", \"name\": \"f\", \"arguments\": {}}], \"stop\": "
     "\"calls\", "
     "\"tokens\": [5, -1, 2]}"},
    {"responses/refused", DIALECT_RESPONSES, RESPONSE_WHOLE,
     EVENT ("response.refusal.delta",
            "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"No.\"")
         EVENT ("response.completed", "\"response\":{\"status\":\"completed\"}"),
     "{\"content\": [{\"type\": \"text\", \"text\": \"No.\"}], \"stop\": \"refusal\", " NO_TOKENS "}"},
    {"responses/too long", DIALECT_RESPONSES, RESPONSE_WHOLE,
     EVENT ("response.output_text.delta",
            "\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"x\"")
         EVENT ("response.incomplete", "\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{"
                                       "\"reason\":\"max_output_tokens\"}}"),
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"stop\": \"length\", " NO_TOKENS "}"},
    {"responses/failed", DIALECT_RESPONSES, RESPONSE_ERROR,
     EVENT ("response.failed",
            "\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"m\"}}"),
     "{\"code\": \"server_error\", \"message\": \"m\"}"},
    {"responses/an error by itself", DIALECT_RESPONSES, RESPONSE_ERROR,
     EVENT ("error", "\"code\":\"c\",\"message\":\"m\""),
     "{\"type\": \"error\", \"code\": \"c\", \"message\": \"m\"}"},
    {"responses/cut", DIALECT_RESPONSES, RESPONSE_CUT,
     EVENT ("response.output_text.delta", "\"item_id\":\"m\",\"delta\":\"x\""), NULL},

    {"messages/thinking, text and a call", DIALECT_MESSAGES, RESPONSE_WHOLE,
     EVENT ("message_start", "\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,"
                             "\"cache_creation_input_tokens\":2,\"output_tokens\":1}}")
         EVENT ("content_block_start",
                "\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
             EVENT ("content_block_delta",
                    "\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"I \"}")
                 EVENT ("content_block_delta",
                        "\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"think\"}")
                     EVENT ("content_block_delta",
                            "\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"S==\"}")
                         EVENT ("content_block_stop", "\"index\":0") EVENT ("ping", "\"x\":0") EVENT (
                             "content_block_start",
                             "\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
                             EVENT ("content_block_delta",
                                    "\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}")
                                 EVENT ("content_block_start",
                                        "\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_"
                                        "1\",\"name\":\"f\",\"input\":{}}")
                                     EVENT ("content_block_delta", "\"index\":2,\"delta\":{\"type\":\"input_"
                                                                   "json_delta\",\"partial_json\":\"\"}")
                                         EVENT ("content_block_delta",
                                                "\"index\":2,\"delta\":{\"type\":\"input_json_delta\","
                                                "\"partial_json\":\"{\\\"x\\\": \"}")
                                             EVENT ("content_block_delta",
                                                    "\"index\":2,\"delta\":{\"type\":\"input_json_delta\","
                                                    "\"partial_json\":\"1}\"}")
                                                 EVENT ("message_delta",
                                                        "\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{"
                                                        "\"output_tokens\":20}")
                                                     EVENT ("message_stop", "\"x\":0"),
     "{\"content\": [{\"type\": \"opaque\", \"dialect\": \"messages\", \"data\": {\"type\": \"thinking\", "
     "\"thinking\": \"I think\", "
     "\"signature\": \"S==\"}}, {\"type\": \"text\", \"text\": \"Hi\"}, {\"type\": \"call\", \"id\": "
     "\"toolu_1\", \"name\": \"f\", "
     "\"arguments\": {\"x\": 1}}], \"stop\": \"calls\", \"tokens\": [17, 5, 20]}"},
    {"messages/a call that came whole", DIALECT_MESSAGES, RESPONSE_WHOLE,
     EVENT ("content_block_start", "\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\","
                                   "\"name\":\"f\",\"input\":{\"x\":1}}")
         EVENT (
             "message_delta",
             "\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"input_tokens\":3,\"output_tokens\":4}"),
     "{\"content\": [{\"type\": \"call\", \"id\": \"t\", \"name\": \"f\", \"arguments\": {\"x\": 1}}], "
     "\"stop\": \"calls\", "
     "\"tokens\": [3, 0, 4]}"},
    {"messages/one object, with what nobody knows", DIALECT_MESSAGES, RESPONSE_WHOLE,
     "{\"type\":\"message\",\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"D\"},{\"type\":\"text\","
     "\"text\":\"x\"},"
     "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"x\":1}}],\"stop_reason\":\"tool_use\","
     "\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}",
     "{\"content\": [{\"type\": \"opaque\", \"dialect\": \"messages\", \"data\": {\"type\": "
     "\"redacted_thinking\", \"data\": \"D\"}},"
     "{\"type\": \"text\", \"text\": \"x\"}, {\"type\": \"call\", \"id\": \"t\", \"name\": \"f\", "
     "\"arguments\": {\"x\": 1}}], "
     "\"stop\": \"calls\", \"tokens\": [3, 0, 4]}"},
    {"messages/refused", DIALECT_MESSAGES, RESPONSE_WHOLE,
     "{\"content\":[],\"stop_reason\":\"refusal\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}",
     "{\"content\": [], \"stop\": \"refusal\", \"tokens\": [3, 0, 4]}"},
    {"messages/the window is full", DIALECT_MESSAGES, RESPONSE_WHOLE,
     "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"stop_reason\":\"model_context_window_exceeded\"}",
     "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"stop\": \"length\", " NO_TOKENS "}"},
    {"messages/tokens that are forgotten at the end", DIALECT_MESSAGES, RESPONSE_WHOLE,
     EVENT ("message_start", "\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}") EVENT (
         "message_delta",
         "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":0,\"output_tokens\":2}"),
     "{\"content\": [], \"stop\": \"end\", \"tokens\": [10, 0, 2]}"},
    {"messages/an error in the midst", DIALECT_MESSAGES, RESPONSE_ERROR,
     EVENT ("content_block_delta", "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}")
         EVENT ("error", "\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"),
     "{\"type\": \"overloaded_error\", \"message\": \"Overloaded\"}"},
    {"messages/cut", DIALECT_MESSAGES, RESPONSE_CUT,
     EVENT ("content_block_delta", "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}"), NULL},
};

/* ---- parsing them ---- */

static void
see (gpointer data, const char *text, gsize length)
{
  g_assert_nonnull (text);
  g_string_append_len (data, text, (gssize)length);
}

/* What was told must be what is said. */
static void
check_seen (const struct model_answer *answer, const GString *seen)
{
  g_autofree char *text = message_all_text (answer->message);
  g_assert_cmpstr (text, ==, seen->str);
}

static json_t *
what_came (enum response_end end, struct response_parser *parser, struct model_answer *answer,
           const GString *seen)
{
  if (end != RESPONSE_WHOLE)
    return json_incref ((json_t *)response_parser_error (parser));
  check_seen (answer, seen);
  json_t *came =
      json_pack ("{s:O, s:s, s:[I, I, I]}", "content", json_object_get (answer->message, "content"), "stop",
                 model_stop_names[answer->stop], "tokens", (json_int_t)answer->usage.input_tokens,
                 (json_int_t)answer->usage.cached_tokens, (json_int_t)answer->usage.output_tokens);
  g_assert_cmpstr (json_member_text (answer->message, "role"), ==, "assistant");
  model_answer_clear (answer);
  return came;
}

/* In pieces of at most STEP bytes. */
static void
check_in_steps (const struct row *row, const char *sent, gsize length, gsize step)
{
  GString *seen = g_string_new (NULL);
  g_autoptr (json_t) messages = json_pack ("[{s:s}]", "role", "user");
  const struct model_question question = {.messages = messages, .saw = see, .saw_data = seen};
  struct response_parser *parser = response_parser_new (row->dialect, &question);
  struct model_answer answer = {0};
  for (gsize at = 0; at < length && response_parser_feed (parser, sent + at, MIN (step, length - at));
       at += step)
    ;
  enum response_end end = response_parser_end (parser, &answer);
  g_assert_cmpint (end, ==, row->end);
  g_autoptr (json_t) came = what_came (end, parser, &answer, seen);
  g_autoptr (json_t) expected = row->expected ? json_loads (row->expected, JSON_DECODE_ANY, NULL) : NULL;
  g_assert_true (!row->expected || expected);
  g_autofree char *shown = came ? json_to_text (came) : g_strdup ("nothing");
  if (came != expected && !json_equal (came, expected))
    g_error ("%s: %s", row->name, shown);
  response_parser_free (parser);
  g_string_free (seen, TRUE);
}

static void
test_row (gconstpointer data)
{
  const struct row *row = data;
  static const gsize steps[] = {1, 2, 7, 100000};
  g_auto (GStrv) lines = g_strsplit (row->sent, "\n", -1);
  g_autofree char *crlf = g_strjoinv ("\r\n", lines), *cr = g_strjoinv ("\r", lines);
  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++) {
    check_in_steps (row, row->sent, strlen (row->sent), steps[i]);
    check_in_steps (row, crlf, strlen (crlf), steps[i]);
    check_in_steps (row, cr, strlen (cr), steps[i]);
  }
}

/* A server cannot make an answer of more parts than are looked at. */
static void
test_crowded (void)
{
  GString *sent = g_string_new (NULL);
  for (int i = 0; i < 3000; i++)
    g_string_append_printf (
        sent, CHUNK ("{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"function\":{\"name\":\"f\"}}]}"), i, i);
  g_string_append (sent, DONE);
  const struct row row = {"crowded", DIALECT_CHAT, RESPONSE_MALFORMED, sent->str,
                          "\"it has too many parts\""};
  check_in_steps (&row, sent->str, sent->len, 100000);
  g_string_free (sent, TRUE);
}

UNIT_SUITE (models_answers)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strconcat ("/models/answers/", rows[i].name, NULL);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  g_test_add_func ("/models/answers/crowded", test_crowded);
  return g_test_run ();
}
