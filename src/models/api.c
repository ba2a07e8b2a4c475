/* SPDX-License-Identifier: Apache-2.0 */
/* Attempt after attempt within one deadline. Between two of them is waited as long as the server says, or
 * longer each time; and whoever watches the answer is told that it begins anew. What a server turns out not
 * to take is left out at once, and from then on. */
#include "models/api.h"

#include <arpa/inet.h>
#include <string.h>

#include "common/http_client.h"
#include "common/json.h"
#include "common/size.h"
#include "common/url.h"
#include "models/api_errors.h"
#include "models/api_quirks.h"
#include "models/mask.h"
#include "models/response_parser.h"

/* The first pause and the longest, half of which is random. */
#define PAUSE_FIRST_MS 500
#define PAUSE_MAX_MS   (16 * 1000)

/* A server that wants to be left alone for longer is told of at once. */
#define AGAIN_MAX_MS (2 * 60 * 1000)

/* For what a server need not be asked: these attempts do not count, and there is one for each quirk at most.
 */
#define AGAIN_NOW 0

/* Of a question as it goes out: no API takes as much. */
#define QUESTION_BYTES ((gsize)64 << 20)

struct api {
  struct provider provider;
  struct model_settings *settings;
  const struct dialect_class *class;
  struct http_client *client; /* NULL: nothing was asked yet */
  char *url, *host, *title;
  char **headers;
  gboolean is_local;
  guint quirks;
};

/* One question. */
struct asking {
  struct api *api;
  const struct model_question *question;
  gint64 began_us, deadline_us;
  guint attempts;
  guint again;     /* how many further ones may help, after one that failed */
  gint64 again_ms; /* not before; -1: the server does not say */
};

/* ---- what is settled beforehand ---- */

static char *
api_make_url (const struct api *api, const char *base_path)
{
  const char *base = api->settings->base_url;
  gboolean has_v1 = g_str_has_suffix (base_path, "/v1");
  gboolean needs_v1 = api->class->always_v1 ? !has_v1 : base_path[0] == '\0' || strcmp (base_path, "/") == 0;
  gsize length = strlen (base);
  while (length > 0 && base[length - 1] == '/')
    length--;
  return g_strdup_printf ("%.*s%s%s", (int)length, base, needs_v1 ? "/v1" : "", api->class->path);
}

/* A key is text that can stand in a header. */
static gboolean
api_check_key (const struct api *api, GError **error)
{
  const char *key = api->settings->key;
  for (const char *at = key ? key : ""; *at; at++)
    if (*at <= 0x20 || *at > 0x7e) {
      g_set_error (error, MODEL_ERROR, MODEL_ERROR_KEY,
                   "the key of the model %s has blanks, line ends or other characters in it that no key has: "
                   "look at where `adder model show %s` says it is read",
                   api->settings->name, api->settings->name);
      return FALSE;
    }
  return TRUE;
}

/* What goes by a proxy leaves the machine wherever that one is. A socket is never asked for by a proxy. */
static gboolean
check_proxy (const struct api *api, GError **error)
{
  const struct model_settings *settings = api->settings;
  if (!settings->proxy || settings->unix_socket)
    return TRUE;
  g_autoptr (GUri) uri = g_uri_parse (settings->proxy, G_URI_FLAGS_NONE, NULL);
  if (uri && url_host_is_local (g_uri_get_host (uri)))
    return TRUE;
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID,
               "the key of the model %s would go to the proxy %s for everybody on the way to read: give it a "
               "base_url with https, no proxy, or no key",
               settings->name, settings->proxy);
  return FALSE;
}

static gboolean
api_check_secrecy (const struct api *api, const GUri *uri, GError **error)
{
  gboolean is_open = strcmp (g_uri_get_scheme ((GUri *)uri), "http") == 0;
  if (!is_open || !api->settings->key)
    return TRUE;
  if (api->is_local)
    return check_proxy (api, error);
  g_set_error (
      error, MODEL_ERROR, MODEL_ERROR_INVALID,
      "the key of the model %s would go to %s for everybody on the way to read: give it a base_url with "
      "https, or no key",
      api->settings->name, api->host);
  return FALSE;
}

static void
api_make_headers (struct api *api)
{
  GPtrArray *headers = g_ptr_array_new ();
  g_ptr_array_add (headers, g_strdup ("Content-Type: application/json"));
  for (gsize i = 0; api->class->headers[i]; i++)
    g_ptr_array_add (headers, g_strdup (api->class->headers[i]));
  if (api->settings->key)
    g_ptr_array_add (headers, g_strconcat (api->class->key_header, api->settings->key, NULL));
  g_ptr_array_add (headers, g_strdup (api->settings->stream ? "Accept: text/event-stream, application/json"
                                                            : "Accept: application/json"));
  g_ptr_array_add (headers, NULL);
  api->headers = (char **)g_ptr_array_free (headers, FALSE);
}

static char *
make_host (const struct model_settings *settings, const GUri *uri)
{
  int port = g_uri_get_port ((GUri *)uri);
  const char *host = g_uri_get_host ((GUri *)uri);
  g_autofree char *name = strchr (host, ':') ? g_strdup_printf ("[%s]", host) : g_strdup (host);
  if (settings->unix_socket)
    return g_strdup_printf ("%s on %s", name, settings->unix_socket);
  return port > 0 ? g_strdup_printf ("%s:%d", name, port) : g_strdup (name);
}

/* OpenAI's own models that think refuse the older name of the limit. */
static guint
first_quirks (const struct api *api, const char *host)
{
  gboolean is_openai = g_str_has_suffix (host, "openai.com") || g_str_has_suffix (host, ".azure.com");
  return api->settings->dialect == DIALECT_CHAT && is_openai ? QUIRK_MAX_COMPLETION : 0;
}

/* ---- one attempt ---- */

static enum http_want
took (gpointer data, G_GNUC_UNUSED const struct http_response *response, const char *bytes, gsize length)
{
  struct response_parser *parser = data;
  if (!response_parser_feed (parser, bytes, length))
    return HTTP_STOP;
  return response_parser_is_done (parser) ? HTTP_NOTHING : HTTP_MORE;
}

static char *
make_body (const struct asking *asking, GError **error)
{
  const struct model_settings *settings = asking->api->settings;
  guint64 tokens = asking->question->output_tokens;
  struct dialect_question question = {
      .question = asking->question,
      .model = settings->model,
      .output_tokens = tokens ? tokens : settings->output_tokens,
      .sees = settings->sees,
      .stream = settings->stream,
      .quirks = asking->api->quirks,
  };
  g_autoptr (json_t) body = asking->api->class->ask (&question, error);
  if (!body)
    return NULL;
  g_autofree char *text = json_to_text (body);
  if (strlen (text) <= QUESTION_BYTES)
    return g_steal_pointer (&text);
  g_set_error (error, MODEL_ERROR, MODEL_ERROR_CONTEXT,
               "the conversation has more than %zu MiB: begin a new one, or show the model fewer pictures",
               QUESTION_BYTES >> 20);
  return NULL;
}

static void
api_post (const struct asking *asking, const char *body, struct response_parser *parser,
          struct http_response *ret_response)
{
  const struct api *api = asking->api;
  const struct model_settings *settings = api->settings;
  const struct http_client_request request = {
      .url = api->url,
      .headers = (const char *const *)api->headers,
      .body = body,
      .length = (gint64)strlen (body),
      .unix_socket = settings->unix_socket,
      .proxy = settings->proxy ? settings->proxy
               : api->is_local ? ""
                               : NULL,
      .ca_file = settings->ca_file,
      .connect_ms = settings->connect_ms,
      .idle_ms = settings->idle_ms,
      .deadline_us = asking->deadline_us,
      .answer_bytes = settings->answer_bytes,
      .took = took,
      .data = parser,
  };
  http_client_perform (api->client, &request, asking->question->cancel_fd, ret_response);
}

/* Whether the refusal in RESPONSE is of something that need not be asked for. */
static gboolean
learn (struct api *api, const struct http_response *response)
{
  if (response->status != 400 && response->status != 422)
    return FALSE;
  g_autofree char *words = api_error_words (response->body->str, response->body->len);
  return api_quirks_learn (api->settings->dialect, words, &api->quirks);
}

/* Whether there is an answer to be read. One that has ended counts whatever its connection does afterwards.
 */
static gboolean
has_arrived (const struct http_response *response, const struct response_parser *parser)
{
  enum http_end end = response->end;
  if (!http_response_is_yes (response))
    return FALSE;
  return end == HTTP_ARRIVED || end == HTTP_STOPPED ||
         (response_parser_is_over (parser) && (end == HTTP_BROKEN || end == HTTP_IDLE || end == HTTP_LATE));
}

/* How it went, as an answer or as an error, and what would come of another attempt. */
static gboolean
api_judge (struct asking *asking, const struct http_response *response, struct response_parser *parser,
           struct model_answer *ret_answer, GError **error)
{
  struct api *api = asking->api;
  const struct api_server server = {api->settings, api->host};
  asking->again_ms = response->again_ms;
  if (!has_arrived (response, parser)) {
    asking->again = api_error_of_response (&server, response, error);
    if (response->end == HTTP_ARRIVED && learn (api, response))
      asking->again_ms = AGAIN_NOW;
    return FALSE;
  }
  enum response_end read = response_parser_end (parser, ret_answer);
  if (read != RESPONSE_WHOLE)
    asking->again = api_error_of_answer (&server, read, response_parser_error (parser), error);
  return read == RESPONSE_WHOLE;
}

static gboolean
api_attempt (struct asking *asking, struct model_answer *ret_answer, GError **error)
{
  g_auto (http_response_t) response = {0};
  g_autofree char *body = make_body (asking, error);
  asking->again = API_NEVER;
  if (!body)
    return FALSE;
  struct response_parser *parser = response_parser_new (asking->api->settings->dialect, asking->question);
  asking->attempts++;
  api_post (asking, body, parser, &response);
  gboolean ok = api_judge (asking, &response, parser, ret_answer, error);
  response_parser_free (parser);
  return ok;
}

/* ---- all of them ---- */

/* How long is waited before the next attempt; -1: there is none. */
static gint64
api_pause_ms (const struct asking *asking)
{
  guint64 most = MIN (asking->api->settings->retries, asking->again);
  if (asking->again_ms == AGAIN_NOW)
    return 0;
  if (asking->attempts > most || asking->again_ms > AGAIN_MAX_MS)
    return -1;
  gint64 pause = MIN ((gint64)PAUSE_FIRST_MS << MIN (asking->attempts - 1, 10), PAUSE_MAX_MS);
  pause = pause / 2 + g_random_int_range (0, (gint32)(pause / 2) + 1);
  pause = MAX (pause, asking->again_ms);
  return g_get_monotonic_time () + pause * 1000 < asking->deadline_us ? pause : -1;
}

/* FALSE: it was cancelled meanwhile. */
static gboolean
api_wait_for (const struct asking *asking, gint64 ms)
{
  GPollFD cancel = {.fd = asking->question->cancel_fd, .events = G_IO_IN};
  gint64 until = g_get_monotonic_time () + ms * 1000;
  for (gint64 left = ms; left > 0; left = (until - g_get_monotonic_time () + 999) / 1000)
    if (g_poll (&cancel, cancel.fd >= 0 ? 1 : 0, (int)left) > 0)
      return FALSE;
  return TRUE;
}

static gboolean
cancelled (const struct asking *asking, GError **error)
{
  const struct api_server server = {asking->api->settings, asking->api->host};
  const struct http_response none = {.end = HTTP_CANCELLED, .reason = ""};
  (void)api_error_of_response (&server, &none, error);
  return FALSE;
}

/* What the last attempt says, with how many there were and when the server wants the next. */
static gboolean
api_give_up (const struct asking *asking, GError *problem, GError **error)
{
  if (asking->attempts > 1)
    g_prefix_error (&problem, "after %u attempts: ", asking->attempts);
  if (asking->again_ms > 0) {
    g_autofree char *time = duration_format ((guint64)asking->again_ms), *said = g_strdup (problem->message);
    g_free (problem->message);
    problem->message = g_strdup_printf ("%s; it can be asked again in %s", said, time);
  }
  g_propagate_error (error, problem);
  return FALSE;
}

static gboolean
api_load (struct api *api, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (!api->client)
    api->client = http_client_new (&problem);
  if (!api->client)
    g_set_error_literal (error, MODEL_ERROR, MODEL_ERROR_INVALID, problem->message);
  return api->client != NULL;
}

/* A million tokens are what prices are of. */
static double
api_cost_of (const struct model_settings *settings, const struct model_usage *usage)
{
  gint64 cached = CLAMP (usage->cached_tokens, 0, MAX (usage->input_tokens, 0));
  double cached_price = settings->cached_price < 0 ? settings->input_price : settings->cached_price;
  if (usage->input_tokens < 0 || usage->output_tokens < 0 || settings->input_price < 0 ||
      settings->output_price < 0)
    return -1;
  return ((double)(usage->input_tokens - cached) * settings->input_price + (double)cached * cached_price +
          (double)usage->output_tokens * settings->output_price) /
         1e6;
}

static void
api_finish (const struct asking *asking, struct model_answer *ret_answer)
{
  json_t *message = ret_answer->message;
  ret_answer->message = mask_json (asking->api->settings->key, message);
  json_decref (message);
  ret_answer->usage.cost = api_cost_of (asking->api->settings, &ret_answer->usage);
  ret_answer->attempts = asking->attempts;
  ret_answer->took_ms = (g_get_monotonic_time () - asking->began_us) / 1000;
}

static gboolean
ask (struct api *api, const struct model_question *question, struct model_answer *ret_answer, GError **error)
{
  gint64 now = g_get_monotonic_time (), most = now + (gint64)api->settings->timeout_ms * 1000;
  struct asking asking = {.api = api, .question = question, .began_us = now, .deadline_us = most};
  if (question->deadline_us > 0)
    asking.deadline_us = MIN (most, question->deadline_us);
  if (!api_load (api, error))
    return FALSE;
  for (;;) {
    GError *problem = NULL;
    if (api_attempt (&asking, ret_answer, &problem)) {
      api_finish (&asking, ret_answer);
      return TRUE;
    }
    gint64 pause = api_pause_ms (&asking);
    if (pause < 0)
      return api_give_up (&asking, problem, error);
    g_error_free (problem);
    if (!api_wait_for (&asking, pause))
      return cancelled (&asking, error);
    if (question->saw)
      question->saw (question->saw_data, NULL, 0);
  }
}

static gboolean
api_ask (struct provider *provider, const struct model_question *question, struct model_answer *ret_answer,
         GError **error)
{
  struct api *api = (struct api *)provider;
  struct model_question masked = *question;
  struct mask mask;
  mask_init (&mask, api->settings->key, question->saw, question->saw_data);
  masked.saw = question->saw ? mask_saw : NULL;
  masked.saw_data = &mask;
  gboolean ok = ask (api, &masked, ret_answer, error);
  mask_end (&mask);
  mask_clear (&mask);
  return ok;
}

static void
api_free (struct provider *provider)
{
  struct api *api = (struct api *)provider;
  http_client_free (api->client);
  for (gsize i = 0; api->headers && api->headers[i]; i++)
    explicit_bzero (api->headers[i], strlen (api->headers[i]));
  g_strfreev (api->headers);
  g_free (api->url);
  g_free (api->host);
  g_free (api->title);
  model_settings_free (api->settings);
  g_free (api);
}

static const struct provider_class api_class = {api_ask, api_free};

static void
set_facts (struct api *api)
{
  const struct model_settings *settings = api->settings;
  api->title = g_strdup_printf ("%s at %s", api->class->title, api->host);
  api->provider.class = &api_class;
  api->provider.facts = (struct model_facts){
      .name = settings->name,
      .provider = api->title,
      .sees = settings->sees,
      .context_tokens = settings->context_tokens ? (gint64)settings->context_tokens : -1,
  };
}

struct provider *
api_new (struct model_settings *settings, GError **error)
{
  g_autoptr (GUri) uri = g_uri_parse (settings->base_url, G_URI_FLAGS_NONE, error);
  if (!uri) {
    model_settings_free (settings);
    return NULL;
  }
  const char *host = g_uri_get_host (uri) ? g_uri_get_host (uri) : "";
  struct api *api = g_new0 (struct api, 1);
  api->settings = settings;
  api->class = dialect_of (settings->dialect);
  api->is_local = settings->unix_socket || url_host_is_local (host);
  api->url = api_make_url (api, g_uri_get_path (uri));
  api->host = make_host (settings, uri);
  api->quirks = first_quirks (api, host);
  set_facts (api);
  if (!api_check_key (api, error) || !api_check_secrecy (api, uri, error)) {
    api_free (&api->provider);
    return NULL;
  }
  api_make_headers (api);
  return &api->provider;
}
