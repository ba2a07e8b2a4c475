/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a model behind an API what tests want to know:
 *
 *   model-asker KEY=VALUE...     settings of the model; "key" is the key itself; "cancel_fd" is a descriptor
 *
 * Each line of standard input is a question: {"instructions", "messages", "tools", "tool", "output_tokens",
 * "deadline_ms"}, of which all but messages may be left out. To each come lines {"saw": text or null}, and
 * then
 * {"answer": {...}} or {"error": {"code", "message"}}. All questions go by one connection, if the server lets
 * them. */
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "models/api.h"

static const char *const codes[] = {
    [MODEL_ERROR_INVALID] = "invalid",   [MODEL_ERROR_KEY] = "key",
    [MODEL_ERROR_UNKNOWN] = "unknown",   [MODEL_ERROR_CONTEXT] = "context",
    [MODEL_ERROR_RATE] = "rate",         [MODEL_ERROR_UNAVAILABLE] = "unavailable",
    [MODEL_ERROR_TIMEOUT] = "timeout",   [MODEL_ERROR_CANCELLED] = "cancelled",
    [MODEL_ERROR_CUT] = "cut",           [MODEL_ERROR_MALFORMED] = "malformed",
    [MODEL_ERROR_MISMATCH] = "mismatch",
};

static void
print (json_t *line)
{
  g_autofree char *text = json_to_text (line);
  printf ("%s\n", text);
  fflush (stdout);
  json_decref (line);
}

static void
print_error (const GError *error)
{
  const char *code = error->domain == MODEL_ERROR ? codes[error->code] : "foreign";
  print (json_pack ("{s:{s:s, s:s}}", "error", "code", code, "message", error->message));
}

static void
saw (gpointer data, const char *text, gsize length)
{
  (void)data;
  print (json_pack ("{s:o}", "saw", text ? json_stringn (text, length) : json_null ()));
}

static void
print_answer (const struct model_answer *answer)
{
  const struct model_usage *usage = &answer->usage;
  print (json_pack ("{s:{s:O, s:s, s:I, s:I, s:I, s:f, s:I, s:I}}", "answer", "message", answer->message,
                    "stop", model_stop_names[answer->stop], "input_tokens", (json_int_t)usage->input_tokens,
                    "cached_tokens", (json_int_t)usage->cached_tokens, "output_tokens",
                    (json_int_t)usage->output_tokens, "cost", usage->cost, "attempts",
                    (json_int_t)answer->attempts, "took_ms", (json_int_t)answer->took_ms));
}

static void
ask (struct provider *provider, const json_t *line, int cancel_fd)
{
  json_int_t deadline_ms = json_integer_value (json_object_get (line, "deadline_ms"));
  struct model_question question = {
      .instructions = json_string_value (json_object_get (line, "instructions")),
      .messages = json_object_get (line, "messages"),
      .tools = json_object_get (line, "tools"),
      .tool = json_string_value (json_object_get (line, "tool")),
      .output_tokens = (guint64)json_integer_value (json_object_get (line, "output_tokens")),
      .deadline_us = deadline_ms ? g_get_monotonic_time () + deadline_ms * 1000 : 0,
      .cancel_fd = cancel_fd,
      .saw = saw,
  };
  struct model_answer answer = {0};
  g_autoptr (GError) error = NULL;
  if (!provider->class->ask (provider, &question, &answer, &error)) {
    print_error (error);
    return;
  }
  print_answer (&answer);
  model_answer_clear (&answer);
}

/* The settings in ARGUMENTS; NULL: one of them is wrong, and that was printed. */
static struct model_settings *
read_settings (char **arguments, int *ret_cancel_fd)
{
  struct model_settings *settings = model_settings_new ("tested");
  g_autoptr (GError) error = NULL;
  for (; *arguments && !error; arguments++) {
    g_auto (GStrv) pair = g_strsplit (*arguments, "=", 2);
    if (strcmp (pair[0], "key") == 0)
      settings->key = g_strdup (pair[1]);
    else if (strcmp (pair[0], "cancel_fd") == 0)
      *ret_cancel_fd = (int)g_ascii_strtoll (pair[1], NULL, 10);
    else
      (void)model_settings_set (settings, pair[0], pair[1], &error);
  }
  if (!error)
    return settings;
  print_error (error);
  model_settings_free (settings);
  return NULL;
}

int
main (int count, char **arguments)
{
  int cancel_fd = -1;
  (void)count;
  g_autoptr (GError) error = NULL;
  struct model_settings *settings = read_settings (arguments + 1, &cancel_fd);
  struct provider *provider = settings ? api_new (settings, &error) : NULL;
  if (error)
    print_error (error);
  char *text = NULL;
  size_t room = 0;
  while (provider && getline (&text, &room, stdin) > 0) {
    g_autoptr (json_t) line = json_parse_object (text, strlen (text), "the question", &error);
    if (!line) {
      print_error (error);
      break;
    }
    ask (provider, line, cancel_fd);
  }
  free (text); /* getline's */
  if (provider)
    provider->class->free (provider);
  return 0;
}
