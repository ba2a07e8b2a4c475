/* SPDX-License-Identifier: Apache-2.0 */
/* `adder serve`, `adder serve start`: the daemon, in the foreground (as systemd wants it) or in the
 * background (as `adder run` wants it). */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/config.h"
#include "common/first_process.h"
#include "common/inherited_sockets.h"
#include "common/json.h"
#include "common/local_socket.h"
#include "common/log.h"
#include "common/size.h"
#include "common/trace.h"
#include "interfaces/cli/cli.h"
#include "interfaces/http/http_node.h"
#include "interfaces/http/http_server.h"
#include "interfaces/http/http_worker.h"
#include "interfaces/mcp/mcp.h"
#include "interfaces/service/cluster_handover.h"
#include "interfaces/service/cluster_node.h"
#include "interfaces/socket/client.h"
#include "interfaces/socket/server.h"
#include "library/library.h"
#include "store/departed.h"

/* Idle connections must not keep out callers with a run: so twice as many connections as can be at work; the
 * queue, which is fair, refuses latecomers. */
#define CONNECTIONS_MIN 1024
#define CONNECTIONS_MAX 4096
/* When descriptors are short. */
#define CONNECTIONS_FEWEST 16

/* Its socket, the eventfd of its run, standard input, a directory for files. */
#define DESCRIPTORS_OF_A_CONNECTION 4

struct serve_options {
  char *socket, *idle_exit;
  gboolean background, openapi, for_command;
  gboolean http;     /* as --http says, */
  char *http_listen; /* there; NULL: as configured; "off": only at the daemon's socket */
  gboolean ousted;   /* an existing daemon was asked to end */
  int ready_fd;      /* where client_start_daemon waits; -1: nobody does */
};

/* ---- reporting readiness ---- */

/* sd_notify(3) in a few lines: the protocol is stable, the library would be one more dependency. */
static void
notify_systemd (const char *state)
{
  const char *path = g_getenv ("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || (path[0] != '/' && path[0] != '@') || strlen (path) >= sizeof address.sun_path)
    return;
  memcpy (address.sun_path, path, strlen (path));
  if (path[0] == '@')
    address.sun_path[0] = '\0';
  autoclose int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  socklen_t size = (socklen_t)(offsetof (struct sockaddr_un, sun_path) + strlen (path));
  if (fd >= 0)
    (void)sendto (fd, state, strlen (state), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
}

static void
tell_ready (struct serve_options *options, const char *text)
{
  if (options->ready_fd < 0)
    return;
  (void)fd_write_all (options->ready_fd, text, strlen (text));
  fd_close (&options->ready_fd);
}

/* ---- the daemon ---- */

/* The first run should not wait for imports. Runs report a missing or broken default environment. */
static gpointer
warm (gpointer data)
{
  g_autoptr (GError) problem = NULL;
  const AdderEngine *engine = data;
  if (engine->engine->host->config->cluster_gateway)
    log_info ("a gateway: other nodes run the code");
  else if (adder_engine_warm (data, NULL, &problem))
    log_info ("the default environment is warm");
  else if (!g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_CANCELLED))
    log_warning ("the default environment is not warm: %s", problem->message);
  return NULL;
}

/* As many as the process can have descriptors for, of each user. */
static guint
cli_serve_max_connections (const struct config *config)
{
  struct rlimit limit;
  guint64 most = CLAMP (2 * (config->max_running + config->max_queued), CONNECTIONS_MIN, CONNECTIONS_MAX);
  guint64 taken = host_descriptors (config);
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
    guint64 left = limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
    most = MIN (most, left / DESCRIPTORS_OF_A_CONNECTION);
  }
  return (guint)MAX (most, CONNECTIONS_FEWEST);
}

static gboolean
is_off (const struct serve_options *options)
{
  return options->http_listen && strcmp (options->http_listen, "off") == 0;
}

/* TOKEN (or NULL) is printed on standard output. In the background that is the log, which must not contain
 * tokens. */
static void
print_startup_token (const char *token)
{
  if (token)
    printf ("There is no token yet (adder token new NAME makes one). This one holds until the daemon "
            "ends:\n%s\n",
            token);
  fflush (stdout);
}

/* Whether other machines can reach URL without encryption. */
static gboolean
is_clear_text (const char *url)
{
  return g_str_has_prefix (url, "http://") && !g_str_has_prefix (url, "http://127.") &&
         !g_str_has_prefix (url, "http://[::1]:");
}

#define CLEAR_TEXT                                                                                           \
  "%s is open to other machines without TLS: tokens, code and data can be read on the way. Set [http] "      \
  "certificate "                                                                                             \
  "and key in adder.conf, or listen on 127.0.0.1 behind a proxy that speaks TLS"

static void
tell_http (struct http_server *http)
{
  g_auto (GStrv) addresses = http_server_addresses (http);
  g_autofree char *text = g_strjoinv (" ", addresses);
  log_info ("http: listens on %s", text);
  for (gsize i = 0; addresses[i]; i++)
    if (is_clear_text (addresses[i]))
      log_warning ("http: " CLEAR_TEXT, addresses[i]);
  print_startup_token (http_server_startup_token (http));
}

/* Where the daemon listens besides its own socket; NULL: nowhere. */
static const char *
wanted_addresses (const struct serve_options *options, const struct config *config)
{
  gboolean configured = strcmp (config->http_listen, "none") != 0;
  if (is_off (options) || (!configured && !options->http))
    return NULL;
  return options->http_listen ? options->http_listen : configured ? config->http_listen : HTTP_USUAL_ADDRESS;
}

/* A daemon without HTTP is still useful at its own socket: then *RET_HTTP is NULL. */
static gboolean
start_http (const struct serve_options *options, struct service *service, struct server *server,
            const char *socket, struct http_server **ret_http, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *path = local_socket_http_path (socket);
  const struct http_server_options http_options = {
      .tables = http_all_routes,
      .socket = path,
      .listen = wanted_addresses (options, service->config),
      .shown = !options->background,
      .changed = server_look,
      .data = server,
  };
  gboolean must_listen = http_options.listen || inherited_sockets_http ()->len > 0;
  *ret_http = http_server_new (service, &http_options, &problem);
  if (*ret_http)
    tell_http (*ret_http);
  else if (must_listen)
    g_propagate_error (error, g_steal_pointer (&problem));
  else
    log_warning ("HTTP is not answered: %s", problem->message);
  return *ret_http || !must_listen;
}

static gboolean
cli_serve_serve (struct serve_options *options, const struct config *config, const char *socket, int *lock_fd,
                 GError **error)
{
  struct server_options server_options = {
      .socket = socket,
      .idle_exit_ms = options->background && !config->cluster_nats ? config->idle_exit_ms : 0,
      .log_code = config->log_code,
      .wait_for_lock = options->background || options->ousted,
      .started_by_command = options->for_command,
  };
  if (options->idle_exit && !duration_parse (options->idle_exit, 1000, &server_options.idle_exit_ms, error)) {
    g_prefix_error (error, "--idle-exit: ");
    return FALSE;
  }
  host_own_process (first_process_is_parent ());
  server_options.max_connections = cli_serve_max_connections (config);
  struct server *server = server_new (&server_options, error);
  fd_close (lock_fd);
  AdderEngine *engine = server ? adder_engine_new (NULL, error) : NULL;
  if (!engine) {
    server_free (server);
    return FALSE;
  }
  struct service *service = service_new (engine);
  server_set_service (server, service);
  service->mcp = mcp_server_new (service);
  struct http_server *http = NULL;
  struct cluster *cluster = NULL;
  if (!trace_start (config, store_node (engine->store), error) ||
      !cluster_node_join (service, &cluster, error) ||
      !start_http (options, service, server, socket, &http, error)) {
    cluster_node_leave (service, cluster);
    mcp_server_free (service->mcp);
    service_free (service);
    trace_stop ();
    adder_engine_free (engine);
    server_free (server);
    return FALSE;
  }
  struct tunnel_host *tunnels = NULL;
  if (cluster && http) {
    const struct tunnel_host_options tunnel_options = {config->cluster_gateway ? 0
                                                                               : (guint)config->max_running,
                                                       http_node_is_closed, http_node_connect, http};
    tunnels = tunnel_host_new (cluster, &tunnel_options, error);
  }
  struct http_worker *worker = cluster && http && !config->cluster_gateway && store_is_shared (config)
                                   ? http_worker_new (http, cluster)
                                   : NULL;
  log_info ("adder %s listens on %s", adder_version (), socket);
  tell_ready (options, "R");
  notify_systemd ("READY=1");
  GThread *warming = g_thread_new ("warm", warm, engine);
  server_set_http (server, http);
  gboolean ok = server_loop (server, error);
  notify_systemd ("STOPPING=1");
  cluster_handover_end (service);
  http_worker_free (worker);
  tunnel_host_free (tunnels);
  http_server_free (http);
  /* Ends the warm-up as well, which may be in the middle of imports. */
  engine_close (engine->engine);
  g_thread_join (warming);
  /* Others tell how its sessions ended as soon as they know it no more. */
  if (cluster)
    departed_settle (store_departed (engine->store));
  cluster_node_leave (service, cluster);
  mcp_server_free (service->mcp);
  service_free (service);
  trace_stop ();
  adder_engine_free (engine);
  server_free (server);
  log_info ("ended");
  return ok;
}

/* Blocked before the first thread, so that only the server's signalfd takes them. */
static void
cli_serve_block_signals (void)
{
  sigset_t signals;
  sigemptyset (&signals);
  sigaddset (&signals, SIGTERM);
  sigaddset (&signals, SIGINT);
  sigaddset (&signals, SIGHUP);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
}

static char *
socket_of (const struct serve_options *options, const struct config *config, GError **error)
{
  return options->socket ? g_canonicalize_filename (options->socket, NULL) : config_socket (config, error);
}

/* *LOCK_FD is closed when the daemon has its own lock. */
static gboolean
run_daemon (struct serve_options *options, int *lock_fd, GError **error)
{
  struct config *config = config_load (NULL, error);
  if (!config)
    return FALSE;
  log_to_stderr (config->log_level, config->log_format);
  cli_serve_block_signals ();
  g_autofree char *socket = socket_of (options, config, error);
  gboolean ok = socket && cli_serve_serve (options, config, socket, lock_fd, error);
  config_free (config);
  return ok;
}

/* ---- the command ---- */

static void
print_openapi (void)
{
  g_autoptr (json_t) document = http_describe ();
  cli_print_json (document);
}

/* Makes the daemon at SOCKET answer HTTP as OPTIONS say, and prints its addresses. */
static gboolean
listen_there (const struct serve_options *options, const char *socket, GError **error)
{
  g_autoptr (json_t) params = json_object ();
  if (is_off (options))
    json_object_set_new (params, "off", json_true ());
  else if (options->http_listen)
    json_object_set_new (params, "addresses", json_text_or_null (options->http_listen));
  g_autoptr (json_t) answer = client_call (socket, "daemon.listen", json_incref (params), error);
  if (!answer)
    return FALSE;
  gsize i;
  json_t *address;
  json_array_foreach (json_object_get (answer, "addresses"), i, address)
  {
    printf ("HTTP: %s\n", json_string_value (address));
    if (is_clear_text (json_string_value (address)))
      fprintf (stderr, "adder: warning: " CLEAR_TEXT "\n", json_string_value (address));
  }
  print_startup_token (json_string_value (json_object_get (answer, "token")));
  return TRUE;
}

static gboolean
start_in_background (const struct serve_options *options, const char *socket, GError **error)
{
  /* HTTP comes after the start, so that the user who started it sees its token. */
  if (!client_start_daemon (socket, options->idle_exit, options->http, error))
    return FALSE;
  if (!options->http || is_off (options) || listen_there (options, socket, error))
    return TRUE;
  struct client client;
  struct client_stopped stopped;
  if (client_connect (socket, &client, NULL)) {
    client_stop (&client, CLIENT_STOP_IDLE, &stopped, NULL);
    client_close (&client);
  }
  return FALSE;
}

/* ---- with a daemon already running ---- */

enum way { WAY_SERVE, WAY_DONE, WAY_FAILED };

static enum way
listen_way (const struct serve_options *options, const char *socket, GError **error)
{
  return listen_there (options, socket, error) ? WAY_DONE : WAY_FAILED;
}

static enum way
refuse_to_serve (const struct client *client, const char *socket, const char *advice, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "a daemon serves %s already (process %" G_GINT64_FORMAT "): %s", socket, client->daemon.pid,
               advice);
  return WAY_FAILED;
}

/* Ends a daemon that a command started, and what it holds: `adder serve` by hand or by a supervisor must get
 * the socket. */
static enum way
oust (struct client *client, struct serve_options *options, GError **error)
{
  struct client_stopped held;
  if (!client_stop (client, CLIENT_STOP_ALL, &held, error))
    return WAY_FAILED;
  log_warning ("the daemon that a command had started (process %" G_GINT64_FORMAT
               ") was replaced; %u runs and %u sessions ended with it",
               client->daemon.pid, held.running, held.sessions);
  options->ousted = TRUE;
  return WAY_SERVE;
}

/* A daemon started on purpose stays. One that a command started makes room, but while it holds something a
 * person must decide: it is ended only if nobody can be asked. */
static enum way
make_way (struct client *client, struct serve_options *options, const char *socket, GError **error)
{
  struct client_stopped held = {0};
  if (!client->daemon.started_by_command)
    return options->http ? listen_way (options, socket, error)
                         : refuse_to_serve (client, socket, "adder serve stop ends it", error);
  /* A daemon in the background is not a supervisor's, which would wait for its end. */
  if (!isatty (STDERR_FILENO) && !options->background)
    return oust (client, options, error);
  if (!client_stop (client, CLIENT_STOP_IDLE, &held, error))
    return WAY_FAILED;
  options->ousted = held.stopped;
  if (held.stopped) {
    log_info ("an idle daemon that a command had started (process %" G_GINT64_FORMAT ") was replaced",
              client->daemon.pid);
    return WAY_SERVE;
  }
  return options->http ? listen_way (options, socket, error)
                       : refuse_to_serve (client, socket,
                                          "it has runs or sessions; adder serve stop --force ends it", error);
}

/* With *RET_LOCK_FD no command starts a daemon meanwhile. */
static enum way
find_way (struct serve_options *options, const char *socket, int *ret_lock_fd, GError **error)
{
  struct client client;
  if (!client_lock_start (socket, ret_lock_fd, error))
    return WAY_FAILED;
  if (!client_connect (socket, &client, NULL))
    return WAY_SERVE;
  /* With --http an existing daemon will do, and counts as started on purpose from then on. */
  enum way way = options->background && options->http ? listen_way (options, socket, error)
                                                      : make_way (&client, options, socket, error);
  client_close (&client);
  return way;
}

/* Whether a service manager listens at the local socket for us: then connecting would be waiting for
 * ourselves. */
static gboolean
is_activated (const char *socket)
{
  autoclose int fd = inherited_sockets_find_unix (socket);
  return fd >= 0;
}

/* `adder serve` for a person or a supervisor. */
static gboolean
serve_by_hand (struct serve_options *options, GError **error)
{
  struct config *config = config_load (NULL, error);
  if (!config)
    return FALSE;
  log_to_stderr (config->log_level, config->log_format);
  autoclose int lock_fd = -1;
  g_autofree char *socket = socket_of (options, config, error);
  gboolean ok = socket && (options->background || inherited_sockets_take (socket, error));
  enum way way = !ok                     ? WAY_FAILED
                 : is_activated (socket) ? WAY_SERVE
                                         : find_way (options, socket, &lock_fd, error);
  config_free (config);
  if (way != WAY_SERVE)
    return way == WAY_DONE;
  if (options->background)
    return start_in_background (options, socket, error);
  return run_daemon (options, &lock_fd, error);
}

/* A callback takes an option with an optional argument; it has only static data. */
static struct serve_options *taking;

static gboolean
take_http (G_GNUC_UNUSED const char *name, const char *value, G_GNUC_UNUSED gpointer data,
           G_GNUC_UNUSED GError **error)
{
  taking->http = TRUE;
  g_free (taking->http_listen);
  taking->http_listen = g_strdup (value);
  return TRUE;
}

static int
serve (gboolean background, int argc, char **argv)
{
  struct serve_options options = {.background = background, .ready_fd = -1};
  gboolean gateway = FALSE;
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"socket", 0, 0, G_OPTION_ARG_FILENAME, &options.socket, "The daemon's socket (default: as configured)",
       "PATH"},
      {"background", 0, 0, G_OPTION_ARG_NONE, &options.background,
       "Return when the daemon listens (adder serve start); it logs to adder.log", NULL},
      {"idle-exit", 0, 0, G_OPTION_ARG_FILENAME, &options.idle_exit,
       "Exit after this time without a connection, in seconds or as in 10min; 0: never (the default in the "
       "foreground)",
       "TIME"},
      {"http", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (void *)take_http,
       "Answer HTTP by TCP as well (default: where [http] listen says, else on " HTTP_USUAL_ADDRESS
       "), also in a daemon that is there; off: no longer",
       "ADDRESS"},
      {"gateway", 0, 0, G_OPTION_ARG_NONE, &gateway,
       "Pass requests over HTTP on to the nodes of the cluster, and run nothing, as with [cluster] gateway",
       NULL},
      {"openapi", 0, 0, G_OPTION_ARG_NONE, &options.openapi,
       "Print the description of the HTTP API, /openapi.json, and exit", NULL},
      {"for-command", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.for_command, NULL, NULL},
      {"ready-fd", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &options.ready_fd, NULL, NULL},
      {NULL},
  };
  int code = 0, no_fd = -1;
  taking = &options;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (options.openapi)
    print_openapi ();
  else if (gateway && !g_setenv (CONFIG_GATEWAY, "1", TRUE))
    code = CLI_FAILED;
  else if (!options.background && first_process_wait (&code))
    ;
  else if (options.ready_fd < 0 ? !serve_by_hand (&options, &problem)
                                : !run_daemon (&options, &no_fd, &problem)) {
    code = cli_fail (problem);
    tell_ready (&options, problem->message);
  }
  g_free (options.socket);
  g_free (options.idle_exit);
  g_free (options.http_listen);
  return code;
}

static int
cli_serve_start (int argc, char **argv)
{
  return serve (TRUE, argc, argv);
}

static const struct cli_command commands[] = {
    {"start", "", "start the daemon in the background", cli_serve_start, .stays = TRUE,
     .examples = "adder serve start\nadder serve start --http"},
    {"status", "", "show the state of the daemon", cli_serve_status,
     .examples = "adder serve status\nadder serve status --json"},
    {"logs", "", "show what the daemon logged in the background", cli_serve_logs, .stays = TRUE,
     .examples = "adder serve logs -n 20"},
    {"reload", "[--json]", "make the daemon read its configuration again",
     ASKS (.operation = "daemon.reload", .view = cli_serve_reload_view), .examples = "adder serve reload"},
    {"stop", "", "stop the daemon and everything that it runs", cli_serve_stop, .stays = TRUE,
     .examples = "adder serve stop\nadder serve stop --force"},
    {0},
};

int
cli_serve (int argc, char **argv)
{
  int code = CLI_FAILED;
  if (cli_dispatch_optional ("adder serve", "The daemon.", commands, argc, argv, &code))
    return code;
  return cli_stays_here () ? serve (FALSE, argc, argv) : code;
}
