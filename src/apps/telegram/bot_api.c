/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/telegram/bot_api.h"

#include <poll.h>
#include <string.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/http_client.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "common/url.h"

/* Not G_DEFINE_QUARK: common/error.c says why. */
GQuark
bot_api_error_quark (void)
{
  return g_quark_from_static_string ("adder-bot-api-error-quark");
}

#define ANSWER_BYTES (16 << 20)
#define CONNECT_MS   (10 * 1000)
#define IDLE_MS      (60 * 1000)
#define WAIT_US      (G_GINT64_CONSTANT (120) * 1000 * 1000) /* of one question; an upload takes its time */
#define POLL_MORE_US (G_GINT64_CONSTANT (20) * 1000 * 1000)  /* over what the server was told to wait */

#define TRY_US       (G_GINT64_CONSTANT (5) * 1000 * 1000)

/* How long is waited between: the first time, and then twice as long each time. */
#define AGAIN_MS     500
#define AGAIN_MAX_MS (60 * 1000)
#define AGAIN_MAX_S  3600 /* what a server may ask one to wait; it is 35 s as a rule */
#define PATIENCE_US  (G_GINT64_CONSTANT (24) * 3600 * 1000 * 1000)
#define FAILED_MAX   8 /* times that the server may fail with one question */

struct bot_api {
  const struct bot_api_settings *settings;
  struct http_client *client;
  const char *proxy; /* none where the server is on this machine, else the environment's */
};

gboolean
bot_api_check_token (const char *token, GError **error)
{
  gsize digits = strspn (token, "0123456789"), rest = 0;
  if (token[digits] == ':')
    for (rest = 1; g_ascii_isalnum (token[digits + rest]) ||
                   strchr ("_-", token[digits + rest] ? token[digits + rest] : ' ');)
      rest++;
  if (digits > 0 && rest > 1 && token[digits + rest] == '\0' && digits + rest <= 200)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the bot's token is invalid: it is digits, a colon, then letters, digits, _ and -, as "
               "@BotFather gives it");
  return FALSE;
}

struct bot_api *
bot_api_new (const struct bot_api_settings *settings, GError **error)
{
  struct http_client *client = http_client_new (error);
  if (!client)
    return NULL;
  struct bot_api *api = g_new0 (struct bot_api, 1);
  g_autoptr (GUri) uri = g_uri_parse (settings->url, G_URI_FLAGS_NONE, NULL);
  const char *host = uri ? g_uri_get_host (uri) : NULL;
  *api = (struct bot_api){settings, client, host && url_host_is_local (host) ? "" : NULL};
  return api;
}

void
bot_api_free (struct bot_api *api)
{
  if (!api)
    return;
  http_client_free (api->client);
  g_free (api);
}

/* ---- one question ---- */

struct question {
  const char *method;
  const char *body, *content_type;
  gsize length;
  gint64 wait_us;
};

static enum http_want
bot_api_take (gpointer data, G_GNUC_UNUSED const struct http_response *response, const char *bytes,
              gsize length)
{
  g_string_append_len (data, bytes, (gssize)length);
  return HTTP_MORE;
}

/* REQUEST, with what is the same in all of them, to PATH of the server. */
static enum http_end
perform (struct bot_api *api, struct http_client_request *request, const char *path, gint64 wait_us,
         struct http_response *ret_response)
{
  g_autofree char *url = g_strconcat (api->settings->url, path, NULL);
  request->url = url;
  request->proxy = api->proxy;
  request->connect_ms = CONNECT_MS;
  request->idle_ms = IDLE_MS;
  request->deadline_us = g_get_monotonic_time () + wait_us;
  enum http_end end = http_client_perform (api->client, request, api->settings->cancel_fd, ret_response);
  explicit_bzero (url, strlen (url));
  return end;
}

static enum http_end
bot_api_exchange (struct bot_api *api, const struct question *question, GString *answer,
                  struct http_response *ret_response)
{
  g_autofree char *path = g_strdup_printf ("/bot%s/%s", api->settings->token, question->method);
  g_autofree char *type = g_strconcat (
      "Content-Type: ", question->content_type ? question->content_type : "application/json", NULL);
  const char *const headers[] = {type, NULL};
  struct http_client_request request = {
      .headers = headers,
      .body = question->body,
      .length = (gint64)question->length,
      .answer_bytes = ANSWER_BYTES,
      .took = bot_api_take,
      .data = answer,
  };
  enum http_end end = perform (api, &request, path, question->wait_us, ret_response);
  explicit_bzero (path, strlen (path));
  return end;
}

/* What the server's refusals mean. The first row that fits. */
static const struct {
  int code;
  const char *words; /* in the description; NULL: any */
  enum bot_api_error meaning;
  const char *said;
} refusals[] = {
    {400, "can't parse entities", BOT_API_ENTITIES, "the markup cannot be read"},
    {400, "message is not modified", BOT_API_REFUSED, "it would change nothing"},
    {400, "message to edit not found", BOT_API_REFUSED, "the message is gone"},
    {400, "message can't be edited", BOT_API_REFUSED, "the message cannot be edited any more"},
    {400, "query is too old", BOT_API_REFUSED, "the button was pressed too long ago"},
    {400, "message is too long", BOT_API_REFUSED, "the message is too long"},
    {400, "PHOTO_INVALID_DIMENSIONS", BOT_API_REFUSED, "no photo may have these sides"},
    {400, "IMAGE_PROCESS_FAILED", BOT_API_REFUSED, "it is no picture that Telegram can read"},
    {400, "file is too big", BOT_API_REFUSED, "the file is too large"},
    {400, "upgraded to a supergroup", BOT_API_FORBIDDEN,
     "the group became a supergroup and has another number now: name that one under [telegram] chats"},
    {400, "chat not found", BOT_API_FORBIDDEN, "there is no such chat"},
    {400, "not enough rights", BOT_API_FORBIDDEN, "the bot may not write there"},
    {401, NULL, BOT_API_TOKEN, "the token is not one, or not any more: @BotFather gives a new one"},
    {403, NULL, BOT_API_FORBIDDEN, "the bot was blocked, or removed from the chat"},
    {404, NULL, BOT_API_NOWHERE, "there is no such bot: look at the token, and at [telegram] api"},
    {409, "webhook", BOT_API_CONFLICT, "a webhook is set for this bot: remove it (deleteWebhook)"},
    {409, NULL, BOT_API_CONFLICT, "another program polls with the same token: only one may"},
    {413, NULL, BOT_API_REFUSED, "the file is too large"},
    {429, NULL, BOT_API_BUSY, "too many requests"},
};

static void
bot_api_set_refusal (GError **error, const char *method, json_int_t code, const char *words)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (refusals[i].code == code && (!refusals[i].words || strstr (words, refusals[i].words))) {
      g_set_error (error, BOT_API_ERROR, (int)refusals[i].meaning, "%s: %s", method, refusals[i].said);
      return;
    }
  g_set_error (error, BOT_API_ERROR, code >= 500 ? BOT_API_FAILED : BOT_API_REFUSED,
               "%s: %s (error %" JSON_INTEGER_FORMAT ")", method,
               code >= 500 ? "the server failed" : "the server refused it", code);
}

/* The result in TEXT, a new reference. What stands between us and the server (STATUS alone says what) may
 * have refused it too. *RET_AGAIN_S: the server wants one to wait so long. */
static json_t *
bot_api_read_answer (const char *method, long status, const GString *text, gint64 *ret_again_s,
                     GError **error)
{
  g_autoptr (json_t) answer = json_parse_object (text->str, text->len, "the answer", NULL);
  json_t *result = json_object_get (answer, "result");
  if (answer && json_is_true (json_object_get (answer, "ok")) && result)
    return json_incref (result);
  const json_t *code = json_object_get (answer, "error_code");
  const json_t *again = json_object_get (json_object_get (answer, "parameters"), "retry_after");
  if (json_is_integer (code) || status >= 400) {
    *ret_again_s = CLAMP (json_integer_value (again), 0, AGAIN_MAX_S);
    bot_api_set_refusal (error, method, json_is_integer (code) ? json_integer_value (code) : status,
                         json_member_text (answer, "description"));
  } else
    g_set_error (error, BOT_API_ERROR, BOT_API_BROKEN,
                 "%s: what came is no answer of a Bot API: look at [telegram] api", method);
  return NULL;
}

/* ANSWER is empty, and holds what came. */
static json_t *
bot_api_ask_once (struct bot_api *api, const struct question *question, GString *answer, gint64 *ret_again_s,
                  GError **error)
{
  g_auto (http_response_t) response = {0};
  enum http_end end = bot_api_exchange (api, question, answer, &response);
  json_t *result = NULL;
  *ret_again_s = 0;
  if (end == HTTP_CANCELLED)
    g_set_error (error, BOT_API_ERROR, BOT_API_CANCELLED, "%s was cancelled", question->method);
  else if (end == HTTP_ARRIVED)
    result = bot_api_read_answer (question->method, response.status, answer->len > 0 ? answer : response.body,
                                  ret_again_s, error);
  else if (end == HTTP_LONG || end == HTTP_PACKED)
    g_set_error (error, BOT_API_ERROR, BOT_API_BROKEN, "%s: the answer is longer than %d MiB or compressed",
                 question->method, ANSWER_BYTES >> 20);
  else
    g_set_error (error, BOT_API_ERROR, BOT_API_UNREACHABLE, "%s: no answer: %s", question->method,
                 end == HTTP_IDLE || end == HTTP_LATE ? "the server was silent" : response.reason);
  return result;
}

/* FALSE: cancelled meanwhile. */
static gboolean
bot_api_wait_for (const struct bot_api *api, gint64 ms)
{
  struct pollfd ready = {.fd = api->settings->cancel_fd, .events = POLLIN};
  return poll (&ready, 1, (int)ms) <= 0;
}

static gboolean
may_ask_again (const struct bot_api *api, const GError *problem, guint turn)
{
  return g_error_matches (problem, BOT_API_ERROR, BOT_API_UNREACHABLE) ||
         (api->settings->is_patient && g_error_matches (problem, BOT_API_ERROR, BOT_API_TOKEN)) ||
         (turn < FAILED_MAX && g_error_matches (problem, BOT_API_ERROR, BOT_API_FAILED));
}

/* How long is waited after the TURNth try (from 1), which ended with PROBLEM; -1: it is given up. */
static gint64
bot_api_wait_after (const struct bot_api *api, const GError *problem, gint64 again_s, guint turn,
                    gint64 begun_us)
{
  if (g_get_monotonic_time () - begun_us > PATIENCE_US ||
      (again_s == 0 && !may_ask_again (api, problem, turn)))
    return -1;
  return again_s > 0 ? again_s * 1000 : MIN ((gint64)AGAIN_MS << MIN (turn - 1, 10), AGAIN_MAX_MS);
}

static json_t *
bot_api_ask (struct bot_api *api, const struct question *question, GError **error)
{
  gint64 begun_us = g_get_monotonic_time ();
  for (guint turn = 1;; turn++) {
    g_autoptr (GError) problem = NULL;
    g_autoptr (GString) answer = g_string_new (NULL);
    gint64 again_s;
    json_t *result = bot_api_ask_once (api, question, answer, &again_s, &problem);
    if (result)
      return result;
    gint64 wait_ms = bot_api_wait_after (api, problem, again_s, turn, begun_us);
    if (wait_ms < 0) {
      g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
    if (turn == 1)
      log_info ("telegram: %s; it is asked again", problem->message);
    if (!bot_api_wait_for (api, wait_ms)) {
      g_set_error (error, BOT_API_ERROR, BOT_API_CANCELLED, "%s was cancelled", question->method);
      return NULL;
    }
  }
}

/* ---- methods ---- */

json_t *
bot_api_call (struct bot_api *api, const char *method, json_t *parameters, GError **error)
{
  g_autofree char *body = json_to_text (parameters);
  json_decref (parameters);
  const struct question question = {
      .method = method, .body = body, .length = strlen (body), .wait_us = WAIT_US};
  return bot_api_ask (api, &question, error);
}

void
bot_api_try (struct bot_api *api, const char *method, json_t *parameters)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GString) answer = g_string_new (NULL);
  g_autofree char *body = json_to_text (parameters);
  json_decref (parameters);
  const struct question question = {
      .method = method, .body = body, .length = strlen (body), .wait_us = TRY_US};
  gint64 again_s;
  g_autoptr (json_t) result = bot_api_ask_once (api, &question, answer, &again_s, &problem);
  if (!result)
    log_debug ("telegram: %s", problem->message);
}

/* The number of the first update in TEXT, which is no JSON that can be read; 0: there is none. */
static gint64
bot_api_find_update (const char *text)
{
  static const char *const mark = "\"update_id\":";
  const char *found = strstr (text, mark);
  return found ? g_ascii_strtoll (found + strlen (mark), NULL, 10) : 0;
}

json_t *
bot_api_poll (struct bot_api *api, const struct bot_api_wanted *wanted, gint64 *ret_again_ms,
              gint64 *ret_unreadable, GError **error)
{
  gint64 again_s;
  g_autoptr (GString) answer = g_string_new (NULL);
  g_autofree char *body =
      g_strdup_printf ("{\"offset\": %" G_GINT64_FORMAT ", \"limit\": %u, \"timeout\": %u, "
                       "\"allowed_updates\": [\"message\", \"callback_query\"]}",
                       wanted->offset, wanted->limit, wanted->wait_s);
  const struct question question = {.method = "getUpdates",
                                    .body = body,
                                    .length = strlen (body),
                                    .wait_us = (gint64)wanted->wait_s * 1000 * 1000 + POLL_MORE_US};
  json_t *result = bot_api_ask_once (api, &question, answer, &again_s, error);
  *ret_again_ms = again_s * 1000;
  /* Not where the connection broke off: what was cut comes whole the next time. */
  *ret_unreadable =
      g_error_matches (*error, BOT_API_ERROR, BOT_API_BROKEN) ? bot_api_find_update (answer->str) : 0;
  return result;
}

static void
bot_api_add_part (GString *form, const char *boundary, const char *name, const char *file, const char *mime,
                  const void *bytes, gsize length)
{
  g_string_append_printf (form, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, name);
  if (file) {
    g_autofree char *clean = g_strdelimit (g_strdup (file), "\"\r\n\\", '_');
    g_string_append_printf (form, "; filename=\"%s\"\r\nContent-Type: %s", clean, mime);
  }
  g_string_append (form, "\r\n\r\n");
  g_string_append_len (form, bytes, (gssize)length);
  g_string_append (form, "\r\n");
}

json_t *
bot_api_send_files (struct bot_api *api, const char *method, json_t *parameters,
                    const struct bot_api_file *files, gsize count, GError **error)
{
  g_autofree char *boundary = g_uuid_string_random ();
  g_autofree char *type = g_strconcat ("multipart/form-data; boundary=", boundary, NULL);
  g_autoptr (GString) form = g_string_new (NULL);
  const char *name;
  json_t *value;
  json_object_foreach (parameters, name, value)
  {
    /* What is no text is written as JSON. */
    g_autofree char *text =
        json_is_string (value) ? g_strdup (json_string_value (value)) : json_dumps (value, JSON_ENCODE_ANY);
    bot_api_add_part (form, boundary, name, NULL, NULL, text, strlen (text));
  }
  for (gsize i = 0; i < count; i++) {
    gsize length;
    const void *bytes = g_bytes_get_data (files[i].bytes, &length);
    bot_api_add_part (form, boundary, files[i].field, files[i].name, files[i].mime, bytes, length);
  }
  g_string_append_printf (form, "--%s--\r\n", boundary);
  json_decref (parameters);
  const struct question question = {
      .method = method, .body = form->str, .length = form->len, .content_type = type, .wait_us = WAIT_US};
  return bot_api_ask (api, &question, error);
}

/* ---- files ---- */

struct download {
  int fd;
  gboolean failed;
};

static enum http_want
bot_api_write_down (gpointer data, G_GNUC_UNUSED const struct http_response *response, const char *bytes,
                    gsize length)
{
  struct download *download = data;
  download->failed = fd_write_all (download->fd, bytes, length) < 0;
  return download->failed ? HTTP_STOP : HTTP_MORE;
}

gboolean
bot_api_download (struct bot_api *api, const char *file_path, guint64 most, int fd, GError **error)
{
  struct download download = {.fd = fd};
  g_auto (http_response_t) response = {0};
  struct http_client_request request = {.answer_bytes = most, .took = bot_api_write_down, .data = &download};
  g_autofree char *escaped = g_uri_escape_string (file_path, "/", FALSE);
  g_autofree char *path = g_strdup_printf ("/file/bot%s/%s", api->settings->token, escaped);
  enum http_end end = perform (api, &request, path, WAIT_US, &response);
  explicit_bzero (path, strlen (path));
  gboolean ok = end == HTTP_ARRIVED && response.status == 200;
  if (!ok)
    g_set_error (error, BOT_API_ERROR, end == HTTP_CANCELLED ? BOT_API_CANCELLED : BOT_API_UNREACHABLE,
                 end == HTTP_LONG  ? "the file is longer than was said"
                 : download.failed ? "the file cannot be written here"
                                   : "the file cannot be fetched");
  return ok;
}
