/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the HTTP server: its listeners, the thread that accepts, and its end.
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
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/module.h"
#include "interfaces/http/http_private.h"

#define END_WAIT_US (15 * G_USEC_PER_SEC)
#define PEM_MAX     (1024 * 1024)
/* Of a connection: its socket, the wire's copy and epoll instance, an eventfd of its stream; of its run,
 * some. */
#define DESCRIPTORS_OF_A_CONNECTION 6
#define CONNECTIONS_FEWEST          16

const struct http_route *const http_all_routes[] = {
    http_routes_meta,    http_routes_operations, http_routes_files, http_routes_tools,
    http_routes_records, http_routes_mcp,        http_routes_oauth, NULL,
};

/* ---- accepting ---- */

static void
http_server_accept_one (struct http_server *server, const struct http_listener *listener)
{
  autoclose int fd = accept4 (listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    /* Descriptors are used up: the connection stays in the queue, and accepting again at once would spin. */
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      log_error ("http: cannot accept a connection: %s", g_strerror (errno));
      g_usleep (100 * 1000);
    }
    return;
  }
  char *peer = http_listener_peer (listener, fd);
  if (peer)
    http_connection_start (server, listener, fd_steal (&fd), peer);
}

static void *
http_server_accept_thread (void *data)
{
  struct http_server *server = data;
  guint count = server->listeners->len;
  g_autofree struct pollfd *ready = g_new0 (struct pollfd, count + 1);
  pthread_setname_np (pthread_self (), "http-accept");
  for (guint i = 0; i < count; i++)
    ready[i] =
        (struct pollfd){((struct http_listener *)g_ptr_array_index (server->listeners, i))->fd, POLLIN, 0};
  ready[count] = (struct pollfd){server->end_fd, POLLIN, 0};
  for (;;) {
    if (poll (ready, count + 1, -1) < 0)
      continue;
    if (ready[count].revents)
      return NULL;
    for (guint i = 0; i < count; i++)
      if (ready[i].revents)
        http_server_accept_one (server, g_ptr_array_index (server->listeners, i));
  }
}

/* ---- start ---- */

static char *
read_pem (const char *path, gsize *ret_length, GError **error)
{
  g_autoptr (GError) problem = NULL;
  char *text = NULL;
  if (!g_file_get_contents (path, &text, ret_length, &problem)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "cannot read %s", problem->message);
    return NULL;
  }
  if (*ret_length <= PEM_MAX)
    return text;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "%s is longer than a certificate can be", path);
  g_free (text);
  return NULL;
}

static gboolean
load_tls (struct http_server *server, GError **error)
{
  const struct config *config = server->config;
  gsize certificate_length = 0, key_length = 0;
  if (!config->http_certificate && !config->http_key)
    return TRUE;
  if (!config->http_certificate || !config->http_key) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[http] certificate and key must be set together");
    return FALSE;
  }
  g_autofree char *certificate = read_pem (config->http_certificate, &certificate_length, error);
  g_autofree char *key = certificate ? read_pem (config->http_key, &key_length, error) : NULL;
  if (!key)
    return FALSE;
  server->tls = server->wire->tls_new (certificate, certificate_length, key, key_length, error);
  explicit_bzero (key, key_length);
  if (!server->tls)
    g_prefix_error (error, "[http] certificate %s, key %s: ", config->http_certificate, config->http_key);
  return server->tls != NULL;
}

static gboolean
listen_all (struct http_server *server, const char *addresses, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (addresses, " \t,", -1);
  for (gsize i = 0; words[i]; i++) {
    if (words[i][0] == '\0')
      continue;
    struct http_listener *listener = http_listen (words[i], server->tls != NULL, error);
    if (!listener)
      return FALSE;
    g_ptr_array_add (server->listeners, listener);
    g_ptr_array_add (server->addresses, listener->url);
  }
  g_ptr_array_add (server->addresses, NULL);
  if (server->listeners->len > 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[http] listen names no address");
  return FALSE;
}

static gboolean
make_identify (struct http_server *server, gboolean shown, GError **error)
{
  enum identify_reach reach = IDENTIFY_UNIX;
  for (guint i = 0; i < server->listeners->len; i++) {
    const struct http_listener *listener = g_ptr_array_index (server->listeners, i);
    if (listener->tcp)
      reach = MAX (reach, listener->loopback ? IDENTIFY_LOOPBACK : IDENTIFY_OTHERS);
  }
  server->identify = identify_new (server->config, reach, shown, error);
  if (server->identify && reach != IDENTIFY_UNIX && !identify_may_let_in (server->identify))
    log_warning ("http: there is no token yet, and nobody is let in: adder token create NAME makes one");
  return server->identify != NULL;
}

/* Half of the descriptors that there may be at most: the others are for sandboxes. */
static guint
http_server_max_connections (const struct config *config)
{
  struct rlimit limit;
  guint64 most = config->http_connections;
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0)
    most = MIN (most, limit.rlim_cur / 2 / DESCRIPTORS_OF_A_CONNECTION);
  return (guint)MAX (most, CONNECTIONS_FEWEST);
}

static gboolean
http_server_start (struct http_server *server, const char *addresses, gboolean shown, GError **error)
{
  server->wire = module_load (WIRE_MODULE, WIRE_SYMBOL, error);
  if (!server->wire || !load_tls (server, error) || !listen_all (server, addresses, error) ||
      !make_identify (server, shown, error))
    return FALSE;
  server->end_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (server->end_fd < 0)
    return error_from_errno (error, errno, "cannot make an eventfd");
  int r = pthread_create (&server->acceptor, NULL, http_server_accept_thread, server);
  if (r != 0)
    return error_from_errno (error, r, "cannot start a thread");
  server->accepting = TRUE;
  return TRUE;
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
  server->end_fd = -1;
  server->max_connections = http_server_max_connections (server->config);
  server->memory = quota_new (server->config->http_bodies_bytes, server->config->http_bodies_bytes / 2);
  server->disk = quota_new (server->config->http_uploads_bytes,
                            MIN (server->config->http_uploads_bytes / 2, server->config->store_bytes_owner));
  server->listeners = g_ptr_array_new_with_free_func ((GDestroyNotify)http_listener_free);
  server->addresses = g_ptr_array_new ();
  g_mutex_init (&server->lock);
  server->connections = g_hash_table_new (NULL, NULL);
  server->peers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_cond_init (&server->ended);
  if (!http_server_start (server, options->listen ? options->listen : server->config->http_listen,
                          options->shown, error))
    g_clear_pointer (&server, http_server_free);
  return server;
}

const char *const *
http_server_addresses (struct http_server *server)
{
  return (const char *const *)server->addresses->pdata;
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

REQUIRES (http_server)
static void
shut_all (struct http_server *server, int how)
{
  GHashTableIter iter;
  gpointer connection;
  g_hash_table_iter_init (&iter, server->connections);
  while (g_hash_table_iter_next (&iter, &connection, NULL))
    shutdown (((struct http_connection *)connection)->socket->fd, how);
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
  if (server->accepting) {
    guint64 one = 1;
    G_GNUC_UNUSED ssize_t put = write (server->end_fd, &one, sizeof one);
    pthread_join (server->acceptor, NULL);
  }
  /* Not freed before the connections, which look at theirs. */
  for (guint i = 0; i < server->listeners->len; i++)
    fd_close (&((struct http_listener *)g_ptr_array_index (server->listeners, i))->fd);
  g_mutex_lock (&server->lock);
  server->ending = TRUE;
  shut_all (server, SHUT_RD);
  g_mutex_unlock (&server->lock);
}

static void
wait_for_connections (struct http_server *server)
{
  gint64 deadline = server->closed_us + END_WAIT_US;
  g_mutex_lock (&server->lock);
  while (is_busy (server) && g_cond_wait_until (&server->ended, &server->lock, deadline))
    ;
  /* A client that takes nothing is not waited for any longer. */
  shut_all (server, SHUT_RDWR);
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
  g_ptr_array_unref (server->addresses);
  g_ptr_array_unref (server->listeners);
  fd_close (&server->end_fd);
  identify_free (server->identify);
  if (server->tls)
    server->wire->tls_free (server->tls);
  UNSHARED (http_server);
  g_hash_table_destroy (server->connections);
  g_hash_table_destroy (server->peers);
  g_mutex_clear (&server->lock);
  g_cond_clear (&server->ended);
  quota_unref (server->memory);
  quota_unref (server->disk);
  g_free (server->openapi);
  g_free (server);
}
