/* SPDX-License-Identifier: Apache-2.0 */
/* A request, from message to response, and what its handler calls on the way. */
#include "interfaces/mcp/request.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "interfaces/mcp/era.h"
#include "interfaces/mcp/mcp_private.h"
#include "interfaces/mcp/room.h"
#include "interfaces/mcp/server.h"

#define HTTP_OK          200
#define HTTP_ACCEPTED    202
#define HTTP_BAD_REQUEST 400
#define HTTP_NOT_FOUND   404
#define SHOWN_BYTES      64

static const char *const level_names[] = {"debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency"};

gboolean
mcp_level_parse (const char *text, enum mcp_level *ret_level)
{
  for (gsize i = 0; text && i < G_N_ELEMENTS (level_names); i++)
    if (strcmp (level_names[i], text) == 0) {
      *ret_level = (enum mcp_level)i;
      return TRUE;
    }
  return FALSE;
}

const char *
mcp_level_name (enum mcp_level level)
{
  return level < G_N_ELEMENTS (level_names) ? level_names[level] : "none";
}

int
mcp_status_of (enum mcp_era era, int code)
{
  if (era != MCP_MODERN)
    return HTTP_OK;
  switch (code) {
  case MCP_METHOD_NOT_FOUND:
    return HTTP_NOT_FOUND;
  case MCP_MISSING_CAPABILITY:
  case MCP_HEADER_MISMATCH:
  case MCP_UNSUPPORTED_VERSION:
    return HTTP_BAD_REQUEST;
  default:
    return HTTP_OK;
  }
}

/* ---- callers ---- */

struct mcp_caller *
mcp_caller_new (struct principal *principal, const char *front_end)
{
  struct mcp_caller *caller = g_new0 (struct mcp_caller, 1);
  caller->references = 1;
  caller->principal = principal;
  caller->front_end = front_end;
  caller->directory_fd = -1;
  g_mutex_init (&caller->files_lock);
  UNSHARED (mcp_caller_files);
  caller->files_fd = -1;
  return caller;
}

struct mcp_caller *
mcp_caller_ref (struct mcp_caller *caller)
{
  g_atomic_int_inc (&caller->references);
  return caller;
}

void
mcp_caller_unref (struct mcp_caller *caller)
{
  if (!caller || !g_atomic_int_dec_and_test (&caller->references))
    return;
  principal_unref (caller->principal);
  fd_close (&caller->directory_fd);
  UNSHARED (mcp_caller_files);
  fd_close (&caller->files_fd);
  g_mutex_clear (&caller->files_lock);
  g_free (caller->toolset);
  g_free (caller->conversation);
  g_free (caller->directory);
  g_free (caller->python);
  json_decref (caller->variables);
  g_free (caller);
}

/* ---- making a request ---- */

/* What both eras have in _meta. */
static const char *
take_meta (struct mcp_request *request)
{
  json_t *meta = json_object_get (request->params, "_meta");
  if (meta && !json_is_object (meta))
    return "_meta must be an object";
  if (!meta) {
    meta = json_object ();
    json_object_set_new (request->params, "_meta", meta);
  }
  request->meta = meta;
  const json_t *token = json_object_get (meta, "progressToken");
  const json_t *conversation = json_object_get (meta, MCP_META_TALK);
  if (token && !json_is_string (token) && !json_is_integer (token))
    return "progressToken of _meta must be text or an integer";
  if (conversation && !json_is_string (conversation))
    return MCP_META_TALK " of _meta must be text";
  request->token = token;
  request->conversation = conversation ? json_string_value (conversation) : request->caller->conversation;
  const char *trace = json_string_value (json_object_get (meta, "traceparent"));
  const char *around = trace_current ();
  g_strlcpy (request->trace, trace_is_parent (trace) ? trace : around ? around : "", sizeof request->trace);
  return NULL;
}

static gboolean
request_refuse (const struct mcp_request *request, int code, const char *text, int status,
                struct mcp_reply *ret_reply)
{
  *ret_reply = (struct mcp_reply){mcp_error_message (request->id, code, text, NULL), status};
  return FALSE;
}

static gboolean
find_method (struct mcp_request *request, const char *method, struct mcp_reply *ret_reply)
{
  request->method = server_find_method (method, request->era, request->id == NULL);
  if (request->method)
    return TRUE;
  g_autofree char *shown = text_one_line (method, SHOWN_BYTES);
  g_autofree char *words =
      g_strdup_printf ("there is no method \"%s\" in the version %s", shown, request->version);
  return request_refuse (request, MCP_METHOD_NOT_FOUND, words,
                         mcp_status_of (request->era, MCP_METHOD_NOT_FOUND), ret_reply);
}

static gboolean
request_settle (struct mcp_request *request, const char *method, const char *header,
                struct mcp_reply *ret_reply)
{
  const char *fault = take_meta (request);
  if (fault)
    return request_refuse (request, MCP_INVALID_PARAMS, fault, HTTP_BAD_REQUEST, ret_reply);
  return era_decide (request, method, header, ret_reply) && find_method (request, method, ret_reply);
}

struct mcp_request *
mcp_request_new (struct mcp_server *server, struct mcp_message *message, struct mcp_caller *caller,
                 struct mcp_session *session, const char *header, struct mcp_reply *ret_reply)
{
  static json_t *nothing;
  if (g_once_init_enter (&nothing))
    g_once_init_leave (&nothing, json_object ());

  struct mcp_request *request = g_new0 (struct mcp_request, 1);
  request->server = server;
  request->caller = mcp_caller_ref (caller);
  request->session = session ? mcp_session_ref (session) : NULL;
  request->message = g_steal_pointer (&message->value);
  request->id = message->id;
  request->params = message->params ? message->params : json_object ();
  if (!message->params)
    json_object_set_new (request->message, "params", request->params);
  request->capabilities = nothing;
  request->watch_fd = -1;
  request->progress = -INFINITY;

  if (request_settle (request, message->method, header, ret_reply))
    return request;
  if (!request->id) { /* a notification is never answered */
    mcp_reply_clear (ret_reply);
    ret_reply->status = HTTP_ACCEPTED;
  }
  mcp_request_free (request);
  return NULL;
}

void
mcp_request_free (struct mcp_request *request)
{
  if (!request)
    return;
  json_decref (request->message);
  json_decref (request->result);
  json_decref (request->error);
  mcp_input_end (request);
  json_decref (request->held);
  mcp_session_unref (request->session);
  mcp_caller_unref (request->caller);
  g_free (request);
}

gboolean
mcp_request_is_quick (const struct mcp_request *request)
{
  return (request->method->flags & MCP_QUICK) != 0;
}

gboolean
mcp_request_is_long (const struct mcp_request *request)
{
  return (request->method->flags & MCP_LONG) != 0;
}

/* ---- replies ---- */

void
mcp_result (struct mcp_request *request, json_t *result)
{
  g_return_if_fail (!mcp_is_replied (request));
  request->result = result;
}

void
mcp_problem (struct mcp_request *request, int code, json_t *data, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (code == MCP_RESOURCE_NOT_FOUND && request->era == MCP_MODERN)
    code = MCP_INVALID_PARAMS;
  g_return_if_fail (!mcp_is_replied (request));
  request->error = json_pack ("{s:i, s:o}", "code", code, "message", json_text_or_null (text));
  if (data)
    json_object_set_new (request->error, "data", data);
}

void
mcp_problem_capability (struct mcp_request *request, json_t *capabilities)
{
  json_t *data = json_pack ("{s:o}", "requiredCapabilities", capabilities);
  mcp_problem (request, request->era == MCP_MODERN ? MCP_MISSING_CAPABILITY : MCP_INVALID_REQUEST, data,
               "this needs something that the client did not declare that it can");
}

gboolean
mcp_is_replied (const struct mcp_request *request)
{
  return request->result || request->error;
}

/* resultType, the server's identity, and cache lifetime. */
static void
request_complete (struct mcp_request *request)
{
  json_t *result = request->result;
  if (request->era != MCP_MODERN)
    return;
  if (!json_object_get (result, "resultType"))
    json_object_set_new (result, "resultType", json_string ("complete"));
  if ((request->method->flags & MCP_FLEETING) && !json_object_get (result, "ttlMs"))
    json_object_set_new (result, "ttlMs", json_integer (0));
  if (request->method->flags & MCP_CACHED)
    server_add_cache_hints (request->server, result);
  json_t *meta = json_object_get (result, "_meta");
  if (!meta) {
    meta = json_object ();
    json_object_set_new (result, "_meta", meta);
  }
  json_object_set_new (meta, MCP_META_SERVER, server_info (FALSE));
}

void
mcp_request_finish (struct mcp_request *request, struct mcp_reply *ret_reply)
{
  *ret_reply = (struct mcp_reply){NULL, HTTP_ACCEPTED};
  if (!request->id || mcp_is_cancelled (request))
    return;
  if (!mcp_is_replied (request)) {
    log_error ("mcp: %s was not answered", request->method->name);
    mcp_problem (request, MCP_INTERNAL_ERROR, NULL, "there was no answer");
  }
  ret_reply->message = json_pack ("{s:s, s:O}", "jsonrpc", "2.0", "id", request->id);
  if (request->error) {
    ret_reply->status =
        mcp_status_of (request->era, (int)json_integer_value (json_object_get (request->error, "code")));
    json_object_set (ret_reply->message, "error", request->error);
    return;
  }
  request_complete (request);
  ret_reply->status = HTTP_OK;
  json_object_set (ret_reply->message, "result", request->result);
}

void
mcp_request_run (struct mcp_request *request, struct mcp_reply *ret_reply)
{
  struct service *service = mcp_server_service (request->server);
  g_autoptr (GError) problem = NULL;
  gint64 begun_us = g_get_monotonic_time ();
  gboolean work = (request->method->flags & MCP_WORK) != 0;
  struct trace_span span;
  char parent[TRACE_PARENT_BYTES];
  trace_begin (&span, *request->trace ? request->trace : NULL, 0);
  trace_parent_of (&span, parent);
  trace_set_current (parent);
  if (work && !service_begin (service, &problem))
    mcp_problem (request, MCP_INTERNAL_ERROR, NULL, "%s", problem->message);
  else {
    if (!(request->method->flags & MCP_INPUTS) || mcp_input_begin (request))
      request->method->handle (request);
    if (work) {
      mcp_subscriptions_settle (request);
      service_end (service);
    }
  }
  metrics_count_mcp (service->metrics, request->method->name, request->error != NULL,
                     g_get_monotonic_time () - begun_us);
  trace_set_current ("");
  trace_end (&span, request->method->name, TRACE_SERVER, 0, json_pack ("{s:s}", "rpc.system", "mcp"),
             request->error ? json_member_text (request->error, "message") : NULL);
  mcp_request_finish (request, ret_reply);
}

/* ---- the client ---- */

gboolean
mcp_speaks (const struct mcp_request *request, const char *version)
{
  return strcmp (request->version, version) >= 0; /* versions are dates */
}

gboolean
mcp_client_can (const struct mcp_request *request, const char *name)
{
  return json_is_object (json_object_get (request->capabilities, name));
}

gboolean
mcp_client_extends (const struct mcp_request *request, const char *name)
{
  return json_is_object (json_object_get (json_object_get (request->capabilities, "extensions"), name));
}

gboolean
mcp_is_cancelled (const struct mcp_request *request)
{
  struct pollfd end = {.fd = request->watch_fd, .events = POLLRDHUP};
  return request->watch_fd >= 0 && poll (&end, 1, 0) > 0 &&
         (end.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

gboolean
mcp_notify (struct mcp_request *request, const char *method, json_t *params)
{
  g_autoptr (json_t) message = json_pack ("{s:s, s:s}", "jsonrpc", "2.0", "method", method);
  if (params)
    json_object_set_new (message, "params", params);
  return request->link && !mcp_is_cancelled (request) && request->link->send (request, message);
}

void
mcp_progress (struct mcp_request *request, double progress, double total, const char *text)
{
  if (!request->token || !(progress > request->progress))
    return;
  request->progress = progress;
  gboolean whole = progress == floor (progress) && fabs (progress) < 1e15;
  json_t *params = json_pack ("{s:O, s:o}", "progressToken", request->token, "progress",
                              whole ? json_integer ((json_int_t)progress) : json_real (progress));
  if (total >= 0)
    json_object_set_new (params, "total", json_real (total));
  if (text)
    json_object_set_new (params, "message", json_text_or_null (text));
  mcp_notify (request, "notifications/progress", params);
}

void
mcp_log (struct mcp_request *request, enum mcp_level level, const char *logger, json_t *data)
{
  if (level < request->level || request->level == MCP_LEVEL_NONE) {
    json_decref (data);
    return;
  }
  json_t *params =
      json_pack ("{s:s, s:s*, s:o}", "level", mcp_level_name (level), "logger", logger, "data", data);
  mcp_notify (request, "notifications/message", params);
}

/* ---- for the library ---- */

const char *
mcp_owner (const struct mcp_request *request)
{
  return request->caller->principal->owner;
}

void
mcp_tool_caller (struct mcp_request *request, struct tool_caller *ret_caller)
{
  const struct mcp_caller *caller = request->caller;
  const struct principal *principal = caller->principal;
  const struct config *config = mcp_server_service (request->server)->config;
  *ret_caller = (struct tool_caller){
      .owner = principal->owner,
      .front_end = caller->front_end,
      .conversation = request->conversation,
      .role = role_name (principal->role),
      .read_only = principal->read_only,
      .directory_fd = caller->directory_fd,
      .directory = caller->directory,
      .variables = caller->variables,
      .python = caller->python,
      .watch_fd = request->watch_fd,
      .picture_bytes = config->mcp_picture_bytes / 3 * 4, /* in base64 */
      .picture_side = config->mcp_picture_side,
      .pictures_bytes = mcp_room (request) / 4 * 3, /* the rest is for text */
      .profiles = (const char *const *)principal->profiles,
  };
}
