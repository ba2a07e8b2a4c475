/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-models: libcurl's multi interface, since its poll also watches the descriptor that
 * cancels.
 *
 * No redirect is followed, because the key would go wherever it leads. No compression is asked for, so
 * nothing can unfold into more than was counted. */
#include <curl/curl.h>
#include <string.h>

#include "adder.h"
#include "build-config.h"
#include "models/transport.h"

/* How long a server may leave a connection open after all was said. */
#define LINGER_US (500 * 1000)

/* Of one wait; whatever happens ends it. */
#define WAIT_MOST_MS 1000

struct transport {
  CURLM *multi;
  CURL *easy;
};

/* One question. */
struct exchange {
  const struct transport_request *request;
  struct transport_reply *reply;
  CURL *easy;
  guint64 bytes;
  gint64 moved_us; /* when a piece of the answer came; 0: none did */
  gint64 said_us;  /* when all was said; 0: it was not */
  gboolean stopped, is_long, is_packed;
};

static struct transport *
transport_open (void)
{
  static gsize started = 0;
  if (g_once_init_enter (&started)) {
    curl_global_init (CURL_GLOBAL_DEFAULT);
    g_once_init_leave (&started, 1);
  }
  struct transport *transport = g_new0 (struct transport, 1);
  transport->multi = curl_multi_init ();
  transport->easy = curl_easy_init ();
  return transport;
}

static void
transport_close (struct transport *transport)
{
  curl_easy_cleanup (transport->easy);
  curl_multi_cleanup (transport->multi);
  g_free (transport);
}

/* ---- what comes ---- */

static size_t
take (char *bytes, size_t size, size_t count, void *data)
{
  struct exchange *exchange = data;
  const struct transport_request *request = exchange->request;
  size_t length = size * count;
  long status = 0;
  exchange->moved_us = g_get_monotonic_time ();
  exchange->is_long = length > request->answer_bytes - exchange->bytes;
  if (exchange->is_long || exchange->is_packed)
    return 0;
  exchange->bytes += length;
  curl_easy_getinfo (exchange->easy, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || status > 299) {
    GString *refusal = exchange->reply->refusal;
    gsize room = TRANSPORT_REFUSAL_BYTES - MIN (TRANSPORT_REFUSAL_BYTES, refusal->len);
    g_string_append_len (refusal, bytes, (gssize)MIN (room, length));
    return length;
  }
  enum transport_want want = request->took (request->took_data, bytes, length);
  exchange->stopped = want == TRANSPORT_STOP;
  if (want == TRANSPORT_NOTHING && exchange->said_us == 0)
    exchange->said_us = exchange->moved_us;
  return exchange->stopped ? 0 : length;
}

static size_t
take_header (char *bytes, size_t size, size_t count, void *data)
{
  static const char packed[] = "content-encoding:";
  struct exchange *exchange = data;
  size_t length = size * count;
  if (length > 5 && memcmp (bytes, "HTTP/", 5) == 0)
    exchange->is_packed = FALSE;
  if (length > strlen (packed) && g_ascii_strncasecmp (bytes, packed, strlen (packed)) == 0) {
    g_autofree char *how = g_strndup (bytes + strlen (packed), length - strlen (packed));
    exchange->is_packed = g_ascii_strcasecmp (g_strstrip (how), "identity") != 0;
  }
  return length;
}

/* ---- what is asked ---- */

static void
set_protocols (CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt (easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void
set_way (CURL *easy, const struct transport_request *request)
{
  curl_easy_setopt (easy, CURLOPT_URL, request->url);
  curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt (easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt (easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
  curl_easy_setopt (easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt (easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (request->ca_file)
    curl_easy_setopt (easy, CURLOPT_CAINFO, request->ca_file);
  if (request->unix_socket)
    curl_easy_setopt (easy, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket);
  if (request->proxy && !request->unix_socket)
    curl_easy_setopt (easy, CURLOPT_PROXY, request->proxy);
  else if (request->is_local)
    curl_easy_setopt (easy, CURLOPT_NOPROXY, "*");
  set_protocols (easy);
}

static struct curl_slist *
make_headers (const struct transport_request *request)
{
  /* A server that knows "Expect" not would be waited for. */
  struct curl_slist *headers = curl_slist_append (NULL, "Expect:");
  if (request->body) {
    const char *type = request->content_type ? request->content_type : "application/json";
    g_autofree char *line = g_strconcat ("Content-Type: ", type, NULL);
    headers = curl_slist_append (headers, line);
  }
  for (gsize i = 0; request->headers[i]; i++)
    headers = curl_slist_append (headers, request->headers[i]);
  return headers;
}

static void
set_up (struct exchange *exchange, struct curl_slist *headers)
{
  CURL *easy = exchange->easy;
  const struct transport_request *request = exchange->request;
  set_way (easy, request);
  curl_easy_setopt (easy, CURLOPT_USERAGENT, "adder/" ADDER_VERSION);
  curl_easy_setopt (easy, CURLOPT_HTTPHEADER, headers);
  if (request->body) {
    curl_easy_setopt (easy, CURLOPT_POST, 1L);
    curl_easy_setopt (easy, CURLOPT_POSTFIELDS, request->body);
    curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
  }
  curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt (easy, CURLOPT_WRITEDATA, exchange);
  curl_easy_setopt (easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt (easy, CURLOPT_HEADERDATA, exchange);
}

/* ---- how it ends ---- */

static const struct {
  CURLcode code;
  enum transport_end end;
} curl_ends[] = {
    {CURLE_OK, TRANSPORT_ARRIVED},
    {CURLE_COULDNT_RESOLVE_HOST, TRANSPORT_UNREACHABLE},
    {CURLE_COULDNT_RESOLVE_PROXY, TRANSPORT_UNREACHABLE},
    {CURLE_COULDNT_CONNECT, TRANSPORT_UNREACHABLE},
    {CURLE_OPERATION_TIMEDOUT, TRANSPORT_UNREACHABLE}, /* of connecting: no other is set */
    {CURLE_PEER_FAILED_VERIFICATION, TRANSPORT_UNTRUSTED},
    {CURLE_SSL_CONNECT_ERROR, TRANSPORT_UNTRUSTED},
    {CURLE_SSL_CERTPROBLEM, TRANSPORT_UNTRUSTED},
    {CURLE_SSL_CIPHER, TRANSPORT_UNTRUSTED},
    {CURLE_SSL_CACERT_BADFILE, TRANSPORT_UNFIT},
    {CURLE_SSL_ISSUER_ERROR, TRANSPORT_UNTRUSTED},
    {CURLE_UNSUPPORTED_PROTOCOL, TRANSPORT_BROKEN}, /* of an answer: which URLs there are is checked before */
    {CURLE_BAD_FUNCTION_ARGUMENT, TRANSPORT_UNFIT},
    {CURLE_URL_MALFORMAT, TRANSPORT_UNFIT},
    {CURLE_PROXY, TRANSPORT_UNREACHABLE},
};

static enum transport_end
end_of (const struct exchange *exchange, CURLcode code)
{
  if (exchange->is_long)
    return TRANSPORT_LONG;
  if (exchange->is_packed)
    return TRANSPORT_PACKED;
  if (exchange->stopped)
    return TRANSPORT_STOPPED;
  if (exchange->said_us > 0)
    return TRANSPORT_ARRIVED;
  for (gsize i = 0; i < G_N_ELEMENTS (curl_ends); i++)
    if (curl_ends[i].code == code)
      return curl_ends[i].end;
  return TRANSPORT_BROKEN;
}

/* Until when is waited, and what it is when nothing came until then. */
static gint64
patience (const struct exchange *exchange, enum transport_end *ret_end)
{
  const struct transport_request *request = exchange->request;
  gint64 until = request->deadline_us;
  *ret_end = TRANSPORT_LATE;
  if (exchange->moved_us > 0 && exchange->moved_us + (gint64)request->idle_ms * 1000 < until) {
    until = exchange->moved_us + (gint64)request->idle_ms * 1000;
    *ret_end = TRANSPORT_IDLE;
  }
  if (exchange->said_us > 0) {
    until = MIN (until, exchange->said_us + LINGER_US);
    *ret_end = TRANSPORT_ARRIVED;
  }
  return until;
}

/* Waits for something to happen. FALSE: it is over, as *RET_END says. */
static gboolean
wait_on (struct transport *transport, const struct exchange *exchange, enum transport_end *ret_end)
{
  int cancel_fd = exchange->request->cancel_fd;
  struct curl_waitfd watched = {.fd = cancel_fd, .events = CURL_WAIT_POLLIN};
  gint64 left_us = patience (exchange, ret_end) - g_get_monotonic_time ();
  if (left_us <= 0)
    return FALSE;
  int wait_ms = (int)MIN ((left_us + 999) / 1000, WAIT_MOST_MS);
  curl_multi_poll (transport->multi, &watched, cancel_fd >= 0 ? 1 : 0, wait_ms, NULL);
  if (watched.revents == 0)
    return TRUE;
  *ret_end = TRANSPORT_CANCELLED;
  return FALSE;
}

static enum transport_end
perform (struct transport *transport, struct exchange *exchange)
{
  enum transport_end end = TRANSPORT_BROKEN;
  for (;;) {
    int running = 0, left = 0;
    if (curl_multi_perform (transport->multi, &running) != CURLM_OK)
      return TRANSPORT_BROKEN;
    const CURLMsg *message = curl_multi_info_read (transport->multi, &left);
    if (message && message->msg == CURLMSG_DONE) {
      exchange->reply->reason = curl_easy_strerror (message->data.result);
      return end_of (exchange, message->data.result);
    }
    if (!wait_on (transport, exchange, &end))
      return end;
  }
}

static void
read_reply (const struct exchange *exchange)
{
  struct transport_reply *reply = exchange->reply;
  curl_off_t again_s = 0;
  const char *location = NULL;
  curl_easy_getinfo (exchange->easy, CURLINFO_RESPONSE_CODE, &reply->status);
  curl_easy_getinfo (exchange->easy, CURLINFO_RETRY_AFTER, &again_s);
  curl_easy_getinfo (exchange->easy, CURLINFO_REDIRECT_URL, &location);
  reply->again_ms = again_s > 0 ? (gint64)MIN (again_s, G_MAXINT) * 1000 : -1;
  reply->location = g_strdup (location);
}

static enum transport_end
transport_post (struct transport *transport, const struct transport_request *request,
                struct transport_reply *ret_reply)
{
  *ret_reply = (struct transport_reply){.again_ms = -1, .refusal = g_string_new (NULL), .reason = ""};
  struct exchange exchange = {.request = request, .reply = ret_reply, .easy = transport->easy};
  struct curl_slist *headers = make_headers (request);
  set_up (&exchange, headers);
  curl_multi_add_handle (transport->multi, transport->easy);
  enum transport_end end = perform (transport, &exchange);
  read_reply (&exchange);
  curl_multi_remove_handle (transport->multi, transport->easy);
  /* It keeps the connections, and forgets all else. */
  curl_easy_reset (transport->easy);
  curl_slist_free_all (headers);
  return end;
}

ADDER_PUBLIC extern const struct transport_class adder_models_transport;
const struct transport_class adder_models_transport = {transport_open, transport_close, transport_post};
