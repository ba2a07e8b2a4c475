/* SPDX-License-Identifier: Apache-2.0 */
/* What servers refuse with, as they were seen to, and what people are told of it. */
#include <string.h>

#include "models/api_errors.h"
#include "models/api_quirks.h"
#include "suite.h"

#define KEY "sk-secret-0123"

static const struct {
  long status;
  const char *body;
  enum model_error code;
  guint again;
  const char *told;
} refusals[] = {
    {401,
     "{\"error\":{\"message\":\"Incorrect API key provided: sk-secr**0123\",\"code\":\"invalid_api_key\"}}",
     MODEL_ERROR_KEY, API_NEVER, "refuses the key of the model gpt"},
    {401, "", MODEL_ERROR_KEY, API_NEVER, "adder model show gpt"},
    {403, "{\"error\":{\"message\":\"no " KEY "\"}}", MODEL_ERROR_KEY, API_NEVER, "does not let the key"},
    {404, "{\"error\":{\"message\":\"The model `x` does not exist\",\"code\":\"model_not_found\"}}",
     MODEL_ERROR_UNKNOWN, API_NEVER,
     "has no model id-of-it: give the model gpt another id (it says 404, The model `x` does not exist)"},
    {404, "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: x\"}}",
     MODEL_ERROR_UNKNOWN, API_NEVER, "has no model id-of-it"},
    {404, "{\"error\":\"model \\\"x\\\" not found, try pulling it first\"}", MODEL_ERROR_UNKNOWN, API_NEVER,
     "try pulling it first"},
    {400, "{\"error\":{\"message\":\"x is not a valid model ID\",\"code\":400}}", MODEL_ERROR_UNKNOWN,
     API_NEVER, "has no model"},
    {404, "<html>404</html>", MODEL_ERROR_UNKNOWN, API_NEVER,
     "look at the base_url and the dialect of the model gpt (status 404)"},
    {405, "{\"detail\":\"Method Not Allowed\"}", MODEL_ERROR_UNKNOWN, API_NEVER, "Method Not Allowed"},
    {400,
     "{\"error\":{\"message\":\"This model's maximum context length is 8192 "
     "tokens\",\"code\":\"context_length_exceeded\"}}",
     MODEL_ERROR_CONTEXT, API_NEVER, "longer than the model gpt can read"},
    {400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: "
     "210000 tokens\"}}",
     MODEL_ERROR_CONTEXT, API_NEVER, "longer than"},
    {400,
     "{\"error\":{\"code\":400,\"type\":\"exceed_context_size_error\",\"message\":\"the request "
     "exceeds\",\"n_ctx\":4096}}",
     MODEL_ERROR_CONTEXT, API_NEVER, "longer than"},
    {413, "{\"error\":{\"type\":\"request_too_large\"}}", MODEL_ERROR_CONTEXT, API_NEVER, "more bytes"},
    {429, "{\"error\":{\"message\":\"slow down\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}",
     MODEL_ERROR_RATE, API_ALWAYS, "accepts no more requests for now"},
    {429, "{\"error\":{\"message\":\"You exceeded your current quota\",\"code\":\"insufficient_quota\"}}",
     MODEL_ERROR_RATE, API_NEVER, "nothing left to pay"},
    {400, "{\"error\":{\"message\":\"Your credit balance is too low\"}}", MODEL_ERROR_RATE, API_NEVER,
     "nothing left to pay"},
    {402, "", MODEL_ERROR_RATE, API_NEVER, "nothing left to pay"},
    {408, "", MODEL_ERROR_UNAVAILABLE, API_ALWAYS, "in time"},
    {409, "", MODEL_ERROR_UNAVAILABLE, API_ALWAYS, "in time"},
    {500, "oops", MODEL_ERROR_UNAVAILABLE, API_ALWAYS, "fails: try again in a while (it says 500, oops)"},
    {502, "<html><body>Bad Gateway</body></html>", MODEL_ERROR_UNAVAILABLE, API_ALWAYS,
     "fails: try again in a while (status 502)"},
    {503, "{\"error\":{\"message\":\"Loading model\"}}", MODEL_ERROR_UNAVAILABLE, API_ALWAYS,
     "Loading model"},
    {529, "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}", MODEL_ERROR_UNAVAILABLE,
     API_ALWAYS, "overloaded"},
    {400, "{\"error\":{\"code\":\"content_filter\",\"message\":\"m\"}}", MODEL_ERROR_INVALID, API_NEVER,
     "in other words"},
    {400, "{\"error\":\"registry.ollama.ai/library/x does not support tools\"}", MODEL_ERROR_INVALID,
     API_NEVER, "--jinja"},
    {500, "{\"error\":{\"message\":\"tools param requires --jinja flag\"}}", MODEL_ERROR_INVALID, API_NEVER,
     "--jinja"},
    {500, "{\"error\":{\"message\":\"image input is not supported - hint: mmproj\"}}", MODEL_ERROR_INVALID,
     API_NEVER, "sees = false"},
    {422, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\",\"type\":\"missing\"}]}",
     MODEL_ERROR_INVALID, API_NEVER,
     "refuses the question to the model gpt (it says 422, missing, field required)"},
    {400, "{\"error\":{\"message\":\"line\\nbreak \\u001b[31m " KEY "\"}}", MODEL_ERROR_INVALID, API_NEVER,
     "***"},
    {418, "[]", MODEL_ERROR_INVALID, API_NEVER, "status 418"},
    {501, "", MODEL_ERROR_INVALID, API_NEVER, "no such API"},
    /* Within a stream there is no status. */
    {0, "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}", MODEL_ERROR_UNAVAILABLE,
     API_ALWAYS, "overloaded"},
    {0, "{\"error\":{\"type\":\"authentication_error\",\"message\":\"x\"}}", MODEL_ERROR_KEY, API_NEVER,
     "refuses the key"},
    {0, "{\"error\":{\"code\":\"rate_limit_exceeded\"}}", MODEL_ERROR_RATE, API_ALWAYS, "no more requests"},
    {0, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"x\"}}", MODEL_ERROR_INVALID, API_NEVER,
     "refuses the question"},
    {0, "{\"error\":\"the runner has crashed\"}", MODEL_ERROR_UNAVAILABLE, API_ALWAYS,
     "failed while it answered"},
};

static guint
refuse (const struct api_server *server, long status, const char *body, GError **error)
{
  if (status > 0) {
    struct http_response response = {
        .end = HTTP_ARRIVED, .status = status, .body = g_string_new (body), .reason = "No error"};
    guint again = api_error_of_response (server, &response, error);
    http_response_clear (&response);
    return again;
  }
  json_t *object = json_loads (body, 0, NULL);
  guint again = api_error_of_answer (server, RESPONSE_ERROR, json_object_get (object, "error"), error);
  json_decref (object);
  return again;
}

/* One line that is neither long nor anybody's key. */
static void
check_sentence (const char *text)
{
  g_assert_cmpuint (strlen (text), <, 700);
  g_assert_null (strstr (text, "secr"));
  g_assert_null (strchr (text, '{'));
  g_assert_true (g_utf8_validate (text, -1, NULL));
  for (const char *at = text; *at; at++)
    g_assert_true ((guchar)*at >= 0x20 && *at != 0x7f);
}

static void
test_refusals (void)
{
  struct model_settings settings = {.name = (char *)"gpt", .model = (char *)"id-of-it", .key = (char *)KEY};
  const struct api_server server = {&settings, "host:1"};
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++) {
    g_autoptr (GError) error = NULL;
    guint again = refuse (&server, refusals[i].status, refusals[i].body, &error);
    g_test_message ("%ld %s: %s", refusals[i].status, refusals[i].body, error->message);
    g_assert_error (error, MODEL_ERROR, (int)refusals[i].code);
    g_assert_cmpuint (again, ==, refusals[i].again);
    g_assert_nonnull (strstr (error->message, refusals[i].told));
    check_sentence (error->message);
  }
}

static void
test_without_a_key (void)
{
  struct model_settings settings = {.name = (char *)"gpt", .model = (char *)"m"};
  const struct api_server server = {&settings, "host:1"};
  g_autoptr (GError) error = NULL;
  refuse (&server, 401, "", &error);
  g_assert_error (error, MODEL_ERROR, MODEL_ERROR_KEY);
  g_assert_nonnull (strstr (error->message, "host:1 wants a key, and the model gpt has none"));
}

/* However long, deep or wild what a server says is. */
static void
test_wild (void)
{
  struct model_settings settings = {.name = (char *)"gpt", .model = (char *)"m", .key = (char *)KEY};
  const struct api_server server = {&settings, "host:1"};
  GString *deep = g_string_new (NULL), *large = g_string_new ("{\"error\":{\"message\":\"");
  for (int i = 0; i < 1000; i++)
    g_string_append (deep, "[{\"error\":");
  for (int i = 0; i < 5000; i++)
    g_string_append (large, "\xc3\xa9" KEY);
  g_string_append (large, "\"}}");
  const char *const bodies[] = {
      deep->str, large->str, "\xff\xfe\x1b]0;x\x07", "{\"error\":{\"message\":[[[{}]]]}}", "null", "{"};
  for (gsize i = 0; i < G_N_ELEMENTS (bodies); i++) {
    g_autoptr (GError) error = NULL;
    refuse (&server, 400, bodies[i], &error);
    g_assert_error (error, MODEL_ERROR, MODEL_ERROR_INVALID);
    check_sentence (error->message);
  }
  g_string_free (deep, TRUE);
  g_string_free (large, TRUE);
}

static const struct {
  enum http_end end;
  long status;
  enum model_error code;
  guint again;
  const char *told;
} ends[] = {
    {HTTP_UNREACHABLE, 0, MODEL_ERROR_UNAVAILABLE, API_SELDOM, "cannot be reached"},
    {HTTP_UNTRUSTED, 0, MODEL_ERROR_UNAVAILABLE, API_NEVER, "ca_file"},
    {HTTP_BROKEN, 0, MODEL_ERROR_UNAVAILABLE, API_ALWAYS, "broke off"},
    {HTTP_BROKEN, 200, MODEL_ERROR_CUT, API_ALWAYS, "the answer of host:1 broke off"},
    {HTTP_BROKEN, 500, MODEL_ERROR_UNAVAILABLE, API_ALWAYS, "fails"},
    {HTTP_IDLE, 200, MODEL_ERROR_TIMEOUT, API_ALWAYS, "said nothing for 2 s"},
    {HTTP_LATE, 200, MODEL_ERROR_TIMEOUT, API_NEVER, "did not answer in time (3 s)"},
    {HTTP_LATE, 429, MODEL_ERROR_TIMEOUT, API_NEVER, "did not answer in time (3 s)"},
    {HTTP_CANCELLED, 0, MODEL_ERROR_CANCELLED, API_NEVER, "cancelled"},
    {HTTP_CANCELLED, 500, MODEL_ERROR_CANCELLED, API_NEVER, "cancelled"},
    {HTTP_LONG, 200, MODEL_ERROR_MALFORMED, API_NEVER, "longer than 1 KiB"},
    {HTTP_PACKED, 200, MODEL_ERROR_MALFORMED, API_NEVER, "compressed"},
    {HTTP_UNFIT, 0, MODEL_ERROR_INVALID, API_NEVER, "look at base_url"},
    {HTTP_ARRIVED, 302, MODEL_ERROR_INVALID, API_NEVER,
     "put the right base_url into the model gpt (http://u:***@other/)"},
};

static void
test_ends (void)
{
  struct model_settings settings = {.name = (char *)"gpt",
                                    .model = (char *)"m",
                                    .key = (char *)KEY,
                                    .idle_ms = 2000,
                                    .timeout_ms = 3000,
                                    .answer_bytes = 1024};
  const struct api_server server = {&settings, "host:1"};
  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++) {
    struct http_response response = {.end = ends[i].end,
                                     .status = ends[i].status,
                                     .body = g_string_new (NULL),
                                     .reason = "Failed",
                                     .location =
                                         ends[i].status == 302 ? g_strdup ("http://u:secret@other/") : NULL};
    g_autoptr (GError) error = NULL;
    g_assert_cmpuint (api_error_of_response (&server, &response, &error), ==, ends[i].again);
    g_test_message ("%s", error->message);
    g_assert_error (error, MODEL_ERROR, (int)ends[i].code);
    g_assert_nonnull (strstr (error->message, ends[i].told));
    check_sentence (error->message);
    http_response_clear (&response);
  }
}

/* ---- what need not be asked for ---- */

static const struct {
  enum dialect dialect;
  const char *body;
  guint quirk;
} quirks[] = {
    {DIALECT_CHAT,
     "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' "
     "instead.\"}}",
     QUIRK_MAX_COMPLETION},
    {DIALECT_CHAT, "{\"detail\":[{\"msg\":\"Extra inputs are not permitted: stream_options\"}]}",
     QUIRK_NO_USAGE},
    {DIALECT_RESPONSES, "{\"error\":{\"message\":\"Encrypted content is not supported with this model.\"}}",
     QUIRK_NO_ENCRYPTED},
    {DIALECT_RESPONSES, "{\"error\":{\"message\":\"Output of tool call should be 'Input text'\"}}",
     QUIRK_TEXT_RESULTS},
    {DIALECT_MESSAGES, "{\"error\":{\"message\":\"cache_control: Extra inputs are not permitted\"}}",
     QUIRK_NO_CACHE},
    {DIALECT_MESSAGES, "{\"error\":{\"message\":\"Encrypted content is not supported with this model.\"}}",
     0},
    {DIALECT_CHAT, "no", 0},
};

static void
test_quirks (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (quirks); i++) {
    g_autofree char *words = api_error_words (quirks[i].body, strlen (quirks[i].body));
    guint bits = 0;
    g_assert_cmpint (api_quirks_learn (quirks[i].dialect, words, &bits), ==, quirks[i].quirk != 0);
    g_assert_cmpuint (bits, ==, quirks[i].quirk);
    g_assert_false (api_quirks_learn (quirks[i].dialect, words, &bits));
  }
}

UNIT_SUITE (models_errors)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/errors/refusals", test_refusals);
  g_test_add_func ("/models/errors/no-key", test_without_a_key);
  g_test_add_func ("/models/errors/wild", test_wild);
  g_test_add_func ("/models/errors/ends", test_ends);
  g_test_add_func ("/models/errors/quirks", test_quirks);
  return g_test_run ();
}
