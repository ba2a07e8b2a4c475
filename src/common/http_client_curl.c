/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-http-client: libcurl's multi interface, since its poll also watches the descriptor for
 * cancelling. */
#include <curl/curl.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "adder_types.h"
#include "build-config.h"
#include "common/address.h"
#include "common/http_client.h"
#include "common/trust.h"

/* How long a server may leave a connection open after the complete answer. */
#define LINGER_MS 500

/* Of one wait; whatever happens ends it. */
#define WAIT_MAX_MS 1000

/* Of all headers of an answer: as many as later libcurls take. */
#define HEADER_BYTES (300 * 1024)

/* The first libcurl that signs what S3 wants signed: all headers, and a body that is not in memory. */
#define SIGV4_VERSION 0x075700

struct curl_client {
  struct http_client client;
  CURLM *multi;
  CURL *spare; /* of a request that is done, for the next: it knows what TLS agreed on; or NULL */
  GPtrArray *exchanges;
  GArray *sockets; /* those of its connections (int) */
};

/* An active request. */
struct exchange {
  struct curl_client *client;
  const struct http_client_request *request;
  struct http_response *response;
  CURL *easy;
  struct curl_slist *headers;
  guint64 header_bytes;
  guint64 bytes, taken; /* of the answer, and of those what `took` took */
  gint64 moved;         /* bytes out and in that count, when they were looked at last ... */
  gint64 moved_us;      /* ... and when they were others */
  gint64 paced;         /* the same when its pace was looked at last ... */
  gint64 paced_us;      /* ... and when */
  gint64 came_us;       /* when a piece of the answer came; 0: none did */
  gint64 said_us;       /* when all was said; 0: it was not */
  gboolean is_packed, only_public;
  enum http_end end;    /* why we broke it off */
  const char *obstacle; /* to the address that it was about to ask, or NULL; static */
};

/* ---- beginning and end ---- */

static void
client_close (struct http_client *base)
{
  struct curl_client *client = (struct curl_client *)base;
  curl_easy_cleanup (client->spare);
  curl_multi_cleanup (client->multi);
  g_ptr_array_unref (client->exchanges);
  g_array_unref (client->sockets);
  g_free (client);
}

/* The handle keeps the connections, and forgets all else, keys included. */
static struct http_response *
end_exchange (struct exchange *exchange, enum http_end end, const char *reason)
{
  struct curl_client *client = exchange->client;
  struct http_response *response = exchange->response;
  CURL *easy = exchange->easy;
  const char *location = NULL;
  curl_off_t again_s = 0, length = -1;
  long err = 0;
  curl_easy_getinfo (easy, CURLINFO_RESPONSE_CODE, &response->status);
  curl_easy_getinfo (easy, CURLINFO_RETRY_AFTER, &again_s);
  curl_easy_getinfo (easy, CURLINFO_REDIRECT_URL, &location);
  curl_easy_getinfo (easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  curl_easy_getinfo (easy, CURLINFO_OS_ERRNO, &err);
  response->again_ms = again_s > 0 ? (gint64)MIN (again_s, G_MAXINT) * 1000 : -1;
  response->length = length;
  response->location = g_strdup (location);
  response->err = (int)err;
  response->end = end;
  response->reason = reason;
  response->exchange = NULL;
  curl_multi_remove_handle (client->multi, easy);
  curl_easy_reset (easy);
  if (client->spare)
    curl_easy_cleanup (easy);
  else
    client->spare = easy;
  curl_slist_free_all (exchange->headers);
  g_ptr_array_remove (client->exchanges, exchange);
  g_free (exchange);
  return response;
}

static void
client_stop (struct http_response *response)
{
  end_exchange (response->exchange, HTTP_NONE, "");
}

/* ---- what comes ---- */

static size_t
break_off (struct exchange *exchange, enum http_end end)
{
  exchange->end = end;
  return 0;
}

static size_t
http_client_curl_take (char *bytes, size_t size, size_t count, void *data)
{
  struct exchange *exchange = data;
  const struct http_client_request *request = exchange->request;
  struct http_response *response = exchange->response;
  size_t length = size * count, room = length;
  curl_off_t announced = -1;
  exchange->came_us = g_get_monotonic_time ();
  if (length > request->answer_bytes - exchange->bytes)
    return break_off (exchange, HTTP_LONG);
  if (exchange->is_packed && !request->unpacks)
    return break_off (exchange, HTTP_PACKED);
  exchange->bytes += length;
  curl_easy_getinfo (exchange->easy, CURLINFO_RESPONSE_CODE, &response->status);
  if (!request->took || !http_response_is_yes (response)) {
    if (request->took)
      room = MIN (HTTP_REFUSAL_BYTES - response->body->len, length);
    g_string_append_len (response->body, bytes, (gssize)room);
    return length;
  }
  curl_easy_getinfo (exchange->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
  response->length = announced;
  exchange->taken += length;
  enum http_want want = request->took (request->data, response, bytes, length);
  if (want == HTTP_STOP)
    return break_off (exchange, HTTP_STOPPED);
  if (want == HTTP_NOTHING && exchange->said_us == 0)
    exchange->said_us = exchange->came_us;
  return length;
}

static size_t
http_client_curl_take_header (char *bytes, size_t size, size_t count, void *data)
{
  static const char packed[] = "content-encoding:";
  struct exchange *exchange = data;
  const struct http_client_request *request = exchange->request;
  size_t length = size * count;
  exchange->header_bytes += length;
  if (exchange->header_bytes > HEADER_BYTES)
    return break_off (exchange, HTTP_BROKEN);
  if (length > 5 && memcmp (bytes, "HTTP/", 5) == 0)
    exchange->is_packed = FALSE;
  if (length > strlen (packed) && g_ascii_strncasecmp (bytes, packed, strlen (packed)) == 0) {
    g_autofree char *how = g_strndup (bytes + strlen (packed), length - strlen (packed));
    exchange->is_packed = g_ascii_strcasecmp (g_strstrip (how), "identity") != 0;
  }
  if (request->header)
    request->header (request->data, bytes, length);
  return length;
}

/* ---- what goes ---- */

static size_t
http_client_curl_give (char *bytes, size_t size, size_t count, void *data)
{
  const struct http_client_request *request = ((struct exchange *)data)->request;
  gssize got = request->give (request->data, bytes, size * count);
  return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* libcurl starts over when it has to send on another connection. */
static int
http_client_curl_give_again (void *data, curl_off_t offset, int origin)
{
  const struct http_client_request *request = ((struct exchange *)data)->request;
  if (origin != SEEK_SET || offset != 0 || !request->rewind)
    return CURL_SEEKFUNC_FAIL;
  request->rewind (request->data);
  return CURL_SEEKFUNC_OK;
}

static void
set_body (struct exchange *exchange)
{
  CURL *easy = exchange->easy;
  const struct http_client_request *request = exchange->request;
  if (request->give) {
    curl_easy_setopt (easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt (easy, CURLOPT_READFUNCTION, http_client_curl_give);
    curl_easy_setopt (easy, CURLOPT_READDATA, exchange);
    curl_easy_setopt (easy, CURLOPT_SEEKFUNCTION, http_client_curl_give_again);
    curl_easy_setopt (easy, CURLOPT_SEEKDATA, exchange);
    curl_easy_setopt (easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->length);
  } else if (request->body) {
    curl_easy_setopt (easy, CURLOPT_POSTFIELDS, request->body);
    curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
  }
  if (g_strcmp0 (request->method, "HEAD") == 0)
    curl_easy_setopt (easy, CURLOPT_NOBODY, 1L);
  else
    curl_easy_setopt (easy, CURLOPT_CUSTOMREQUEST, request->method);
  if (request->go_on_ms > 0)
    curl_easy_setopt (easy, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)request->go_on_ms);
}

/* ---- public hosts ----
 *
 * What is asked of public hosts alone is looked at by the address that it would connect to, so that it does
 * not matter what a name server says when. Behind a proxy it is the proxy who looks names up and decides what
 * may be reached; it is given every such request, for an exception (no_proxy) is a host of one's own. */

static const char *
http_client_curl_set_obstacle (struct exchange *exchange, gboolean known, const struct address *address)
{
  exchange->obstacle = known ? address_obstacle (address, NULL) : "an address of an unknown kind";
  return exchange->obstacle;
}

static curl_socket_t
open_socket (void *data, G_GNUC_UNUSED curlsocktype purpose, struct curl_sockaddr *to)
{
  struct exchange *exchange = data;
  if (exchange->only_public) {
    struct address address;
    gboolean known = address_from_socket (&to->addr, &address);
    if (http_client_curl_set_obstacle (exchange, known, &address))
      return CURL_SOCKET_BAD;
  }
  int fd = socket (to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
  if (fd >= 0)
    g_array_append_val (exchange->client->sockets, fd);
  return fd;
}

static int
close_socket (void *data, curl_socket_t fd)
{
  GArray *sockets = ((struct curl_client *)data)->sockets;
  for (guint i = 0; i < sockets->len; i++)
    if (g_array_index (sockets, int, i) == fd) {
      g_array_remove_index_fast (sockets, i);
      break;
    }
  return close (fd);
}

/* The connection may have been made for a configured host. */
static int
look_at_peer (void *data, char *peer, G_GNUC_UNUSED char *own, G_GNUC_UNUSED int peer_port,
              G_GNUC_UNUSED int own_port)
{
  struct address address;
  gboolean known = address_parse (peer, &address);
  return http_client_curl_set_obstacle (data, known, &address) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* The proxy that the environment has for URL, by curl's rules; or NULL. */
static const char *
proxy_for (const char *url)
{
  static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
  static const char *const secure[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL};
  for (const char *const *name = g_str_has_prefix (url, "https:") ? secure : plain; *name; name++) {
    const char *proxy = g_getenv (*name);
    if (proxy && proxy[0])
      return proxy;
  }
  return NULL;
}

static void
keep_to_public_hosts (struct exchange *exchange)
{
  CURL *easy = exchange->easy;
  const char *proxy = proxy_for (exchange->request->url);
  curl_easy_setopt (easy, CURLOPT_PROXY, proxy ? proxy : "");
  curl_easy_setopt (easy, CURLOPT_NOPROXY, "");
  if (proxy)
    return;
  exchange->only_public = TRUE;
  curl_easy_setopt (easy, CURLOPT_PREREQFUNCTION, look_at_peer);
  curl_easy_setopt (easy, CURLOPT_PREREQDATA, exchange);
}

/* ---- the way ---- */

static void
set_protocols (CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt (easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* NULL would be none, not libcurl's own. */
static void
set_trust (CURL *easy, const char *ca_file)
{
  struct trust trust = {.file = ca_file};
  if (!ca_file)
    trust = trust_find ();
  if (trust.file)
    curl_easy_setopt (easy, CURLOPT_CAINFO, trust.file);
  if (trust.directory)
    curl_easy_setopt (easy, CURLOPT_CAPATH, trust.directory);
}

static void
set_way (struct exchange *exchange)
{
  CURL *easy = exchange->easy;
  const struct http_client_request *request = exchange->request;
  set_protocols (easy);
  curl_easy_setopt (easy, CURLOPT_URL, request->url);
  /* Newer versions sign no path that is taken as it is. */
  curl_easy_setopt (easy, CURLOPT_PATH_AS_IS, request->sigv4 ? 0L : 1L);
  curl_easy_setopt (easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  /* A name server may never answer: cancelling does not wait for it. */
  curl_easy_setopt (easy, CURLOPT_QUICK_EXIT, 1L);
#endif
  curl_easy_setopt (easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
  curl_easy_setopt (easy, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket);
  curl_easy_setopt (easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt (easy, CURLOPT_OPENSOCKETDATA, exchange);
  curl_easy_setopt (easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
  curl_easy_setopt (easy, CURLOPT_CLOSESOCKETDATA, exchange->client);
  if (request->is_old)
    curl_easy_setopt (easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  set_trust (easy, request->ca_file);
  if (request->only_public)
    keep_to_public_hosts (exchange);
  else
    curl_easy_setopt (easy, CURLOPT_PROXY, request->unix_socket ? "" : request->proxy);
}

static void
set_names (struct exchange *exchange)
{
  CURL *easy = exchange->easy;
  const struct http_client_request *request = exchange->request;
  /* We would wait for a server that does not know "Expect". */
  if (request->go_on_ms == 0)
    exchange->headers = curl_slist_append (NULL, "Expect:");
  for (gsize i = 0; request->headers && request->headers[i]; i++)
    exchange->headers = curl_slist_append (exchange->headers, request->headers[i]);
  curl_easy_setopt (easy, CURLOPT_HTTPHEADER, exchange->headers);
  curl_easy_setopt (easy, CURLOPT_USERAGENT, "adder/" ADDER_VERSION);
  curl_easy_setopt (easy, CURLOPT_USERNAME, request->user);
  curl_easy_setopt (easy, CURLOPT_PASSWORD, request->password);
  if (request->sigv4)
    curl_easy_setopt (easy, CURLOPT_AWS_SIGV4, request->sigv4);
}

static void
client_start (struct http_client *base, const struct http_client_request *request,
              struct http_response *response)
{
  struct curl_client *client = (struct curl_client *)base;
  struct exchange *exchange = g_new (struct exchange, 1);
  CURL *easy = g_steal_pointer (&client->spare);
  if (!easy)
    easy = curl_easy_init ();
  *exchange = (struct exchange){.client = client,
                                .request = request,
                                .response = response,
                                .easy = easy,
                                .moved_us = g_get_monotonic_time (),
                                .paced_us = g_get_monotonic_time ()};
  response->exchange = exchange;
  set_way (exchange);
  set_names (exchange);
  set_body (exchange);
  if (request->unpacks)
    curl_easy_setopt (easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, http_client_curl_take);
  curl_easy_setopt (easy, CURLOPT_WRITEDATA, exchange);
  curl_easy_setopt (easy, CURLOPT_HEADERFUNCTION, http_client_curl_take_header);
  curl_easy_setopt (easy, CURLOPT_HEADERDATA, exchange);
  curl_easy_setopt (easy, CURLOPT_PRIVATE, exchange);
  g_ptr_array_add (client->exchanges, exchange);
  curl_multi_add_handle (client->multi, easy);
}

/* ---- how it ends ---- */

static const struct {
  CURLcode code;
  enum http_end end;
  enum http_cause cause;
} curl_ends[] = {
    {CURLE_OK, HTTP_ARRIVED, HTTP_CAUSE_UNKNOWN},
    {CURLE_COULDNT_RESOLVE_HOST, HTTP_UNREACHABLE, HTTP_NO_HOST},
    {CURLE_COULDNT_RESOLVE_PROXY, HTTP_UNREACHABLE, HTTP_NO_PROXY},
    {CURLE_COULDNT_CONNECT, HTTP_UNREACHABLE, HTTP_NO_SERVER},
    {CURLE_PROXY, HTTP_UNREACHABLE, HTTP_CAUSE_UNKNOWN},
    {CURLE_OPERATION_TIMEDOUT, HTTP_SLOW, HTTP_CAUSE_UNKNOWN},
    {CURLE_PEER_FAILED_VERIFICATION, HTTP_UNTRUSTED, HTTP_NO_TRUST},
    {CURLE_SSL_CONNECT_ERROR, HTTP_UNTRUSTED, HTTP_NO_TLS},
    {CURLE_SSL_CERTPROBLEM, HTTP_UNTRUSTED, HTTP_CAUSE_UNKNOWN},
    {CURLE_SSL_CIPHER, HTTP_UNTRUSTED, HTTP_CAUSE_UNKNOWN},
    {CURLE_SSL_ISSUER_ERROR, HTTP_UNTRUSTED, HTTP_CAUSE_UNKNOWN},
    {CURLE_SSL_CACERT_BADFILE, HTTP_UNFIT, HTTP_NO_CA_FILE},
    {CURLE_BAD_FUNCTION_ARGUMENT, HTTP_UNFIT, HTTP_CAUSE_UNKNOWN},
    {CURLE_URL_MALFORMAT, HTTP_UNFIT, HTTP_CAUSE_UNKNOWN},
    {CURLE_GOT_NOTHING, HTTP_BROKEN, HTTP_NO_ANSWER},
    {CURLE_SEND_ERROR, HTTP_BROKEN, HTTP_CUT},
    {CURLE_RECV_ERROR, HTTP_BROKEN, HTTP_CUT},
    {CURLE_PARTIAL_FILE, HTTP_BROKEN, HTTP_CUT},
    {CURLE_SEND_FAIL_REWIND, HTTP_BROKEN, HTTP_CUT},
    {CURLE_UNSUPPORTED_PROTOCOL, HTTP_BROKEN, HTTP_ALIEN}, /* of an answer: users check their URLs */
    {CURLE_WEIRD_SERVER_REPLY, HTTP_BROKEN, HTTP_ALIEN},
};

static enum http_end
end_of (const struct exchange *exchange, CURLcode code, enum http_cause *ret_cause)
{
  if (exchange->end != HTTP_NONE)
    return exchange->end;
  if (exchange->said_us > 0)
    return HTTP_ARRIVED;
  if (code != CURLE_OK && exchange->obstacle)
    return HTTP_REFUSED;
  for (gsize i = 0; i < G_N_ELEMENTS (curl_ends); i++)
    if (curl_ends[i].code == code) {
      *ret_cause = curl_ends[i].cause;
      return curl_ends[i].end;
    }
  return HTTP_BROKEN;
}

static struct http_response *
http_client_curl_finish (const CURLMsg *message)
{
  struct exchange *exchange = NULL;
  CURLcode code = message->data.result;
  curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE, &exchange);
  enum http_end end = end_of (exchange, code, &exchange->response->cause);
  return end_exchange (exchange, end,
                       end == HTTP_REFUSED  ? exchange->obstacle
                       : end == HTTP_PACKED ? "the answer is compressed, which was not requested"
                                            : curl_easy_strerror (code));
}

/* The part of the sent data that the other side has received. The kernel takes megabytes at once and then, on
 * a slow connection, none for minutes, while they are still being sent. */
static gint64
acknowledged (const struct exchange *exchange)
{
  const GArray *sockets = exchange->client->sockets;
  curl_off_t sent = 0;
  curl_easy_getinfo (exchange->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
  /* libcurl tells of no exchange which socket it has; those of others have next to nothing queued. */
  for (guint i = 0; i < sockets->len; i++) {
    int queued = 0;
    if (ioctl (g_array_index (sockets, int, i), SIOCOUTQ, &queued) == 0)
      sent -= queued;
  }
  return sent;
}

static gint64
last_move (struct exchange *exchange)
{
  gint64 moved = (gint64)exchange->taken + acknowledged (exchange);
  if (moved != exchange->moved) {
    exchange->moved = moved;
    exchange->moved_us = g_get_monotonic_time ();
  }
  return exchange->moved_us;
}

/* From when on its pace is measured: a time in which enough moved is followed by the next. 0: it is not. */
static gint64
last_pace (struct exchange *exchange)
{
  const struct http_client_request *request = exchange->request;
  gint64 now_us = g_get_monotonic_time ();
  if (request->slow_s == 0 || request->slow_bytes == 0)
    return 0;
  gint64 moved = (gint64)exchange->bytes + acknowledged (exchange);
  if (moved - exchange->paced >= (gint64)(request->slow_bytes * request->slow_s)) {
    exchange->paced = moved;
    exchange->paced_us = now_us;
  }
  return exchange->paced_us;
}

/* Until when is waited, and what it is when nothing came until then. */
static gint64
patience (struct exchange *exchange, enum http_end *ret_end)
{
  const struct http_client_request *request = exchange->request;
  const struct {
    gint64 from_us;
    guint64 ms;
    enum http_end end;
  } limits[] = {
      {exchange->came_us, request->idle_ms, HTTP_IDLE},
      {last_move (exchange), request->stall_ms, HTTP_STALLED},
      {last_pace (exchange), MIN (request->slow_s, G_MAXINT32 / 1000) * 1000, HTTP_SLOW},
      {exchange->said_us, LINGER_MS, HTTP_ARRIVED},
  };
  gint64 until = request->deadline_us > 0 ? request->deadline_us : G_MAXINT64;
  *ret_end = HTTP_LATE;
  for (gsize i = 0; i < G_N_ELEMENTS (limits); i++) {
    gint64 most = limits[i].from_us + (gint64)MIN (limits[i].ms, G_MAXINT32) * 1000;
    if (limits[i].from_us == 0 || limits[i].ms == 0 || most >= until)
      continue;
    until = most;
    *ret_end = limits[i].end;
  }
  if (exchange->said_us > 0)
    *ret_end = HTTP_ARRIVED;
  return until;
}

/* One whose patience is at its end; NULL: none. *UNTIL_US is no later than when that of another is. */
static struct http_response *
find_overdue (struct curl_client *client, gint64 *until_us)
{
  for (guint i = 0; i < client->exchanges->len; i++) {
    enum http_end end;
    gint64 until = patience (client->exchanges->pdata[i], &end);
    if (until <= g_get_monotonic_time ())
      return end_exchange (client->exchanges->pdata[i], end, curl_easy_strerror (CURLE_OPERATION_TIMEDOUT));
    *until_us = MIN (*until_us, until);
  }
  return NULL;
}

static struct http_response *
client_wait (struct http_client *base, gint64 until_us, int cancel_fd)
{
  struct curl_client *client = (struct curl_client *)base;
  for (;;) {
    int running = 0, left = 0;
    CURLMcode code = curl_multi_perform (client->multi, &running);
    if (code != CURLM_OK && client->exchanges->len > 0)
      return end_exchange (client->exchanges->pdata[0], HTTP_BROKEN, curl_multi_strerror (code));
    const CURLMsg *message = curl_multi_info_read (client->multi, &left);
    if (message && message->msg == CURLMSG_DONE)
      return http_client_curl_finish (message);
    gint64 next_us = until_us;
    struct http_response *overdue = find_overdue (client, &next_us);
    if (overdue)
      return overdue;
    if (until_us <= g_get_monotonic_time ())
      return NULL;
    gint64 left_us = MAX (next_us - g_get_monotonic_time (), 0);
    struct curl_waitfd watched = {.fd = cancel_fd, .events = CURL_WAIT_POLLIN};
    curl_multi_poll (client->multi, &watched, cancel_fd >= 0 ? 1 : 0,
                     (int)MIN (left_us / 1000 + 1, WAIT_MAX_MS), NULL);
    if (watched.revents)
      return NULL;
  }
}

ADDER_PUBLIC extern const struct http_client_class adder_http_client;

static struct http_client *
client_open (void)
{
  static gsize started = 0;
  if (g_once_init_enter (&started)) {
    curl_global_init (CURL_GLOBAL_DEFAULT);
    g_once_init_leave (&started, 1);
  }
  struct curl_client *client = g_new (struct curl_client, 1);
  gboolean signs = curl_version_info (CURLVERSION_NOW)->version_num >= SIGV4_VERSION;
  *client = (struct curl_client){.client = {.class = &adder_http_client, .signs = signs},
                                 .multi = curl_multi_init (),
                                 .exchanges = g_ptr_array_new (),
                                 .sockets = g_array_new (FALSE, FALSE, sizeof (int))};
  return &client->client;
}

const struct http_client_class adder_http_client = {client_open, client_close, client_start, client_stop,
                                                    client_wait};
