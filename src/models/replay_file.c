/* SPDX-License-Identifier: Apache-2.0 */
#include "models/replay_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/text.h"
#include "models/replay_match.h"

#define FORMAT_VERSION 1

static void
exchange_free (gpointer data)
{
  struct replay_exchange *exchange = data;
  json_decref (exchange->ask);
  json_decref (exchange->message);
  g_free (exchange->failure);
  g_free (exchange);
}
typedef struct replay_exchange replay_exchange_auto; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (replay_exchange_auto, exchange_free)

void
replay_file_free (struct replay_file *file)
{
  if (!file)
    return;
  g_free (file->path);
  g_ptr_array_unref (file->exchanges);
  g_free (file);
}

static gboolean
replay_file_wrong (GError **error, const char *what)
{
  g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID, what);
  return FALSE;
}

/* ---- answers ---- */

static gboolean
replay_file_is_part (json_t *part)
{
  const char *type = json_member_text (part, "type");
  if (strcmp (type, "text") == 0)
    return json_is_string (json_object_get (part, "text"));
  if (strcmp (type, "opaque") == 0)
    return json_is_string (json_object_get (part, "dialect"));
  json_t *arguments = json_object_get (part, "arguments");
  return strcmp (type, "call") == 0 && json_is_string (json_object_get (part, "name")) &&
         json_is_string (json_object_get (part, "id")) &&
         (json_is_object (arguments) || json_is_string (json_object_get (part, "raw")));
}

/* What a person left out of a call that they wrote. */
static void
complete_call (json_t *call, guint line, gsize number)
{
  json_object_set_new (call, "type", json_string ("call"));
  if (!json_object_get (call, "id"))
    json_object_set_new (call, "id", json_sprintf ("call_%u_%" G_GSIZE_FORMAT, line, number));
  if (!json_object_get (call, "arguments"))
    json_object_set_new (call, "arguments", json_null ());
}

/* {"text", "calls"}, as people write it, as a message. */
static json_t *
short_message (const json_t *answer, guint line)
{
  json_t *content = json_array ();
  json_t *text = json_object_get (answer, "text");
  if (json_is_string (text))
    json_array_append_new (content, message_text (json_string_value (text)));
  gsize index;
  json_t *call;
  json_array_foreach (json_object_get (answer, "calls"), index, call)
  {
    complete_call (call, line, index + 1);
    json_array_append (content, call);
  }
  return json_pack ("{s:s, s:o}", "role", "assistant", "content", content);
}

static gboolean
set_message (struct replay_exchange *exchange, const json_t *answer, GError **error)
{
  json_t *whole = json_object_get (answer, "message");
  exchange->message = whole ? json_incref (whole) : short_message (answer, exchange->line);
  json_t *content = json_object_get (exchange->message, "content"), *part;
  gsize index;
  if (strcmp (json_member_text (exchange->message, "role"), "assistant") != 0 || !json_is_array (content))
    return replay_file_wrong (error, "its answer's message must be an assistant's with a list as content");
  json_array_foreach (content, index, part) if (!replay_file_is_part (part)) return replay_file_wrong (
      error, "its answer has a part that is neither a text, nor a call with name, id and "
             "arguments, nor opaque");
  return json_array_size (content) > 0 || replay_file_wrong (error, "its answer has neither text nor calls");
}

/* The number of WORD in NAMES, which end with NULL, or -1. */
static int
replay_file_index_of (const char *const *names, const char *word)
{
  for (int i = 0; names[i]; i++)
    if (strcmp (names[i], word) == 0)
      return i;
  return -1;
}

static gboolean
set_stop (struct replay_exchange *exchange, const json_t *answer, GError **error)
{
  g_autoptr (json_t) calls = message_calls (exchange->message);
  exchange->stop = json_array_size (calls) > 0 ? MODEL_STOP_CALLS : MODEL_STOP_END;
  const json_t *stop = json_object_get (answer, "stop");
  if (!stop)
    return TRUE;
  int found = replay_file_index_of (model_stop_names, json_is_string (stop) ? json_string_value (stop) : "");
  if (found < 0)
    return replay_file_wrong (error, "the \"stop\" of its answer must be end, calls, length or refusal");
  exchange->stop = (enum model_stop)found;
  return TRUE;
}

static const struct {
  const char *name;
  gsize offset;
} usage_members[] = {
    {"input_tokens", offsetof (struct model_usage, input_tokens)},
    {"cached_tokens", offsetof (struct model_usage, cached_tokens)},
    {"output_tokens", offsetof (struct model_usage, output_tokens)},
};

static gboolean
set_usage (struct replay_exchange *exchange, const json_t *answer, GError **error)
{
  const json_t *usage = json_object_get (answer, "usage");
  exchange->usage = (struct model_usage){-1, -1, -1, -1};
  if (!usage || json_is_null (usage))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (usage_members); i++) {
    const json_t *value = json_object_get (usage, usage_members[i].name);
    if (!value || json_is_null (value))
      continue;
    if (!json_is_integer (value) || json_integer_value (value) < 0)
      return replay_file_wrong (error, "the tokens of its answer's \"usage\" must be numbers");
    *(gint64 *)(void *)((char *)&exchange->usage + usage_members[i].offset) =
        MIN (json_integer_value (value), MODEL_TOKENS_MAX);
  }
  const json_t *cost = json_object_get (usage, "cost");
  if (json_is_number (cost) && json_number_value (cost) >= 0)
    exchange->usage.cost = MIN (json_number_value (cost), MODEL_COST_MAX);
  return TRUE;
}

static gboolean
replay_file_set_answer (struct replay_exchange *exchange, const json_t *answer, GError **error)
{
  return set_message (exchange, answer, error) && set_stop (exchange, answer, error) &&
         set_usage (exchange, answer, error);
}

static gboolean
replay_file_set_failure (struct replay_exchange *exchange, const json_t *failure, GError **error)
{
  int kind = replay_file_index_of (model_error_names, json_member_text (failure, "kind"));
  if (kind < 0) {
    g_autofree char *known = g_strjoinv (", ", (GStrv)(guintptr)model_error_names);
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "the \"kind\" of its error must be one of: %s",
                 known);
    return FALSE;
  }
  exchange->failure_code = (enum model_error)kind;
  exchange->failure = g_strdup (json_member_text (failure, "message"));
  return TRUE;
}

/* ---- lines ---- */

static const char *const line_members[] = {"ask", "answer", "error", "wait_ms", "took_ms", NULL};

static gboolean
replay_file_check_members (const json_t *value, GError **error)
{
  const char *name;
  json_t *member;
  json_object_foreach ((json_t *)(guintptr)value, name, member) if (!g_strv_contains (line_members, name))
  {
    g_autofree char *shown = text_one_line (name, 40);
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID,
                 "\"%s\" is not known: a line may have ask, answer or error, wait_ms and took_ms", shown);
    return FALSE;
  }
  return TRUE;
}

static gboolean
set_wait (struct replay_exchange *exchange, const json_t *wait, GError **error)
{
  if (!wait)
    return TRUE;
  if (!json_is_integer (wait) || json_integer_value (wait) < 0 || json_integer_value (wait) > REPLAY_WAIT_MAX)
    return replay_file_wrong (error, "its \"wait_ms\" must be a number up to 600000");
  exchange->wait_ms = json_integer_value (wait);
  return TRUE;
}

static gboolean
add_exchange (struct replay_file *file, guint line, const json_t *value, GError **error)
{
  g_autoptr (replay_exchange_auto) exchange = g_new0 (struct replay_exchange, 1);
  exchange->line = line;
  exchange->ask = json_incref (json_object_get (value, "ask"));
  const json_t *answer = json_object_get (value, "answer"), *failure = json_object_get (value, "error");
  if (!json_is_object (answer) == !json_is_object (failure))
    return replay_file_wrong (error, "it must have an \"answer\" or an \"error\"");
  if (!replay_file_check_members (value, error) || !replay_ask_check (exchange->ask, error) ||
      !set_wait (exchange, json_object_get (value, "wait_ms"), error) ||
      !(answer ? replay_file_set_answer (exchange, answer, error)
               : replay_file_set_failure (exchange, failure, error)))
    return FALSE;
  g_ptr_array_add (file->exchanges, g_steal_pointer (&exchange));
  return TRUE;
}

/* Later heads are of recordings that were put after the first one, which stands for all. */
static gboolean
replay_file_read_head (struct replay_file *file, const json_t *head, GError **error)
{
  if (json_integer_value (json_object_get (head, "version")) != FORMAT_VERSION)
    return replay_file_wrong (error, "its \"replay\" has a version that this Adder does not know");
  if (file->exchanges->len > 0)
    return TRUE;
  file->sees = json_is_true (json_object_get (head, "sees"));
  const json_t *context = json_object_get (head, "context_tokens");
  file->context_tokens = json_is_integer (context) ? json_integer_value (context) : -1;
  return TRUE;
}

static gboolean
replay_file_read_line (struct replay_file *file, guint number, char *line, GError **error)
{
  g_strstrip (line);
  if (line[0] == '\0' || line[0] == '#')
    return TRUE;
  g_autoptr (json_t) value = json_parse_object (line, strlen (line), "it", error);
  if (!value)
    return FALSE;
  const json_t *head = json_object_get (value, "replay");
  return head ? replay_file_read_head (file, head, error) : add_exchange (file, number, value, error);
}

static gboolean
replay_file_read_lines (struct replay_file *file, char *text, GError **error)
{
  guint number = 0;
  for (char *line = text, *next; line; line = next) {
    next = strchr (line, '\n');
    if (next)
      *next++ = '\0';
    g_autoptr (GError) problem = NULL;
    gboolean many = ++number > REPLAY_LINES_MAX;
    if (many || !replay_file_read_line (file, number, line, &problem)) {
      g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "line %u of the replay %s is wrong: %s", number,
                   file->path, many ? "a replay may have 10000 lines" : problem->message);
      return FALSE;
    }
  }
  if (file->exchanges->len == 0)
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "the replay %s has no answers", file->path);
  return file->exchanges->len > 0;
}

/* ---- the file ---- */

/* The caller's, with a zero byte after it. */
static char *
replay_file_read_text (const char *path, GError **error)
{
  struct stat status = {0};
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const char *why = NULL;
  if (fd < 0 || fstat (fd, &status) < 0)
    why = g_strerror (errno);
  else if (!S_ISREG (status.st_mode))
    why = "it is no regular file";
  else if (status.st_size > REPLAY_FILE_BYTES)
    why = "it has more than 64 MiB";
  g_autofree char *text = why ? NULL : g_malloc0 ((gsize)status.st_size + 1);
  int problem = text ? fd_read_all (fd, text, (gsize)status.st_size) : 0;
  if (problem < 0)
    why = g_strerror (-problem);
  else if (text && strlen (text) != (gsize)status.st_size)
    why = "there are zero bytes in it";
  if (!why)
    return g_steal_pointer (&text);
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "cannot read the replay %s: %s", path, why);
  return NULL;
}

struct replay_file *
replay_file_read (const char *path, GError **error)
{
  g_autofree char *text = replay_file_read_text (path, error);
  if (!text)
    return NULL;
  g_autoptr (replay_file_auto) file = g_new0 (struct replay_file, 1);
  file->path = g_strdup (path);
  file->context_tokens = -1;
  file->exchanges = g_ptr_array_new_with_free_func (exchange_free);
  return replay_file_read_lines (file, text, error) ? g_steal_pointer (&file) : NULL;
}

/* ---- writing ---- */

json_t *
replay_line_head (const struct model_facts *facts)
{
  json_t *context = facts->context_tokens < 0 ? json_null () : json_integer (facts->context_tokens);
  return json_pack ("{s:{s:i, s:s, s:s, s:b, s:o}}", "replay", "version", FORMAT_VERSION, "model",
                    facts->name, "provider", facts->provider, "sees", facts->sees, "context_tokens", context);
}

json_t *
replay_line_answer (const struct model_question *question, const struct model_answer *answer)
{
  return json_pack ("{s:o, s:{s:O, s:s, s:o}, s:I}", "ask", replay_ask (question), "answer", "message",
                    answer->message, "stop", model_stop_names[answer->stop], "usage",
                    model_usage_json (&answer->usage), "took_ms", (json_int_t)answer->took_ms);
}

json_t *
replay_line_failure (const struct model_question *question, const GError *failure)
{
  return json_pack ("{s:o, s:{s:s, s:o}}", "ask", replay_ask (question), "error", "kind",
                    model_error_names[failure->code], "message", json_text_or_null (failure->message));
}
