/* SPDX-License-Identifier: Apache-2.0 */
/* A token that ends, because it is revoked, rotated or expires, ends what is under way for it.
 *
 * Theory of operation. While a request is under way, its connection has its caller. When the file of tokens
 * changes, or one of these callers' tokens expires, all of them are looked up again. The reading half of a
 * connection whose caller is unknown now is shut down, as if the client had hung up: all that waits or runs
 * for a caller watches the socket. So waits end, runs are cancelled, unless they go on without their caller,
 * and streams break off. A reply that is only sent, as a file is, watches nothing: both halves are shut down.
 *
 * The caller is noted before it is looked up once more: a token that ends after it was identified is seen
 * here or there. */
#include <string.h>
#include <sys/socket.h>

#include "interfaces/http/http_private.h"

/* ---- callers ---- */

REQUIRES (http_server)
static gboolean
note_expiry (struct http_server *server, const struct principal *who)
{
  if (who->expires_ms == 0 || (server->expires_ms > 0 && server->expires_ms <= who->expires_ms))
    return FALSE;
  server->expires_ms = who->expires_ms;
  return TRUE;
}

gboolean
http_access_begin (struct http_request *request)
{
  struct http_server *server = request->server;
  struct principal *who = request->identity.who;
  if (!who)
    return TRUE;
  g_mutex_lock (&server->lock);
  request->connection->who = principal_ref (who);
  gboolean is_first = note_expiry (server, who);
  g_mutex_unlock (&server->lock);
  if (is_first)
    http_listeners_wake (server);
  return identify_still_knows (server->identify, who);
}

void
http_access_end (struct http_request *request)
{
  struct http_connection *connection = request->connection;
  g_mutex_lock (&request->server->lock);
  struct principal *who = g_steal_pointer (&connection->who);
  connection->sends = connection->has_ended = FALSE;
  g_mutex_unlock (&request->server->lock);
  principal_unref (who);
}

/* ---- the end of tokens ---- */

void
http_server_check_tokens (struct http_server *server)
{
  GHashTableIter iter;
  gpointer at;
  g_mutex_lock (&server->lock);
  server->expires_ms = 0;
  g_hash_table_iter_init (&iter, server->connections);
  while (g_hash_table_iter_next (&iter, &at, NULL)) {
    struct http_connection *connection = at;
    if (!connection->who || connection->has_ended)
      continue;
    if (identify_still_knows (server->identify, connection->who)) {
      note_expiry (server, connection->who);
      continue;
    }
    connection->has_ended = TRUE;
    shutdown (connection->socket->fd, connection->sends ? SHUT_RDWR : SHUT_RD);
  }
  g_mutex_unlock (&server->lock);
}

int
http_access_wait_ms (struct http_server *server)
{
  g_mutex_lock (&server->lock);
  gint64 expires_ms = server->expires_ms;
  g_mutex_unlock (&server->lock);
  return expires_ms == 0 ? -1 : (int)CLAMP (expires_ms - g_get_real_time () / 1000, 0, G_MAXINT);
}

/* ---- replies ---- */

static gboolean
is_for_its_reply (const struct http_request *request)
{
  return request->head_only || strcmp (request->method, "GET") == 0;
}

gboolean
http_access_may_reply (struct http_request *request, gboolean lasts)
{
  g_mutex_lock (&request->server->lock);
  request->connection->sends = lasts;
  gboolean has_ended = request->connection->has_ended;
  g_mutex_unlock (&request->server->lock);
  return !has_ended || !is_for_its_reply (request);
}

void
http_access_refuse (struct http_request *request)
{
  request->close_after = TRUE;
  http_reply_fault (request, 401, "the token has ended: it has expired, or was revoked or rotated");
}
