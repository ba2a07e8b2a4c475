/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-containers: libcurl on a unix socket. No proxy of the environment's has a say, and no
 * redirect is followed. */
#include <curl/curl.h>
#include <errno.h>

#include "adder.h"
#include "base/fd.h"
#include "build-config.h"
#include "containers/transport.h"

/* The socket's is the address that counts. */
#define HOST "http://engine"

struct container_transport {
  CURL *easy;
};

/* One question. */
struct exchange {
  const struct container_question *question;
  CURL *easy;
  gboolean stopped;
};

static struct container_transport *
transport_open (void)
{
  static gsize started = 0;
  if (g_once_init_enter (&started)) {
    curl_global_init (CURL_GLOBAL_DEFAULT);
    g_once_init_leave (&started, 1);
  }
  struct container_transport *transport = g_new0 (struct container_transport, 1);
  transport->easy = curl_easy_init ();
  return transport;
}

static void
transport_close (struct container_transport *transport)
{
  curl_easy_cleanup (transport->easy);
  g_free (transport);
}

static size_t
take (char *bytes, size_t size, size_t count, void *data)
{
  struct exchange *exchange = data;
  const struct container_question *question = exchange->question;
  long status = 0;
  curl_easy_getinfo (exchange->easy, CURLINFO_RESPONSE_CODE, &status);
  exchange->stopped =
      !question->took (question->took_data, status >= 200 && status <= 299, bytes, size * count);
  return exchange->stopped ? 0 : size * count;
}

static size_t
give (char *bytes, size_t size, size_t count, void *data)
{
  const struct exchange *exchange = data;
  ssize_t got;
  do
    got = read (exchange->question->body_fd, bytes, size * count);
  while (got < 0 && errno == EINTR);
  return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

static struct curl_slist *
make_headers (const struct container_question *question)
{
  /* A server that knows "Expect" not would be waited for. */
  struct curl_slist *headers = curl_slist_append (NULL, "Expect:");
  g_autofree char *type = g_strconcat ("Content-Type: ", question->type ? question->type : "", NULL);
  headers = curl_slist_append (headers, type);
  if (question->type && !question->body)
    headers = curl_slist_append (headers, "Transfer-Encoding: chunked");
  return headers;
}

static void
set_body (struct exchange *exchange)
{
  CURL *easy = exchange->easy;
  const struct container_question *question = exchange->question;
  if (!question->type)
    return;
  curl_easy_setopt (easy, CURLOPT_POST, 1L);
  if (question->body) {
    curl_easy_setopt (easy, CURLOPT_POSTFIELDS, question->body);
    curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)question->length);
    return;
  }
  curl_easy_setopt (easy, CURLOPT_READFUNCTION, give);
  curl_easy_setopt (easy, CURLOPT_READDATA, exchange);
}

static void
set_up (struct exchange *exchange, const char *url, struct curl_slist *headers)
{
  CURL *easy = exchange->easy;
  const struct container_question *question = exchange->question;
  curl_easy_setopt (easy, CURLOPT_URL, url);
  curl_easy_setopt (easy, CURLOPT_UNIX_SOCKET_PATH, question->socket);
  curl_easy_setopt (easy, CURLOPT_PROXY, "");
  curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt (easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt (easy, CURLOPT_TIMEOUT_MS, (long)MIN (question->timeout_ms, G_MAXINT32));
  curl_easy_setopt (easy, CURLOPT_USERAGENT, "adder/" ADDER_VERSION);
  curl_easy_setopt (easy, CURLOPT_HTTPHEADER, headers);
  set_body (exchange);
  curl_easy_setopt (easy, CURLOPT_CUSTOMREQUEST, question->method);
  curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt (easy, CURLOPT_WRITEDATA, exchange);
}

static enum container_end
end_of (const struct exchange *exchange, CURLcode code)
{
  if (exchange->stopped)
    return CONTAINER_STOPPED;
  switch ((int)code) {
  case CURLE_OK:
    return CONTAINER_ANSWERED;
  case CURLE_COULDNT_CONNECT:
    return CONTAINER_UNREACHABLE;
  case CURLE_OPERATION_TIMEDOUT:
    return CONTAINER_LATE;
  default:
    return CONTAINER_BROKEN;
  }
}

static struct container_answer
transport_ask (struct container_transport *transport, const struct container_question *question)
{
  struct exchange exchange = {.question = question, .easy = transport->easy};
  struct curl_slist *headers = make_headers (question);
  g_autofree char *url = g_strconcat (HOST, question->path, NULL);
  set_up (&exchange, url, headers);
  CURLcode code = curl_easy_perform (transport->easy);
  struct container_answer answer = {.end = end_of (&exchange, code), .reason = curl_easy_strerror (code)};
  long err = 0;
  curl_easy_getinfo (transport->easy, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_easy_getinfo (transport->easy, CURLINFO_OS_ERRNO, &err);
  answer.err = (int)err;
  /* It keeps the connections, and forgets all else. */
  curl_easy_reset (transport->easy);
  curl_slist_free_all (headers);
  return answer;
}

ADDER_PUBLIC extern const struct container_transport_class adder_containers_transport;
const struct container_transport_class adder_containers_transport = {transport_open, transport_close,
                                                                     transport_ask};
