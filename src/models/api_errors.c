/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: the first row that fits says which error it is and what people are told. What the server says comes
 * after that, on one line and cut, without the key; but not where it refuses the key, since some servers show
 * parts of it. */
#include "models/api_errors.h"

#include <string.h>

#include "common/size.h"
#include "common/text.h"
#include "models/dialect.h"
#include "models/json_repair.h"
#include "models/mask.h"

/* Of a server's own words. */
#define SHOWN_BYTES 300

struct advice {
  enum model_error code;
  guint again;
  gboolean is_mute; /* the server's own words are left out */
  const char *text; /* {host}, {name} and {model} stand for themselves */
};

/* ---- what servers say ---- */

/* Words between bars, in small letters, one of which must occur; NULL: any. Statuses from and to; 0 and 0:
 * any. */
static const struct rule {
  long from, to;
  const char *words;
  struct advice advice;
} rules[] = {
    {0,
     0,
     "context_length_exceeded|exceed_context_size|context length|context window|prompt is too long|input is "
     "too "
     "long|maximum context|available context size",
     {MODEL_ERROR_CONTEXT, API_NEVER, FALSE,
      "the conversation is longer than the model {name} can read: begin a new one, or show it less"}},
    {0,
     0,
     "insufficient_quota|billing|credit balance|exceeded your current quota",
     {MODEL_ERROR_RATE, API_NEVER, FALSE,
      "there is nothing left to pay {host} with: look at the account of the key of the model {name}"}},
    {402,
     402,
     NULL,
     {MODEL_ERROR_RATE, API_NEVER, FALSE,
      "there is nothing left to pay {host} with: look at the account of the key of the model {name}"}},
    {401,
     401,
     NULL,
     {MODEL_ERROR_KEY, API_NEVER, TRUE,
      "{host} refuses the key of the model {name}: put a good one where `adder model show {name}` says it is "
      "read"}},
    {0,
     0,
     "authentication_error|invalid_api_key|invalid x-api-key|incorrect api key|api key not valid",
     {MODEL_ERROR_KEY, API_NEVER, TRUE,
      "{host} refuses the key of the model {name}: put a good one where `adder model show {name}` says it is "
      "read"}},
    {403,
     403,
     NULL,
     {MODEL_ERROR_KEY, API_NEVER, TRUE,
      "{host} does not let the key of the model {name} use {model}: use another key, or another model"}},
    {413,
     413,
     NULL,
     {MODEL_ERROR_CONTEXT, API_NEVER, FALSE,
      "the conversation has more bytes than {host} takes: begin a new one, or show it fewer pictures"}},
    {0,
     0,
     "request_too_large",
     {MODEL_ERROR_CONTEXT, API_NEVER, FALSE,
      "the conversation has more bytes than {host} takes: begin a new one, or show it fewer pictures"}},
    {0,
     0,
     "model_not_found|not a valid model|invalid model|no such model|unknown model",
     {MODEL_ERROR_UNKNOWN, API_NEVER, FALSE,
      "{host} has no model {model}: give the model {name} another id"}},
    {404,
     404,
     "model",
     {MODEL_ERROR_UNKNOWN, API_NEVER, FALSE,
      "{host} has no model {model}: give the model {name} another id"}},
    {404,
     405,
     NULL,
     {MODEL_ERROR_UNKNOWN, API_NEVER, FALSE,
      "{host} has no such API: look at the base_url and the dialect of the model {name}"}},
    {0,
     0,
     "content_filter|content_policy|content management policy|content policy",
     {MODEL_ERROR_INVALID, API_NEVER, FALSE,
      "the rules of {host} refuse the question: ask it in other words"}},
    {400,
     501,
     "does not support tools|support tool|--jinja|enable-auto-tool-choice|tool use",
     {MODEL_ERROR_INVALID, API_NEVER, FALSE,
      "{model} calls no tools there: take another model, or start its server so that it does (llama-server: "
      "--jinja; "
      "vLLM: --enable-auto-tool-choice)"}},
    {400,
     501,
     "image input|support image|multimodal|mmproj",
     {MODEL_ERROR_INVALID, API_NEVER, FALSE,
      "{model} sees no pictures there: set sees = false for the model {name}"}},
    {529,
     529,
     NULL,
     {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE, "{host} is overloaded: try again in a while"}},
    {0,
     0,
     "overloaded",
     {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE, "{host} is overloaded: try again in a while"}},
    {429,
     429,
     NULL,
     {MODEL_ERROR_RATE, API_ALWAYS, FALSE,
      "{host} accepts no more requests for now: send fewer, or try again later"}},
    {0,
     0,
     "rate_limit",
     {MODEL_ERROR_RATE, API_ALWAYS, FALSE,
      "{host} accepts no more requests for now: send fewer, or try again later"}},
    {408,
     409,
     NULL,
     {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE, "{host} could not answer in time: try again in a while"}},
    {425,
     425,
     NULL,
     {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE, "{host} could not answer in time: try again in a while"}},
    {501,
     501,
     NULL,
     {MODEL_ERROR_INVALID, API_NEVER, FALSE,
      "{host} has no such API: look at the base_url and the dialect of the model {name}"}},
    {500, 599, NULL, {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE, "{host} fails: try again in a while"}},
    {0,
     0,
     "invalid_request_error",
     {MODEL_ERROR_INVALID, API_NEVER, FALSE, "{host} refuses the question to the model {name}"}},
    {400,
     499,
     NULL,
     {MODEL_ERROR_INVALID, API_NEVER, FALSE, "{host} refuses the question to the model {name}"}},
};

/* An error in an answer that began well. */
static const struct advice failed_within = {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE,
                                            "{host} failed while it answered: try again in a while"};

static gboolean
api_errors_has_word (const char *text, const char *words)
{
  g_auto (GStrv) each = g_strsplit (words, "|", -1);
  for (gsize i = 0; each[i]; i++)
    if (strstr (text, each[i]))
      return TRUE;
  return FALSE;
}

static const struct advice *
find_advice (long status, const char *words)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++) {
    const struct rule *rule = &rules[i];
    gboolean fits = rule->from == 0 || (status >= rule->from && status <= rule->to);
    if (fits && (!rule->words || api_errors_has_word (words, rule->words)))
      return &rule->advice;
  }
  return &failed_within;
}

/* ---- their words ---- */

/* The texts in an error, whichever shape it has: each is appended to TEXT. */
static void
api_errors_gather (GString *text, const json_t *value)
{
  static const char *const members[] = {"code", "type", "status", "message", "msg", "detail", "error"};
  gsize index;
  json_t *item;
  if (json_is_string (value) && json_string_length (value) > 0)
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", json_string_value (value));
  json_array_foreach (value, index, item)
  {
    if (text->len < SHOWN_BYTES)
      api_errors_gather (text, item);
  }
  for (gsize i = 0; json_is_object (value) && i < G_N_ELEMENTS (members) && text->len < 16 * SHOWN_BYTES; i++)
    api_errors_gather (text, json_object_get (value, members[i]));
}

static char *
api_errors_words_of (const json_t *error)
{
  GString *text = g_string_new (NULL);
  api_errors_gather (text, error);
  char *words = g_ascii_strdown (text->str, (gssize)text->len);
  g_string_free (text, TRUE);
  return words;
}

/* What people are shown of it: its message, where it has one. */
static char *
api_errors_message_of (const json_t *error)
{
  const json_t *message = json_object_get (error, "message");
  GString *text = g_string_new (NULL);
  api_errors_gather (text, message ? message : error);
  return g_string_free (text, FALSE);
}

/* The error in the body of a refusal; the body itself where it is plain text. The caller's,
 * never NULL. */
static json_t *
error_of_body (const char *body, gsize length)
{
  g_autofree char *text = g_strstrip (g_utf8_make_valid (body, (gssize)length));
  json_t *value =
      text[0] == '{' || text[0] == '[' || text[0] == '"' ? json_repair (text, strlen (text)) : NULL;
  if (!value)
    return json_string (strchr ("<{[", text[0]) ? "" : text);
  const json_t *first = json_is_array (value) ? json_array_get (value, 0) : value;
  const json_t *error = dialect_error (first);
  json_t *found = json_incref ((json_t *)(error ? error : first));
  json_decref (value);
  return found ? found : json_string ("");
}

char *
api_error_words (const char *body, gsize length)
{
  json_t *error = error_of_body (body, length);
  char *words = api_errors_words_of (error);
  json_decref (error);
  return words;
}

/* ---- sentences ---- */

static void
api_errors_replace (GString *text, const char *what, const char *with)
{
  g_auto (GStrv) pieces = g_strsplit (text->str, what, -1);
  g_autofree char *joined = g_strjoinv (with, pieces);
  g_string_assign (text, joined);
}

/* TEXT for people: without the key, on one line, cut. */
static char *
make_fit (const struct api_server *server, const char *text)
{
  g_autofree char *masked = mask_parts (server->settings->key, text);
  return text_one_line (masked, SHOWN_BYTES);
}

static guint
api_errors_tell (const struct api_server *server, const struct advice *advice, const char *words,
                 GError **error)
{
  const struct model_settings *settings = server->settings;
  g_autofree char *model = make_fit (server, settings->model), *shown = make_fit (server, words ? words : "");
  GString *text = g_string_new (advice->text);
  api_errors_replace (text, "{host}", server->host);
  api_errors_replace (text, "{name}", settings->name);
  api_errors_replace (text, "{model}", model);
  if (shown[0] && !advice->is_mute)
    g_string_append_printf (text, " (%s)", shown);
  g_set_error_literal (error, MODEL_ERROR, (int)advice->code, text->str);
  g_string_free (text, TRUE);
  return advice->again;
}

static guint
tell_refusal (const struct api_server *server, long status, const json_t *refusal, GError **error)
{
  static const struct advice no_key = {MODEL_ERROR_KEY, API_NEVER, TRUE,
                                       "{host} wants a key, and the model {name} has none: give it one with "
                                       "--key-env, --key-file or --key-stdin of "
                                       "`adder model new`"};
  g_autofree char *words = api_errors_words_of (refusal), *message = api_errors_message_of (refusal);
  const struct advice *advice = find_advice (status, words);
  if (advice->code == MODEL_ERROR_KEY && !server->settings->key)
    advice = &no_key;
  g_autofree char *said = NULL;
  if (message[0] && status > 0)
    said = g_strdup_printf ("it says %ld, %s", status, message);
  else if (message[0])
    said = g_strdup_printf ("it says: %s", message);
  else if (status > 0)
    said = g_strdup_printf ("status %ld", status);
  return api_errors_tell (server, advice, said, error);
}

static guint
tell_redirect (const struct api_server *server, const struct http_response *response, GError **error)
{
  static const struct advice advice = {
      MODEL_ERROR_INVALID, API_NEVER, FALSE,
      "{host} sends elsewhere, where the key is not taken: put the right base_url into the model {name}"};
  g_autofree char *place = response->location ? text_without_password (response->location) : NULL;
  return api_errors_tell (server, &advice, place, error);
}

/* ---- no answer ---- */

static const struct {
  enum http_end end;
  struct advice advice;
} ends[] = {
    {HTTP_UNREACHABLE,
     {MODEL_ERROR_UNAVAILABLE, API_SELDOM, FALSE,
      "{host} cannot be reached: does the server of the model {name} run, and is its base_url right?"}},
    {HTTP_UNTRUSTED,
     {MODEL_ERROR_UNAVAILABLE, API_NEVER, FALSE,
      "{host} does not show that it is who it says: if its certificate is your own, name its file as ca_file "
      "of the "
      "model {name}"}},
    {HTTP_BROKEN,
     {MODEL_ERROR_UNAVAILABLE, API_ALWAYS, FALSE,
      "the connection to {host} broke off: try again in a while"}},
    {HTTP_CANCELLED,
     {MODEL_ERROR_CANCELLED, API_NEVER, TRUE, "the question to the model {name} was cancelled"}},
    {HTTP_PACKED,
     {MODEL_ERROR_MALFORMED, API_NEVER, TRUE,
      "the answer of {host} is compressed, which was not requested: look for a proxy in between"}},
    {HTTP_UNFIT,
     {MODEL_ERROR_INVALID, API_NEVER, FALSE,
      "{host} cannot be asked: look at base_url, ca_file and proxy of the model {name}"}},
};

static const struct advice cut = {MODEL_ERROR_CUT, API_ALWAYS, FALSE,
                                  "the answer of {host} broke off: ask again, or see what its server says"};

static const struct advice idle = {
    MODEL_ERROR_TIMEOUT, API_ALWAYS, TRUE,
    "{host} said nothing for {limit} in the midst of its answer: try again, or "
    "raise idle_ms of the model {name}"};
static const struct advice late = {
    MODEL_ERROR_TIMEOUT, API_NEVER, TRUE,
    "the model {name} did not answer in time ({limit}): ask for less, or raise its "
    "timeout_ms"};
static const struct advice too_long = {MODEL_ERROR_MALFORMED, API_NEVER, TRUE,
                                       "the answer of {host} is longer than {limit}: ask for less, or raise "
                                       "answer_bytes of the model {name}"};

static guint
tell_limit (const struct api_server *server, const struct advice *advice, char *limit, GError **error)
{
  g_autofree char *shown = limit;
  GString *text = g_string_new (advice->text);
  api_errors_replace (text, "{limit}", shown);
  struct advice whole = {advice->code, advice->again, advice->is_mute, text->str};
  guint again = api_errors_tell (server, &whole, NULL, error);
  g_string_free (text, TRUE);
  return again;
}

guint
api_error_of_response (const struct api_server *server, const struct http_response *response, GError **error)
{
  /* Of connecting: no other speed is set. */
  enum http_end end = response->end == HTTP_SLOW ? HTTP_UNREACHABLE : response->end;
  if (end == HTTP_IDLE)
    return tell_limit (server, &idle, duration_format (server->settings->idle_ms), error);
  if (end == HTTP_LATE)
    return tell_limit (server, &late, duration_format (server->settings->timeout_ms), error);
  if (end == HTTP_LONG)
    return tell_limit (server, &too_long, size_format (server->settings->answer_bytes), error);
  if (response->status >= 300 && response->status <= 399)
    return tell_redirect (server, response, error);
  if (response->status >= 400 && end != HTTP_CANCELLED) {
    json_t *refusal = error_of_body (response->body->str, response->body->len);
    guint again = tell_refusal (server, response->status, refusal, error);
    json_decref (refusal);
    return again;
  }
  if (end == HTTP_BROKEN && http_response_is_yes (response))
    return api_errors_tell (server, &cut, response->reason, error);
  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    if (ends[i].end == end)
      return api_errors_tell (server, &ends[i].advice, response->reason, error);
  return tell_refusal (server, response->status, NULL, error);
}

guint
api_error_of_answer (const struct api_server *server, enum response_end end, const json_t *detail,
                     GError **error)
{
  static const struct advice malformed = {
      MODEL_ERROR_MALFORMED, API_NEVER, FALSE,
      "{host} does not answer like this API: check the base_url and the dialect of the model {name}"};
  if (end == RESPONSE_ERROR)
    return tell_refusal (server, 0, detail, error);
  if (end == RESPONSE_CUT)
    return api_errors_tell (server, &cut, NULL, error);
  return api_errors_tell (server, &malformed, json_string_value (detail), error);
}
