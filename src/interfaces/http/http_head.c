/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the first line and headers, before any of the body is read: whether the request is unambiguous,
 * what it is for, who the caller is, and whether they are allowed. */
#include <string.h>

#include "interfaces/http/http_multipart.h"
#include "interfaces/http/http_private.h"

#define HEADERS_MAX        100
#define BODY_OF_A_STRANGER 8192

/* ---- framing ---- */

/* Headers that decide where a request ends, what it is for, and who the caller is: servers on the way could
 * read duplicates differently. */
static const char *const only_once[] = {
    "Host",           "Content-Length",   "Transfer-Encoding",
    "Content-Type",   "Authorization",    "Adder-On-Behalf-Of",
    "Origin",         "Content-Encoding", "Expect",
    "Range",          "Mcp-Session-Id",   "Cookie",
    "Sec-Fetch-Site", "Sec-Fetch-Mode",   NULL,
};

static void
http_head_add_header (gpointer data, const char *name, const char *value)
{
  struct http_request *request = data;
  struct http_header *header = g_new (struct http_header, 1);
  *header = (struct http_header){g_strdup (name), g_strdup (value)};
  g_ptr_array_add (request->headers, header);
}

static guint
http_head_count_of (const struct http_request *request, const char *name)
{
  guint count = 0;
  for (guint i = 0; i < request->headers->len; i++) {
    const struct http_header *header = g_ptr_array_index (request->headers, i);
    count += g_ascii_strcasecmp (header->name, name) == 0;
  }
  return count;
}

/* RFC 9110, section 5.6.2. */
static gboolean
is_token (const char *text)
{
  for (const char *at = text; *at; at++)
    if (!g_ascii_isalnum (*at) && !strchr ("!#$%&'*+-.^_`|~", *at))
      return FALSE;
  return *text != '\0';
}

static gboolean
http_head_is_digits (const char *text)
{
  return *text != '\0' && strspn (text, "0123456789") == strlen (text);
}

/* An ambiguous request ends its connection. */
static gboolean
refuse_framing (struct http_request *request, int status, const char *detail)
{
  request->close_after = TRUE;
  http_reply_fault (request, status, "%s", detail);
  return FALSE;
}

static gboolean
check_headers (struct http_request *request)
{
  const struct http_connection *connection = request->connection;
  if (request->server->wire->is_ambiguous (connection->wire))
    return refuse_framing (
        request, 400,
        "the first line and the headers must end with CR LF each, be one line each, and have no zero byte");
  if (request->headers->len > HEADERS_MAX)
    return refuse_framing (request, 431, "the request has more than 100 headers");
  for (guint i = 0; i < request->headers->len; i++) {
    const struct http_header *header = g_ptr_array_index (request->headers, i);
    if (!is_token (header->name) || strpbrk (header->value, "\r\n"))
      return refuse_framing (request, 400, "a header is not as HTTP has them");
  }
  for (gsize i = 0; only_once[i]; i++)
    if (http_head_count_of (request, only_once[i]) > 1) {
      request->close_after = TRUE;
      http_reply_fault (request, 400, "the header %s occurs twice", only_once[i]);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_framing (struct http_request *request)
{
  const char *length = http_header (request, "Content-Length");
  const char *coding = http_header (request, "Transfer-Encoding");
  const char *expect = http_header (request, "Expect");
  if (length && coding)
    return refuse_framing (request, 400, "Content-Length and Transfer-Encoding contradict each other");
  if (length && !http_head_is_digits (length))
    return refuse_framing (request, 400, "Content-Length is no number");
  if (coding && request->old_version)
    return refuse_framing (request, 400, "HTTP/1.0 has no Transfer-Encoding");
  if (coding && g_ascii_strcasecmp (coding, "chunked") != 0)
    return refuse_framing (request, 501, "the only Transfer-Encoding that is understood is chunked");
  if (!http_coding_begin (request)) {
    http_set_header (request, "Accept-Encoding", "gzip, identity");
    return refuse_framing (request, 415, "the only Content-Encoding of a body that is understood is gzip");
  }
  if (expect && g_ascii_strcasecmp (expect, "100-continue") != 0)
    return refuse_framing (request, 417, "the only thing to Expect is 100-continue");
  if (!request->old_version && !http_header (request, "Host"))
    return refuse_framing (request, 400, "the header Host is missing");
  return TRUE;
}

/* ---- the target ---- */

/* "/path?query", or the same after "http://host", which clients of proxies send. */
static gboolean
take_target (struct http_request *request)
{
  const char *at = request->target;
  if (g_ascii_strncasecmp (at, "http://", 7) == 0 || g_ascii_strncasecmp (at, "https://", 8) == 0) {
    const char *host = http_header (request, "Host");
    at = strstr (at, "//") + 2;
    gsize named = strcspn (at, "/?");
    if (host && (strlen (host) != named || g_ascii_strncasecmp (at, host, named) != 0))
      return refuse_framing (request, 400, "the request's target and the header Host name two hosts");
    at += named;
    if (*at == '\0')
      at = "/";
  }
  if (*at != '/')
    return refuse_framing (request, 400, "the request's target is no path");
  for (const char *c = at; *c; c++)
    if ((guchar)*c <= ' ' || (guchar)*c >= 0x7f || *c == '#')
      return refuse_framing (request, 400, "the request's target has characters that must be encoded");
  gsize length = strcspn (at, "?");
  request->path = g_strndup (at, length);
  request->query_text = at[length] == '?' ? g_strdup (at + length + 1) : NULL;
  return TRUE;
}

/* ---- content ---- */

/* Whether the list ACCEPT, of ranges with q=, allows TYPE. */
static gboolean
http_head_accepts (const char *accept, const char *type)
{
  gsize main_length = strcspn (type, "/") + 1, best = 0;
  gboolean allowed = FALSE;
  g_auto (GStrv) ranges = g_strsplit (accept, ",", -1);
  for (gsize i = 0; ranges[i]; i++) {
    char *parameters = strchr (ranges[i], ';');
    if (parameters)
      *parameters++ = '\0';
    const char *range = g_strstrip (ranges[i]);
    gsize fit = 0;
    if (g_ascii_strcasecmp (range, type) == 0)
      fit = 3;
    else if (g_ascii_strncasecmp (range, type, main_length) == 0 && strcmp (range + main_length, "*") == 0)
      fit = 2;
    else if (strcmp (range, "*/*") == 0)
      fit = 1;
    if (fit == 0 || fit < best)
      continue;
    const char *quality = parameters ? strstr (parameters, "q=") : NULL;
    best = fit;
    allowed = !quality || g_ascii_strtod (quality + 2, NULL) > 0;
  }
  return allowed;
}

/* A reply of a file has whatever type the file has. */
static gboolean
check_accept (struct http_request *request)
{
  const struct http_route *route = request->route;
  const char *accept = http_header (request, "Accept");
  const char *types = route->reply_type ? route->reply_type : "application/json";
  gboolean ok = !accept || *accept == '\0' || strchr (types, '*') ||
                ((route->flags & HTTP_STREAMS) && http_head_accepts (accept, "text/event-stream"));
  g_auto (GStrv) each = g_strsplit (types, " ", -1);
  for (gsize i = 0; !ok && each[i]; i++)
    ok = http_head_accepts (accept, each[i]);
  if (!ok)
    http_reply_fault (request, 406, "the reply is %s%s, which Accept does not allow", types,
                      route->flags & HTTP_STREAMS ? " or text/event-stream" : "");
  return ok;
}

static gboolean
http_head_is_type (const char *header, const char *type)
{
  g_autofree char *plain = g_strndup (header, strcspn (header, ";"));
  return g_ascii_strcasecmp (g_strstrip (plain), type) == 0;
}

static gboolean
http_head_has_body (const struct http_request *request)
{
  const char *length = http_header ((struct http_request *)request, "Content-Length");
  return http_header ((struct http_request *)request, "Transfer-Encoding") ||
         (length && strspn (length, "0") != strlen (length));
}

/* JSON is UTF-8 and has no charset (RFC 8259, section 11); another charset would be misread. */
static gboolean
check_charset (struct http_request *request, const char *type)
{
  g_autofree char *charset = http_parameter_of (type, "charset");
  if (!charset || g_ascii_strcasecmp (charset, "utf-8") == 0)
    return TRUE;
  http_reply_fault (request, 415, "the body must be JSON in UTF-8");
  return FALSE;
}

static gboolean
check_type (struct http_request *request)
{
  const struct http_route *route = request->route;
  const char *type = http_header (request, "Content-Type");
  if (!http_head_has_body (request) || (route->flags & HTTP_RAW_BODY))
    return TRUE;
  if (!(route->flags & HTTP_MULTIPART)) {
    if (type && http_head_is_type (type, "application/json"))
      return check_charset (request, type);
    http_reply_fault (request, 415, "the body must be application/json, and the header Content-Type %s",
                      type ? "says another" : "is missing");
    return FALSE;
  }
  if (type && http_head_is_type (type, "multipart/form-data")) {
    g_autoptr (GError) problem = NULL;
    request->multipart = http_multipart_new (type, &problem);
    if (request->multipart)
      return TRUE;
    http_reply_problem (request, problem);
    return FALSE;
  }
  http_reply_fault (request, 415, "the body must be multipart/form-data%s",
                    type ? "" : ": Content-Type is missing");
  return FALSE;
}

static gboolean
http_head_check_length (struct http_request *request)
{
  const struct config *config = request->server->config;
  const char *length = http_header (request, "Content-Length");
  request->body_most = request->route->flags & HTTP_MULTIPART
                           ? MIN (config->http_upload_bytes, quota_owner_most (request->server->disk))
                           : config->http_body_bytes;
  /* Anonymous callers must not use up the shared memory for bodies: no route open to them has one. */
  if (request->route->flags & HTTP_OPEN)
    request->body_most = MIN (request->body_most, BODY_OF_A_STRANGER);
  /* More digits than a number can hold exceed any limit. */
  if (!length || (strlen (length) < 19 && g_ascii_strtoull (length, NULL, 10) <= request->body_most))
    return TRUE;
  request->close_after = TRUE;
  http_reply_fault (request, 413, "the body may have at most %" G_GUINT64_FORMAT " bytes",
                    request->body_most);
  return FALSE;
}

/* ---- authentication and authorization ---- */

void
http_facts (struct http_request *request, struct identify_facts *ret_facts)
{
  struct http_connection *connection = request->connection;
  *ret_facts = (struct identify_facts){
      .fd = connection->socket->fd,
      .tls = connection->listener->tls,
      .peer = &connection->account,
      .method = request->method,
      .path = request->path,
      .host = http_header (request, "Host"),
      .origin = http_header (request, "Origin"),
      .authorization = http_header (request, "Authorization"),
      .user = http_header (request, "Adder-On-Behalf-Of"),
      .wanted_method = http_header (request, "Access-Control-Request-Method"),
      .wanted_headers = http_header (request, "Access-Control-Request-Headers"),
      .cookies = http_header (request, "Cookie"),
      .fetch_site = http_header (request, "Sec-Fetch-Site"),
      .fetch_mode = http_header (request, "Sec-Fetch-Mode"),
      .route = request->route,
  };
}

void
http_set_identity_headers (struct http_request *request, const struct identity *identity)
{
  const GPtrArray *headers = identity->headers;
  for (guint i = 0; headers && i + 1 < headers->len; i += 2)
    http_set_header (request, g_ptr_array_index (headers, i), g_ptr_array_index (headers, i + 1));
}

static gboolean
identify (struct http_request *request)
{
  struct identify_facts facts;
  if (request->connection->vouched) {
    request->identity.who = principal_ref (request->connection->vouched);
    request->identified = TRUE;
    return TRUE;
  }
  http_facts (request, &facts);
  request->identified = TRUE;
  gboolean ok = identify_request (request->server->identify, &facts, &request->identity);
  http_set_identity_headers (request, &request->identity);
  if (ok && http_access_begin (request))
    return TRUE;
  if (ok)
    http_access_refuse (request);
  else if (request->identity.problem)
    http_reply_problem_status (request, request->identity.status, request->identity.problem);
  else
    http_reply_status (request, request->identity.status);
  return FALSE;
}

/* No matching row: 404, 405, or the reply to OPTIONS. */
static void
reply_without_route (struct http_request *request, const char *allow)
{
  if (!allow) {
    http_reply_fault (request, 404, "there is nothing at %s; /openapi.json says what there is",
                      request->path);
    return;
  }
  http_set_header (request, "Allow", allow);
  if (strcmp (request->method, "OPTIONS") == 0)
    http_reply_status (request, 204);
  else
    http_reply_fault (request, 405, "%s is not for %s, but %s", request->method, request->path, allow);
}

static gboolean
is_ending (struct http_server *server)
{
  g_mutex_lock (&server->lock);
  gboolean ending = server->ending;
  g_mutex_unlock (&server->lock);
  return ending;
}

gboolean
http_head_check (struct http_request *request, const char *method, const char *version)
{
  struct http_server *server = request->server;
  g_autofree char *allow = NULL;
  request->method = g_strdup (method);
  request->head_only = strcmp (method, "HEAD") == 0;
  request->old_version = strcmp (version, "HTTP/1.0") == 0;
  server->wire->each_header (request->connection->wire, http_head_add_header, request);
  if (!check_headers (request) || !check_framing (request))
    return FALSE;
  if (is_ending (server)) {
    http_reply_fault (request, 503, "the daemon is ending");
    return FALSE;
  }
  if (strcmp (method, "OPTIONS") == 0 && strcmp (request->target, "*") == 0) {
    http_set_header (request, "Allow", "GET, HEAD, POST, DELETE, OPTIONS");
    http_reply_status (request, 204);
    return FALSE;
  }
  if (!take_target (request))
    return FALSE;
  request->route = http_route_find (server->tables, request->head_only ? "GET" : method, request->path,
                                    &request->parameters, &allow);
  if (!identify (request))
    return FALSE;
  if (!request->route) {
    reply_without_route (request, allow);
    return FALSE;
  }
  return http_head_check_length (request) && check_type (request) && check_accept (request);
}
