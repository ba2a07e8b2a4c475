/* SPDX-License-Identifier: Apache-2.0 */
/* What servers of models send. The first byte chooses the dialect, the second into how large pieces the rest
 * is cut: it must make no difference. */
#include <string.h>

#include "common/json.h"
#include "fuzz/fuzz.h"
#include "models/api_errors.h"
#include "models/api_quirks.h"
#include "models/json_repair.h"
#include "models/response_parser.h"
#include "models/written.h"

static void
see (gpointer data, const char *text, gsize length)
{
  FUZZ_REQUIRE (text);
  g_string_append_len (data, text, (gssize)length);
}

/* A message as message.h has it. */
static void
check_message (const json_t *message)
{
  static const char *const types[] = {"text", "call", "opaque"};
  gsize index;
  json_t *part;
  json_array_foreach (json_object_get (message, "content"), index, part)
  {
    gboolean known = FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
      known = known || strcmp (json_member_text (part, "type"), types[i]) == 0;
    FUZZ_REQUIRE (known);
    if (strcmp (json_member_text (part, "type"), "call") != 0)
      continue;
    FUZZ_REQUIRE (json_member_text (part, "id")[0]);
    FUZZ_REQUIRE (json_is_object (json_object_get (part, "arguments")) ||
                  json_is_string (json_object_get (part, "raw")));
  }
}

/* What came goes back with the next question, in each dialect. */
static void
check_echo (json_t *message)
{
  g_autoptr (json_t) messages = json_pack ("[O, {s:s, s:[]}]", message, "role", "user", "content");
  const struct model_question question = {.messages = messages};
  for (int dialect = DIALECT_CHAT; dialect <= DIALECT_MESSAGES; dialect++) {
    const struct dialect_question asked = {.question = &question, .model = "m"};
    g_autoptr (json_t) body = dialect_of ((enum dialect)dialect)->ask (&asked, NULL);
    FUZZ_REQUIRE (body);
    g_autofree char *text = json_to_text (body);
    g_autoptr (json_t) again = json_loads (text, 0, NULL);
    FUZZ_REQUIRE (again);
  }
}

static void
check_told (const json_t *error)
{
  struct model_settings settings = {.name = (char *)"n", .model = (char *)"m", .key = (char *)"key"};
  const struct api_server server = {&settings, "h"};
  g_autoptr (GError) told = NULL;
  (void)api_error_of_answer (&server, RESPONSE_ERROR, error, &told);
  FUZZ_REQUIRE (told && g_utf8_validate (told->message, -1, NULL) && !strpbrk (told->message, "\r\n\x1b"));
}

/* As text: all that came of it. The caller's. */
static char *
read_in_steps (enum dialect dialect, const char *bytes, gsize length, gsize step)
{
  GString *seen = g_string_new (NULL);
  g_autoptr (json_t) messages = json_array ();
  const struct model_question question = {.messages = messages, .saw = see, .saw_data = seen};
  struct response_parser *parser = response_parser_new (dialect, &question);
  struct model_answer answer = {0};
  for (gsize at = 0; at < length && response_parser_feed (parser, bytes + at, MIN (step, length - at));
       at += step)
    ;
  enum response_end end = response_parser_end (parser, &answer);
  FUZZ_REQUIRE ((end == RESPONSE_WHOLE) == (answer.message != NULL));
  FUZZ_REQUIRE (end == RESPONSE_WHOLE || end == RESPONSE_CUT || response_parser_error (parser));
  g_autofree char *message = answer.message ? json_to_text (answer.message) : NULL;
  if (answer.message) {
    check_message (answer.message);
    check_echo (answer.message);
  }
  if (end == RESPONSE_ERROR)
    check_told (response_parser_error (parser));
  char *all = g_strdup_printf ("%d %s %s", end, message ? message : "", seen->str);
  model_answer_clear (&answer);
  response_parser_free (parser);
  g_string_free (seen, TRUE);
  return all;
}

static void
check_refusal (enum dialect dialect, const char *bytes, gsize length)
{
  guint bits = 0;
  g_autofree char *words = api_error_words (bytes, length);
  (void)api_quirks_learn (dialect, words, &bits);
}

/* Whether TEXT was given up where a tool had to be called, since blanks went on without end. */
static gboolean
is_lost (const struct model_question *question, const char *text)
{
  g_autofree char *trimmed = g_strchomp (g_strdup (text));
  return question->tool && strlen (text) - strlen (trimmed) > WRITTEN_BLANKS_MAX;
}

/* Calls in a text: where nothing more of it counts, what comes then makes no difference. */
static void
check_written (enum dialect dialect, const char *bytes, gsize length)
{
  g_autofree char *text = g_utf8_make_valid (bytes, (gssize)length), *head = g_strndup (text, length / 2);
  g_autofree char *begun = g_utf8_make_valid (head, -1);
  g_autoptr (json_t) messages = json_array (), tools = json_pack ("[{s:s}, {s:s}]", "name", "f", "name", "g");
  const struct model_question question = {
      .messages = messages, .tools = tools, .tool = dialect == DIALECT_CHAT ? "f" : NULL};
  g_autoptr (json_t) all = json_pack ("{s:[o]}", "content", message_text (text));
  g_autoptr (json_t) part = json_pack ("{s:[o]}", "content", message_text (begun));
  g_autoptr (json_t) whole = written_message (&question, all);
  if (whole)
    check_message (whole);
  if (is_lost (&question, begun) || !g_str_has_prefix (text, begun) || strstr (text, "</think>") ||
      !written_is_over (&question, begun))
    return;
  g_autoptr (json_t) first = written_message (&question, part);
  FUZZ_REQUIRE (whole && first && json_equal (whole, first));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size < 2)
    return 0;
  enum dialect dialect = (enum dialect) (data[0] % 3);
  const char *bytes = (const char *)data + 2;
  gsize length = size - 2;
  g_autofree char *whole = read_in_steps (dialect, bytes, length, length + 1);
  g_autofree char *pieces = read_in_steps (dialect, bytes, length, data[1] + 1U);
  FUZZ_REQUIRE (strcmp (whole, pieces) == 0);
  check_refusal (dialect, bytes, length);
  check_written (dialect, bytes, length);
  g_autoptr (json_t) arguments = json_repair_arguments (bytes, length);
  FUZZ_REQUIRE (!arguments || json_is_object (arguments));
  return 0;
}
