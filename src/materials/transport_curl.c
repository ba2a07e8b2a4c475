/* SPDX-License-Identifier: Apache-2.0 */
/* The module adder-materials: libcurl's multi interface. No redirect is followed, because a key would go
 * wherever it leads, and so would a search: who asks looks at where it is first.
 *
 * What is asked of public hosts alone is looked at by the address that it would connect to, so that it does
 * not matter what a name server says when. Behind a proxy it is the proxy who looks names up and decides what
 * may be reached; it is given every such request, for an exception (no_proxy) is a host of one's own. */
#include <curl/curl.h>

#include "adder.h"
#include "build-config.h"
#include "common/address.h"
#include "materials/transport.h"

#define CONNECT_MS   15000L
#define WAIT_MOST_MS 1000
#define SLOW_BYTES   1L  /* a second, for so long: */
#define SLOW_S       60L /* then a connection is given up */

struct materials_transport {
  CURLM *multi;
};

struct carrier {
  CURL *easy;
  struct curl_slist *headers;
  struct get *get;
  gboolean is_long;
  const char *obstacle; /* to the address that it was about to ask, or NULL; static */
};

static struct materials_transport *
transport_open (void)
{
  static gsize started = 0;
  if (g_once_init_enter (&started)) {
    curl_global_init (CURL_GLOBAL_DEFAULT);
    g_once_init_leave (&started, 1);
  }
  struct materials_transport *transport = g_new0 (struct materials_transport, 1);
  transport->multi = curl_multi_init ();
  return transport;
}

static void
carrier_end (struct materials_transport *transport, struct carrier *carrier)
{
  curl_multi_remove_handle (transport->multi, carrier->easy);
  curl_easy_cleanup (carrier->easy);
  curl_slist_free_all (carrier->headers);
  carrier->get->carrier = NULL;
  g_free (carrier);
}

static size_t
take (char *bytes, size_t size, size_t count, void *data)
{
  struct carrier *carrier = data;
  size_t length = size * count;
  carrier->is_long = length > carrier->get->answer_bytes - carrier->get->body->len;
  if (carrier->is_long)
    return 0;
  g_string_append_len (carrier->get->body, bytes, (gssize)length);
  return length;
}

static struct curl_slist *
make_headers (const struct get *get)
{
  struct curl_slist *headers = curl_slist_append (NULL, "Accept: application/vnd.api+json, application/json");
  if (get->key) {
    g_autofree char *line = g_strconcat ("X-API-KEY: ", get->key, NULL);
    headers = curl_slist_append (headers, line);
  }
  return headers;
}

/* ---- public hosts ---- */

static const char *
set_obstacle (struct carrier *carrier, gboolean known, const struct address *address)
{
  carrier->obstacle = known ? address_obstacle (address, NULL) : "an address of an unknown kind";
  return carrier->obstacle;
}

static curl_socket_t
open_socket (void *data, G_GNUC_UNUSED curlsocktype purpose, struct curl_sockaddr *to)
{
  struct address address;
  gboolean known = address_from_socket (&to->addr, &address);
  if (set_obstacle (data, known, &address))
    return CURL_SOCKET_BAD;
  return socket (to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* The connection may be one that was made for a host that is named in the configuration. */
static int
look_at_peer (void *data, char *peer, G_GNUC_UNUSED char *own, G_GNUC_UNUSED int peer_port,
              G_GNUC_UNUSED int own_port)
{
  struct address address;
  gboolean known = address_parse (peer, &address);
  return set_obstacle (data, known, &address) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
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
keep_to_public_hosts (struct carrier *carrier)
{
  CURL *easy = carrier->easy;
  const char *proxy = proxy_for (carrier->get->url);
  curl_easy_setopt (easy, CURLOPT_PROXY, proxy ? proxy : "");
  curl_easy_setopt (easy, CURLOPT_NOPROXY, "");
  if (proxy)
    return;
  curl_easy_setopt (easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt (easy, CURLOPT_OPENSOCKETDATA, carrier);
  curl_easy_setopt (easy, CURLOPT_PREREQFUNCTION, look_at_peer);
  curl_easy_setopt (easy, CURLOPT_PREREQDATA, carrier);
}

/* ---- asking ---- */

static void
transport_start (struct materials_transport *transport, struct get *get)
{
  struct carrier *carrier = g_new0 (struct carrier, 1);
  gint64 left_ms = MAX ((get->deadline_us - g_get_monotonic_time ()) / 1000, 1);
  CURL *easy = curl_easy_init ();
  *carrier = (struct carrier){easy, make_headers (get), get, FALSE, NULL};
  get_clear (get);
  get->body = g_string_new (NULL);
  get->carrier = carrier;
  curl_easy_setopt (easy, CURLOPT_URL, get->url);
  curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt (easy, CURLOPT_USERAGENT, "adder/" ADDER_VERSION);
  curl_easy_setopt (easy, CURLOPT_HTTPHEADER, carrier->headers);
  curl_easy_setopt (easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
  curl_easy_setopt (easy, CURLOPT_TIMEOUT_MS, (long)MIN (left_ms, G_MAXINT));
  curl_easy_setopt (easy, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
  curl_easy_setopt (easy, CURLOPT_LOW_SPEED_TIME, SLOW_S);
  curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt (easy, CURLOPT_WRITEDATA, carrier);
  curl_easy_setopt (easy, CURLOPT_PRIVATE, carrier);
  if (get->only_public)
    keep_to_public_hosts (carrier);
  curl_multi_add_handle (transport->multi, easy);
}

static const struct {
  CURLcode code;
  enum get_end end;
} curl_ends[] = {
    {CURLE_OK, GET_ARRIVED},
    {CURLE_COULDNT_RESOLVE_HOST, GET_UNREACHABLE},
    {CURLE_COULDNT_RESOLVE_PROXY, GET_UNREACHABLE},
    {CURLE_COULDNT_CONNECT, GET_UNREACHABLE},
    {CURLE_OPERATION_TIMEDOUT, GET_LATE},
    {CURLE_PEER_FAILED_VERIFICATION, GET_UNTRUSTED},
    {CURLE_SSL_CONNECT_ERROR, GET_UNTRUSTED},
    {CURLE_SSL_ISSUER_ERROR, GET_UNTRUSTED},
};

static enum get_end
end_of (const struct carrier *carrier, CURLcode code)
{
  if (carrier->is_long)
    return GET_LONG;
  if (code != CURLE_OK && carrier->obstacle)
    return GET_REFUSED;
  for (gsize i = 0; i < G_N_ELEMENTS (curl_ends); i++)
    if (curl_ends[i].code == code)
      return curl_ends[i].end;
  return GET_BROKEN;
}

static struct get *
finish (struct materials_transport *transport, const CURLMsg *message)
{
  struct carrier *carrier = NULL;
  const char *location = NULL;
  curl_off_t again_s = 0;
  CURLcode code = message->data.result;
  curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE, &carrier);
  struct get *get = carrier->get;
  curl_easy_getinfo (carrier->easy, CURLINFO_RESPONSE_CODE, &get->status);
  curl_easy_getinfo (carrier->easy, CURLINFO_RETRY_AFTER, &again_s);
  curl_easy_getinfo (carrier->easy, CURLINFO_REDIRECT_URL, &location);
  get->again_ms = again_s > 0 ? (gint64)MIN (again_s, G_MAXINT) * 1000 : -1;
  get->location = g_strdup (location);
  get->end = end_of (carrier, code);
  get->reason = get->end == GET_REFUSED ? carrier->obstacle : curl_easy_strerror (code);
  carrier_end (transport, carrier);
  return get;
}

static struct get *
transport_wait (struct materials_transport *transport, gint64 until_us, int cancel_fd)
{
  for (;;) {
    int running = 0, left = 0;
    if (curl_multi_perform (transport->multi, &running) != CURLM_OK)
      return NULL;
    const CURLMsg *message = curl_multi_info_read (transport->multi, &left);
    if (message && message->msg == CURLMSG_DONE)
      return finish (transport, message);
    gint64 left_us = until_us - g_get_monotonic_time ();
    if (left_us <= 0)
      return NULL;
    struct curl_waitfd watched = {.fd = cancel_fd, .events = CURL_WAIT_POLLIN};
    curl_multi_poll (transport->multi, &watched, cancel_fd >= 0 ? 1 : 0,
                     (int)MIN ((left_us + 999) / 1000, WAIT_MOST_MS), NULL);
    if (watched.revents)
      return NULL;
  }
}

static void
transport_stop (struct materials_transport *transport, struct get *get)
{
  if (get->carrier)
    carrier_end (transport, get->carrier);
}

static void
transport_close (struct materials_transport *transport)
{
  curl_multi_cleanup (transport->multi);
  g_free (transport);
}

ADDER_PUBLIC extern const struct materials_transport_class adder_materials_transport;
const struct materials_transport_class adder_materials_transport = {
    transport_open, transport_close, transport_start, transport_stop, transport_wait};
