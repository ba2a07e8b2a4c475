/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the HTTP server, from its start to its end. Where it listens: http_listeners.c.
 *
 * The end: listeners close first; then the reading half of each connection is shut down, which the engine
 * sees as a client's hang-up, so runs end as cancelled while their results can still be written; then the
 * threads are waited for. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "cluster/cluster.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/module.h"
#include "interfaces/http/http_private.h"
#include "library/library.h"

#define END_WAIT_US (15 * G_USEC_PER_SEC)
/* Of a connection: its socket, the wire's copy and epoll instance, an eventfd of its stream; of its run,
 * some. */
#define DESCRIPTORS_OF_A_CONNECTION 6
#define CONNECTIONS_FEWEST          16

const struct http_route *const http_all_routes[] = {
    http_routes_meta,    http_routes_operations, http_routes_files, http_routes_tools,
    http_routes_records, http_routes_runs,       http_routes_mcp,   http_routes_oauth,
    http_routes_sign_in, http_routes_web,        http_routes_node,  NULL,
};

/* ---- start ---- */

/* At most half of the permitted descriptors: the others are for sandboxes. */
static guint
http_server_max_connections (const struct config *config)
{
  struct rlimit limit;
  guint64 most = config->http_connections;
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0)
    most = MIN (most, limit.rlim_cur / 2 / DESCRIPTORS_OF_A_CONNECTION);
  return (guint)MAX (most, CONNECTIONS_FEWEST);
}

gboolean
http_server_load_wire (struct http_server *server, GError **error)
{
  static GMutex loading; /* written once, since the connections of the first caller read it */
  if (g_atomic_pointer_get (&server->wire))
    return TRUE;
  g_mutex_lock (&loading);
  if (!server->wire)
    g_atomic_pointer_set (&server->wire, module_load (WIRE_MODULE, WIRE_SYMBOL, error));
  gboolean loaded = server->wire != NULL;
  g_mutex_unlock (&loading);
  return loaded;
}

static void
http_server_tokens_changed (gpointer data)
{
  http_server_check_tokens (data);
}

static guint
http_server_gateways (gpointer data)
{
  const struct http_server *server = data;
  struct cluster *cluster = server->service->engine->cluster;
  return cluster ? cluster_count_gateways (cluster) : 1;
}

static gboolean
http_server_start (struct http_server *server, const struct http_server_options *options, GError **error)
{
  server->identify = identify_new (server->config, server->service->engine->store, error);
  if (server->identify) {
    identify_watch (server->identify, http_server_tokens_changed, server);
    identify_share_limits (server->identify, http_server_gateways, server);
  }
  if (!server->identify || !http_listeners_start (server, error) ||
      (server->socket && !http_server_listen (server, server->socket, FALSE, error)))
    return FALSE;
  return !options->listen || http_server_listen (server, options->listen, options->shown, error);
}

struct http_server *
http_server_new (struct service *service, const struct http_server_options *options, GError **error)
{
  struct http_server *server = g_new0 (struct http_server, 1);
  http_operations_fill ();
  server->service = service;
  server->config = service->config;
  server->tables = options->tables;
  server->changed = options->changed;
  server->data = options->data;
  server->wake_fd = -1;
  server->socket = options->socket ? g_strconcat ("unix:", options->socket, NULL) : NULL;
  server->max_connections = http_server_max_connections (server->config);
  server->memory = quota_new (server->config->http_bodies_bytes, server->config->http_bodies_bytes / 2);
  server->disk = quota_new (server->config->http_uploads_bytes,
                            MIN (server->config->http_uploads_bytes / 2, server->config->store_bytes_owner));
  g_mutex_init (&server->opening);
  g_mutex_init (&server->lock);
  server->old_tls = g_ptr_array_new ();
  server->connections = g_hash_table_new (NULL, NULL);
  server->peers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_cond_init (&server->ended);
  g_cond_init (&server->seen);
  if (!http_server_start (server, options, error))
    g_clear_pointer (&server, http_server_free);
  return server;
}

const char *
http_server_startup_token (struct http_server *server)
{
  return identify_startup_token (server->identify);
}

guint
http_server_connections (struct http_server *server)
{
  g_mutex_lock (&server->lock);
  guint count = g_hash_table_size (server->connections);
  g_mutex_unlock (&server->lock);
  return count;
}

gboolean
http_server_check_config (const struct config *config, GError **error)
{
  return identify_check_config (config, error);
}

json_t *
http_describe (void)
{
  http_operations_fill ();
  return http_openapi (http_all_routes);
}

const char *
http_server_openapi (struct http_server *server)
{
  g_mutex_lock (&server->lock);
  if (!server->openapi) {
    g_autoptr (json_t) document = http_openapi (server->tables);
    server->openapi = json_to_text (document);
  }
  const char *openapi = server->openapi;
  g_mutex_unlock (&server->lock);
  return openapi;
}

/* ---- the end ---- */

void
http_connections_shut (struct http_server *server, const struct http_listener *listener, int how)
{
  GHashTableIter iter;
  gpointer at;
  g_hash_table_iter_init (&iter, server->connections);
  while (g_hash_table_iter_next (&iter, &at, NULL)) {
    struct http_connection *connection = at;
    if (!listener || connection->listener == listener)
      shutdown (connection->socket->fd, how);
  }
}

REQUIRES (http_server)
static gboolean
is_busy (struct http_server *server)
{
  return g_hash_table_size (server->connections) > 0 || server->producers > 0;
}

void
http_server_close (struct http_server *server)
{
  if (server->closed_us != 0)
    return;
  server->closed_us = g_get_monotonic_time ();
  http_listeners_end (server);
  g_mutex_lock (&server->lock);
  server->ending = TRUE;
  http_connections_shut (server, NULL, SHUT_RD);
  g_mutex_unlock (&server->lock);
}

static void
wait_for_connections (struct http_server *server)
{
  gint64 deadline = server->closed_us + END_WAIT_US;
  g_mutex_lock (&server->lock);
  while (is_busy (server) && g_cond_wait_until (&server->ended, &server->lock, deadline))
    ;
  /* A client that reads nothing is not waited for any longer. */
  http_connections_shut (server, NULL, SHUT_RDWR);
  while (is_busy (server))
    g_cond_wait (&server->ended, &server->lock);
  g_mutex_unlock (&server->lock);
}

void
http_server_free (struct http_server *server)
{
  if (!server)
    return;
  http_server_close (server);
  wait_for_connections (server);
  fd_close (&server->wake_fd);
  identify_free (server->identify);
  UNSHARED (http_server);
  if (server->tls)
    server->wire->tls_free (server->tls);
  for (guint i = 0; i < server->old_tls->len; i++)
    server->wire->tls_free (server->old_tls->pdata[i]);
  g_ptr_array_unref (server->old_tls);
  UNSHARED (http_opening);
  g_free (server->tls_digest);
  g_hash_table_destroy (server->connections);
  g_hash_table_destroy (server->peers);
  g_mutex_clear (&server->lock);
  g_mutex_clear (&server->opening);
  g_cond_clear (&server->ended);
  g_cond_clear (&server->seen);
  g_free (server->socket);
  quota_unref (server->memory);
  quota_unref (server->disk);
  g_free (server->openapi);
  g_free (server);
}
