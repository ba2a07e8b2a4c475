/* SPDX-License-Identifier: Apache-2.0 */
/* A request: handlers' access to it. */
#include <string.h>

#include "base/fd.h"
#include "common/json.h"
#include "interfaces/http/http_multipart.h"
#include "interfaces/http/http_private.h"
#include "library/library.h"

static void
header_free (gpointer data)
{
  struct http_header *header = data;
  g_free (header->name);
  g_free (header->value);
  g_free (header);
}

struct http_request *
http_request_new (struct http_connection *connection, const char *target)
{
  struct http_request *request = g_new0 (struct http_request, 1);
  request->connection = connection;
  request->server = connection->server;
  request->target = g_strdup (target);
  request->headers = g_ptr_array_new_with_free_func (header_free);
  request->reply_headers = g_ptr_array_new_with_free_func (g_free);
  request->begun_us = g_get_monotonic_time ();
  return request;
}

void
http_request_free (struct http_request *request)
{
  if (!request)
    return;
  if (request->stream) {
    http_stream_cut (request->stream);
    http_stream_unref (request->stream);
  }
  http_access_end (request);
  if (request->identified)
    identity_clear (&request->identity);
  http_body_release (request);
  if (request->free_kept)
    request->free_kept (request->kept);
  json_decref (request->query);
  g_clear_pointer (&request->parameters, g_hash_table_destroy);
  g_ptr_array_unref (request->headers);
  g_ptr_array_unref (request->reply_headers);
  g_free (request->target);
  g_free (request->method);
  g_free (request->path);
  g_free (request->query_text);
  g_free (request);
}

void
http_free_after (struct http_request *request, gpointer data, GDestroyNotify release)
{
  request->kept = data;
  request->free_kept = release;
}

struct service *
http_service (struct http_request *request)
{
  return request->server->service;
}

struct http_server *
http_server_of (struct http_request *request)
{
  return request->server;
}

const struct principal *
http_who (struct http_request *request)
{
  return request->identity.who;
}

const struct http_route *
http_route (struct http_request *request)
{
  return request->route;
}

const char *
http_header (struct http_request *request, const char *name)
{
  for (guint i = 0; i < request->headers->len; i++) {
    const struct http_header *header = g_ptr_array_index (request->headers, i);
    if (g_ascii_strcasecmp (header->name, name) == 0)
      return header->value;
  }
  return NULL;
}

const char *
http_parameter (struct http_request *request, const char *name)
{
  return request->parameters ? g_hash_table_lookup (request->parameters, name) : NULL;
}

const json_t *
http_query (struct http_request *request)
{
  return request->query;
}

const json_t *
http_body (struct http_request *request)
{
  return request->body;
}

const char *
http_body_bytes (struct http_request *request, gsize *ret_length)
{
  *ret_length = request->bytes ? request->bytes->len : 0;
  return request->bytes ? (const char *)request->bytes->data : "";
}

const struct http_part *
http_parts (struct http_request *request, gsize *ret_count)
{
  return http_multipart_parts (request->multipart, ret_count);
}

int
http_watch_fd (struct http_request *request)
{
  return request->connection->socket->fd;
}

gint64
http_begun_us (struct http_request *request)
{
  return request->begun_us;
}

const char *
http_path (struct http_request *request)
{
  return request->path;
}

gboolean
http_at_terminal (struct http_request *request)
{
  const char *agent = http_header (request, "User-Agent");
  return agent && g_str_has_prefix (agent, "adder/");
}

gboolean
http_is_exposed (struct http_request *request)
{
  const struct http_listener *listener = request->connection->listener;
  if (request->connection->vouched)
    return request->connection->vouched_exposed;
  return listener->tcp && !listener->tls && !http_listen_is_near (http_watch_fd (request));
}

void
http_set_queued (struct http_request *request, AdderRequest *asked)
{
  const struct http_connection *connection = request->connection;
  if (*connection->run_id)
    library_set_queued (asked, connection->run_id, connection->run_again);
}

void
http_caller (struct http_request *request, const char *conversation, struct tool_caller *ret_caller)
{
  const struct principal *who = http_who (request);
  *ret_caller = (struct tool_caller){
      .owner = who->owner,
      .front_end = "http",
      .at_terminal = http_at_terminal (request),
      .conversation = conversation,
      .role = role_name (who->role),
      .read_only = who->read_only,
      .directory_fd = -1,
      .watch_fd = http_watch_fd (request),
      .profiles = (const char *const *)who->profiles,
      .toolset = who->toolset,
  };
}
