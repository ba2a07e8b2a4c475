/* SPDX-License-Identifier: Apache-2.0 */
/* /mcp. A POST carries one message, or several in version 2025-03-26. Its era follows from the message, then
 * from its headers (era.c); a legacy message belongs to a session, which `initialize` began and
 * Mcp-Session-Id names. GET and DELETE are legacy only: a stream for the server's own messages, or the rest
 * of a broken one, and the end of a session. */
#include "interfaces/mcp/mcp_http.h"

#include <string.h>

#include "adder.h"
#include "common/config.h"
#include "common/json.h"
#include "interfaces/http/http.h"
#include "interfaces/mcp/era.h"
#include "interfaces/mcp/http_exchange.h"
#include "interfaces/mcp/http_headers.h"
#include "interfaces/mcp/http_session.h"
#include "interfaces/mcp/output.h"
#include "interfaces/mcp/server.h"

#define HTTP_OK             200
#define HTTP_ACCEPTED       202
#define HTTP_NO_CONTENT     204
#define HTTP_BAD_REQUEST    400
#define HTTP_NOT_FOUND      404
#define HTTP_NO_METHOD      405
#define HTTP_NOT_ACCEPTABLE 406
#define HTTP_UNKNOWN_TYPE   415
#define HTTP_BUSY           429
#define SESSION_HEADER      "Mcp-Session-Id"
#define VERSION_HEADER      "MCP-Protocol-Version"
#define LAST_EVENT_HEADER   "Last-Event-ID"
#define JSON_TYPE           "application/json"
#define EVENTS_TYPE         "text/event-stream"
#define BATCH_MAX           64
#define EVENT_ID_MAX        64
#define SESSION_ID_MAX      128

struct mcp_http {
  struct mcp_server *server;
  struct mcp_http_sessions *sessions;
  struct mcp_workers *workers;
};

struct mcp_http *
mcp_http_new (struct mcp_server *server)
{
  struct mcp_http *http = g_new0 (struct mcp_http, 1);

  http->server = server;
  http->sessions = mcp_http_sessions_new (mcp_server_service (server)->config);
  http->workers = mcp_workers_new ();
  return http;
}

void
mcp_http_free (struct mcp_http *http)
{
  if (http == NULL)
    return;
  mcp_http_sessions_end (http->sessions);
  mcp_workers_free (http->workers);
  mcp_http_sessions_free (http->sessions);
  g_free (http);
}

typedef struct mcp_http_session session_t;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (session_t, mcp_http_session_unref)

/* ---- what a request says ---- */

struct post {
  struct http_request *request;
  struct mcp_http *http;
  const struct config *config;
  gboolean takes_events;
  struct mcp_caller *caller;
  struct mcp_http_session *session; /* of the legacy era, once it is found */
};

/* Whether ACCEPT (NULL: anything) has TYPE ("application/json") in any form; not with q=0. */
static gboolean
http_accepts (const char *accept, const char *type)
{
  if (accept == NULL)
    return TRUE;
  g_autofree char *any = g_strdup_printf ("%.*s/*", (int)(strchr (type, '/') - type), type);
  g_auto (GStrv) ranges = g_strsplit (accept, ",", 32);
  for (gsize i = 0; ranges[i] != NULL; i++) {
    g_auto (GStrv) parts = g_strsplit (ranges[i], ";", 2);
    if (parts[0] == NULL)
      continue;
    char *range = g_strstrip (parts[0]);
    g_autofree char *rest = parts[1] != NULL ? g_strdelimit (g_strdup (parts[1]), " \t", ';') : g_strdup ("");
    gboolean refused =
        strstr (rest, "q=0") != NULL && strpbrk (strstr (rest, "q=0") + 3, "123456789") == NULL;
    if (!refused && (g_ascii_strcasecmp (range, type) == 0 || g_ascii_strcasecmp (range, any) == 0 ||
                     strcmp (range, "*/*") == 0))
      return TRUE;
  }
  return FALSE;
}

static gboolean
http_is_type (const char *header, const char *type)
{
  gsize length = strlen (type);

  return header != NULL && g_ascii_strncasecmp (header, type, length) == 0 &&
         (header[length] == 0 || strchr ("; \t", header[length]) != NULL);
}

static const char *
get_header (gpointer data, const char *name)
{
  return http_header (data, name);
}

static void
http_reply (struct http_request *request, struct mcp_reply *answer)
{
  if (answer->message == NULL)
    http_reply_status (request, answer->status);
  else
    http_reply_json (request, answer->status, g_steal_pointer (&answer->message));
}

/* A transport error in the protocol's form: ID is the message's, or NULL. */
static void
http_refuse (struct http_request *request, int status, json_t *id, const char *text)
{
  struct mcp_reply answer = {mcp_error_message (id, MCP_INVALID_REQUEST, text, NULL), status};

  http_reply (request, &answer);
}

/* Versions are dates. */
static gboolean
is_modern_version (const char *version)
{
  return version != NULL && strcmp (version, MCP_MODERN_VERSION) >= 0;
}

static gboolean
is_modern (const struct post *post, const struct mcp_message *message)
{
  return json_object_get (json_object_get (message->params, "_meta"), MCP_META_VERSION) != NULL ||
         is_modern_version (http_header (post->request, VERSION_HEADER));
}

#define NOBODY "nobody"

/* The caller, with a reference; on a test program's row without authentication: a read-only one. */
static struct principal *
principal_of (struct http_request *request)
{
  if (http_who (request) != NULL)
    return principal_ref ((struct principal *)(guintptr)http_who (request));
  struct principal *nobody = principal_new (http_service (request)->config, NOBODY);
  nobody->role = ROLE_GUEST;
  nobody->read_only = TRUE;
  return nobody;
}

static const char *
http_owner_of (struct http_request *request)
{
  return http_who (request) != NULL ? http_who (request)->owner : NOBODY;
}

/* The session that REQUEST names, with a reference. FALSE with a reply: the session or version does not
 * exist. Without a name *RET_SESSION is NULL. */
static gboolean
http_find_session (struct mcp_http *http, struct http_request *request, json_t *id,
                   struct mcp_http_session **ret_session)
{
  const char *version = http_header (request, VERSION_HEADER);
  const char *name = http_header (request, SESSION_HEADER);

  if (version != NULL && !is_modern_version (version) && era_legacy_version (version) == NULL) {
    http_refuse (request, HTTP_BAD_REQUEST, id,
                 "the header " VERSION_HEADER " names a version that is not spoken here");
    return FALSE;
  }
  *ret_session = name != NULL && strlen (name) <= SESSION_ID_MAX
                     ? mcp_http_session_find (http->sessions, name, http_owner_of (request))
                     : NULL;
  if (name != NULL && *ret_session == NULL) {
    http_refuse (request, HTTP_NOT_FOUND, id,
                 "there is no such session, or it has ended: begin with initialize");
    return FALSE;
  }
  return TRUE;
}

static struct mcp_exchange_terms
terms_of (const struct post *post, gboolean is_batch)
{
  return (struct mcp_exchange_terms){
      .workers = post->http->workers,
      .sessions = post->http->sessions,
      .session = post->session,
      .may_stream = post->takes_events,
      .is_batch = is_batch,
      .stream_after_ms = (guint)post->config->mcp_stream_after_ms,
  };
}

/* ---- messages ---- */

static const struct mcp_mirror *
find_mirrors (struct mcp_server *server, const struct mcp_message *message)
{
  const char *tool = json_string_value (json_object_get (message->params, "name"));

  if (tool == NULL || strcmp (message->method, "tools/call") != 0)
    return NULL;
  for (guint i = 0; i < server->providers->len; i++) {
    const struct mcp_provider *provider = g_ptr_array_index (server->providers, i);
    const struct mcp_mirror *mirrors = provider->mirrors != NULL ? provider->mirrors (tool) : NULL;
    if (mirrors != NULL)
      return mirrors;
  }
  return NULL;
}

/* A legacy client may abandon a request and send more: the active requests of their sessions have the bound
 * of requests that are waited for. */
static gboolean
http_has_room (const struct post *post, const struct mcp_request *request)
{
  const struct principal *who = post->caller->principal;
  guint64 most = who->concurrent > 0 ? who->concurrent : post->config->http_concurrent;

  return mcp_request_is_quick (request) ||
         mcp_http_sessions_at_work (post->http->sessions, who->owner) < most;
}

/* A request of MESSAGE, which is taken; NULL with *RET_REPLY. A legacy one is counted in its session: until
 * mcp_inflight_remove. */
static struct mcp_request *
http_make_request (const struct post *post, struct mcp_message *message, struct mcp_reply *ret_reply)
{
  struct mcp_http_session *session = post->session;
  gboolean is_asked = message->id != NULL;

  if (is_asked && !mcp_headers_check (message, find_mirrors (post->http->server, message), get_header,
                                      post->request, ret_reply))
    return NULL;
  struct mcp_request *request =
      mcp_request_new (post->http->server, message, post->caller, session != NULL ? session->session : NULL,
                       http_header (post->request, VERSION_HEADER), ret_reply);
  if (request == NULL || session == NULL || !is_asked)
    return request;
  if (!http_has_room (post, request)) {
    *ret_reply = (struct mcp_reply){
        mcp_error_message (request->id, MCP_INVALID_REQUEST,
                           "as many requests are under way in this caller's sessions as may be", NULL),
        HTTP_BUSY};
    mcp_request_free (request);
    return NULL;
  }
  gboolean is_taken;
  request->watch_fd =
      mcp_inflight_add (session->inflight, request->id, mcp_request_is_long (request), &is_taken);
  if (request->watch_fd >= 0)
    return request;
  *ret_reply = (struct mcp_reply){
      mcp_error_message (request->id, MCP_INVALID_REQUEST,
                         is_taken ? "a request with this id is running"
                                  : "as many requests are under way in this session as may be",
                         NULL),
      is_taken ? HTTP_BAD_REQUEST : HTTP_BUSY};
  mcp_request_free (request);
  return NULL;
}

static void
request_release (gpointer data)
{
  mcp_request_free (data);
}

/* `initialize` makes a session, whose id the client gets in a header. */
static void
initialize (struct post *post, struct mcp_message *message)
{
  g_autoptr (GError) problem = NULL;
  struct mcp_reply answer = {NULL, HTTP_OK};
  g_autoptr (json_t) id = json_incref (message->id);

  post->session = mcp_http_session_new (post->http->sessions, post->caller->principal->owner);
  struct mcp_request *request =
      mcp_request_new (post->http->server, message, post->caller, post->session->session, NULL, &answer);
  if (request != NULL) {
    mcp_request_run (request, &answer);
    mcp_request_free (request);
  }
  if (json_object_get (answer.message, "result") != NULL) {
    if (mcp_http_session_add (post->http->sessions, post->session, &problem))
      http_set_header (post->request, SESSION_HEADER, post->session->session->id);
    else {
      mcp_reply_clear (&answer);
      answer =
          (struct mcp_reply){mcp_error_message (id, MCP_INTERNAL_ERROR, problem->message, NULL), HTTP_BUSY};
    }
  }
  http_reply (post->request, &answer);
}

/* A message that needs a reply. */
static void
http_serve (const struct post *post, struct mcp_message *message)
{
  struct mcp_reply answer = {NULL, HTTP_ACCEPTED};
  struct mcp_request *request = http_make_request (post, message, &answer);

  if (request == NULL) {
    http_reply (post->request, &answer);
    return;
  }
  if (!mcp_request_is_quick (request)) {
    const struct mcp_exchange_terms terms = terms_of (post, FALSE);
    GPtrArray *requests = g_ptr_array_new_with_free_func (request_release);
    g_ptr_array_add (requests, request);
    mcp_exchange_serve (&terms, requests, post->request);
    return;
  }
  mcp_request_run (request, &answer);
  if (post->session != NULL)
    mcp_inflight_remove (post->session->inflight, request->id);
  mcp_request_free (request);
  http_reply (post->request, &answer);
}

/* Takes a message that needs no reply. */
static void
http_take_in (const struct post *post, struct mcp_message *message, struct mcp_reply *ret_reply)
{
  struct mcp_http_session *session = post->session;

  *ret_reply = (struct mcp_reply){NULL, HTTP_ACCEPTED};
  if (message->kind == MCP_KIND_RESPONSE) {
    if (session != NULL)
      mcp_session_answer (session->session, message);
    return;
  }
  if (session != NULL && strcmp (message->method, "notifications/cancelled") == 0) {
    const json_t *id = json_object_get (message->params, "requestId");
    if (json_is_string (id) || json_is_integer (id))
      mcp_inflight_cancel (session->inflight, id);
    return;
  }
  struct mcp_request *request = http_make_request (post, message, ret_reply);
  if (request != NULL) {
    mcp_request_run (request, ret_reply);
    mcp_request_free (request);
  }
}

static void
serve_one (struct post *post, struct mcp_message *message)
{
  gboolean modern = is_modern (post, message);

  if (!modern && message->kind == MCP_KIND_REQUEST && strcmp (message->method, "initialize") == 0) {
    initialize (post, message);
    return;
  }
  if (!modern && !http_find_session (post->http, post->request, message->id, &post->session))
    return;
  if (message->kind == MCP_KIND_REQUEST) {
    http_serve (post, message);
    return;
  }
  if (!modern && post->session == NULL) {
    http_refuse (post->request, HTTP_BAD_REQUEST, NULL, "the header " SESSION_HEADER " is missing");
    return;
  }
  struct mcp_reply answer;
  http_take_in (post, message, &answer);
  http_reply (post->request, &answer);
}

/* Several of 2025-03-26: requests are carried out one after the other. */
static void
serve_batch (struct post *post, struct mcp_message *batch)
{
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func (request_release);
  g_autoptr (json_t) refused = json_array ();
  json_t *item;
  size_t i;

  if (!http_find_session (post->http, post->request, NULL, &post->session))
    return;
  if (post->session == NULL || !mcp_session_has_batches (post->session->session) ||
      json_array_size (batch->value) == 0 || json_array_size (batch->value) > BATCH_MAX) {
    http_refuse (post->request, HTTP_BAD_REQUEST, NULL,
                 "several messages at once are of the version " MCP_BATCH_VERSION
                 " only, and then at most 64");
    return;
  }
  json_array_foreach (batch->value, i, item)
  {
    struct mcp_message message = {0};
    struct mcp_reply answer = {NULL, HTTP_ACCEPTED};
    if (mcp_message_take (json_incref (item), &message, &answer)) {
      struct mcp_request *request = NULL;
      if (message.kind == MCP_KIND_REQUEST)
        request = http_make_request (post, &message, &answer);
      else
        http_take_in (post, &message, &answer);
      if (request != NULL)
        g_ptr_array_add (requests, request);
    }
    if (answer.message != NULL)
      json_array_append (refused, answer.message);
    mcp_reply_clear (&answer);
    mcp_message_clear (&message);
  }
  if (requests->len == 0 || json_array_size (refused) > 0) {
    /* Errors are reported before anything is done. */
    for (guint k = 0; k < requests->len; k++)
      mcp_inflight_remove (post->session->inflight, ((struct mcp_request *)requests->pdata[k])->id);
    if (json_array_size (refused) > 0)
      http_reply_json (post->request, HTTP_BAD_REQUEST, json_incref (refused));
    else
      http_reply_status (post->request, HTTP_ACCEPTED);
    return;
  }
  struct mcp_exchange_terms terms = terms_of (post, TRUE);
  mcp_exchange_serve (&terms, g_steal_pointer (&requests), post->request);
}

/* ---- handlers ---- */

static struct mcp_http *
http_of (struct http_request *request)
{
  return mcp_server_http (http_service (request)->mcp);
}

static struct mcp_caller *
caller_of (struct http_request *request)
{
  const char *toolset = json_string_value (json_object_get (http_query (request), "toolset"));
  struct mcp_caller *caller = mcp_caller_new (principal_of (request), "mcp-http");

  mcp_output_ask (caller, http_query (request));
  caller->is_whole = g_strcmp0 (toolset, TOOLSET_FULL) == 0;
  caller->toolset = caller->is_whole ? NULL : g_strdup (toolset);
  return caller;
}

static void
http_post (struct http_request *request)
{
  const char *type = http_header (request, "Content-Type");
  struct mcp_message message = {0};
  struct mcp_reply answer = {NULL, HTTP_BAD_REQUEST};
  gsize length;
  const char *body = http_body_bytes (request, &length);
  struct post post = {
      .request = request,
      .http = http_of (request),
      .config = http_service (request)->config,
      .takes_events = http_accepts (http_header (request, "Accept"), EVENTS_TYPE),
  };

  if (!http_is_type (type, JSON_TYPE)) {
    http_refuse (request, HTTP_UNKNOWN_TYPE, NULL, "the body must be " JSON_TYPE);
    return;
  }
  if (!mcp_message_parse (body, length, &message, &answer)) {
    http_reply (request, &answer);
    return;
  }
  post.caller = caller_of (request);
  if (message.kind == MCP_KIND_BATCH)
    serve_batch (&post, &message);
  else
    serve_one (&post, &message);
  mcp_message_clear (&message);
  mcp_http_session_unref (post.session);
  mcp_caller_unref (post.caller);
}

/* The session of a GET or a DELETE, which the modern era lacks; with a reference. NULL: a reply was made. */
static struct mcp_http_session *
take_session (struct http_request *request)
{
  struct mcp_http_session *session = NULL;

  if (http_header (request, SESSION_HEADER) == NULL ||
      is_modern_version (http_header (request, VERSION_HEADER))) {
    http_set_header (request, "Allow", "POST");
    http_reply_status (request, HTTP_NO_METHOD);
    return NULL;
  }
  return http_find_session (http_of (request), request, NULL, &session) ? session : NULL;
}

static void
get (struct http_request *request)
{
  const char *event = http_header (request, LAST_EVENT_HEADER);
  g_autoptr (session_t) session = take_session (request);
  struct mcp_stream *stream;
  guint64 after = MCP_STREAM_UNSENT;

  if (session == NULL)
    return;
  if (!http_accepts (http_header (request, "Accept"), EVENTS_TYPE)) {
    http_refuse (request, HTTP_NOT_ACCEPTABLE, NULL, "a client must accept " EVENTS_TYPE);
    return;
  }
  if (event == NULL)
    stream = mcp_stream_ref (session->general);
  else
    stream = strlen (event) <= EVENT_ID_MAX ? mcp_stream_find (session->streams, event, &after) : NULL;
  if (stream == NULL) {
    http_refuse (request, HTTP_BAD_REQUEST, NULL,
                 "the header " LAST_EVENT_HEADER " names no event that is still kept");
    return;
  }
  const struct mcp_exchange_terms terms = {
      .workers = http_of (request)->workers,
      .sessions = http_of (request)->sessions,
      .session = session,
  };
  mcp_exchange_resume (&terms, stream, after, request);
}

static void delete (struct http_request *request)
{
  g_autoptr (session_t) session = take_session (request);

  if (session == NULL)
    return;
  mcp_http_session_end (http_of (request)->sessions, session);
  http_reply_status (request, HTTP_NO_CONTENT);
}

/* ---- routes ---- */

static const struct field query_fields[] = {
    {"toolset", FIELD_TEXT, .optional = TRUE, .minimum = 1, .maximum = 64,
     .text = "The tools that are offered, where the token does not say: `adder tool list` lists toolsets. "
             "full: all "
             "of the first, of which otherwise the basic ones are offered."},
    MCP_OUTPUT_FIELDS,
    {NULL},
};

/* Without an operation: MCP describes itself. */
const struct http_route http_routes_mcp[] = {
    {"POST", "/mcp", .tag = "mcp", .title = "MCP: a message", .text = "Carries one message of MCP.",
     .flags = HTTP_RAW_BODY | HTTP_STREAMS | HTTP_LOOKS | HTTP_NO_COOKIE, .query = query_fields,
     .status = HTTP_OK, .handle = http_post},
    {"GET", "/mcp", .tag = "mcp", .title = "MCP: a stream",
     .text =
         "What the server says by itself, or the rest of a stream that broke; versions before 2026-07-28.",
     .flags = HTTP_STREAMS | HTTP_NO_COOKIE, .query = query_fields, .status = HTTP_OK, .handle = get},
    {"DELETE", "/mcp", .tag = "mcp", .title = "MCP: the end of a session",
     .text = "Ends a session; versions before 2026-07-28.", .flags = HTTP_LOOKS | HTTP_NO_COOKIE,
     .query = query_fields, .status = HTTP_NO_CONTENT, .handle = delete},
    {NULL},
};
