/* SPDX-License-Identifier: Apache-2.0 */
/* A run over HTTP: the very server of `adder serve`, in this process, on the engine that the library's runs
 * go to, and a client that keeps its connection. The client is a few lines on a socket, so that what is
 * measured is the server and not somebody's HTTP library. */
#include "bench/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "common/json.h"
#include "interfaces/http/http_server.h"
#include "interfaces/mcp/mcp.h"

#define ANSWER_BYTES (1 << 16)

struct bench_http {
  struct service *service;
  struct http_server *server;
  char *authority; /* 127.0.0.1:PORT */
  int fd;
};

/* ---- the server ---- */

static gboolean
reach (struct bench_http *http, GError **error)
{
  g_auto (GStrv) urls = http_server_addresses (http->server);
  const char *url = urls[0];
  http->authority = g_strdup (strstr (url, "://") ? strstr (url, "://") + 3 : url);
  const char *port = strrchr (http->authority, ':');
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port =
                                    htons ((guint16)(port ? g_ascii_strtoull (port + 1, NULL, 10) : 0)),
                                .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
  int one = 1;
  http->fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (http->fd < 0 || connect (http->fd, (struct sockaddr *)&address, sizeof address) < 0 ||
      setsockopt (http->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
    return error_from_errno (error, errno, "cannot connect to %s", url);
  return TRUE;
}

struct bench_http *
bench_http_new (AdderEngine *engine, GError **error)
{
  struct bench_http *http = g_new0 (struct bench_http, 1);
  const struct http_server_options options = {
      .tables = http_all_routes, .listen = "127.0.0.1:0", .shown = TRUE};
  http->fd = -1;
  http->service = service_new (engine);
  http->service->mcp = mcp_server_new (http->service);
  http->server = http_server_new (http->service, &options, error);
  if (!http->server || !reach (http, error))
    g_clear_pointer (&http, bench_http_free);
  return http;
}

void
bench_http_free (struct bench_http *http)
{
  if (!http)
    return;
  fd_close (&http->fd);
  http_server_free (http->server);
  mcp_server_free (http->service->mcp);
  service_free (http->service);
  g_free (http->authority);
  g_free (http);
}

/* ---- the client ---- */

/* The body in ANSWER, of which LENGTH bytes have come; NULL: more is to come. */
static const char *
body_of (const char *answer, gsize length)
{
  const char *end = strstr (answer, "\r\n\r\n");
  const char *declared = end ? strcasestr (answer, "\r\nContent-Length:") : NULL;
  if (!declared || declared > end)
    return NULL;
  gsize head = (gsize)(end + 4 - answer);
  return length - head >= g_ascii_strtoull (declared + strlen ("\r\nContent-Length:"), NULL, 10) ? end + 4
                                                                                                 : NULL;
}

static char *
http_receive (int fd, GError **error)
{
  g_autofree char *answer = g_malloc0 (ANSWER_BYTES + 1);
  gsize length = 0;
  const char *body = NULL;
  while (!body && length < ANSWER_BYTES) {
    ssize_t got = recv (fd, answer + length, ANSWER_BYTES - length, 0);
    if (got <= 0) {
      error_from_errno (error, got < 0 ? errno : EPIPE, "the server of the bench does not answer");
      return NULL;
    }
    length += (gsize)got;
    body = body_of (answer, length);
  }
  if (body && strstr (answer, " 200 ") == answer + strlen ("HTTP/1.1"))
    return g_strdup (body);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the server of the bench answers: %.400s", answer);
  return NULL;
}

gboolean
bench_http_ask (struct bench_http *http, const char *environment, const char *code, double *ret_ms,
                char **ret_result, GError **error)
{
  g_autoptr (json_t) body = json_pack ("{s:s, s:s}", "code", code, "environment", environment);
  g_autofree char *text = json_to_text (body);
  g_autofree char *request =
      g_strdup_printf ("POST /v1/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"
                       "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                       http->authority, http_server_startup_token (http->server), strlen (text), text);
  gint64 start_us = g_get_monotonic_time ();
  int r = fd_write_all (http->fd, request, strlen (request));
  if (r < 0)
    return error_from_errno (error, -r, "cannot ask the server of the bench");
  *ret_result = http_receive (http->fd, error);
  *ret_ms = (double)(g_get_monotonic_time () - start_us) / 1000.0;
  return *ret_result != NULL;
}
