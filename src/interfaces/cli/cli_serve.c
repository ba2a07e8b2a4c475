/* SPDX-License-Identifier: Apache-2.0 */
/* `adder serve`: the daemon, in the foreground (as systemd wants it) or in the background (as `adder run`
 * wants it). */
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
#include "common/json.h"
#include "common/log.h"
#include "common/size.h"
#include "interfaces/cli/cli.h"
#include "interfaces/http/http_server.h"
#include "interfaces/mcp/mcp.h"
#include "interfaces/socket/client.h"
#include "interfaces/socket/server.h"
#include "library/library.h"

/* A client who is connected and has no run should not keep out one who has: so twice as many connections as
 * can be at work, and who comes too late is told so by the queue, which is fair. */
#define CONNECTIONS_MIN 1024
#define CONNECTIONS_MAX 4096
/* Where descriptors are short. */
#define CONNECTIONS_FEWEST 16

/* Its socket, the eventfd of its run, standard input, a directory for files. */
#define DESCRIPTORS_OF_A_CONNECTION 4

struct serve_options {
  char *socket, *idle_exit;
  gboolean background, openapi;
  gboolean http;     /* as --http says, */
  char *http_listen; /* there; NULL: as the configuration has it */
  int ready_fd;      /* where client_start_daemon waits; -1: nobody does */
};

/* ---- telling that we are ready ---- */

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

/* The first run should not wait for imports. A default environment that is missing or broken is said by the
 * runs. */
static gpointer
warm (gpointer data)
{
  g_autoptr (GError) problem = NULL;
  if (adder_engine_warm (data, NULL, &problem))
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

/* Where there is no token, one is made and shown to who started us: on standard output. In the background
 * that is the log, and a log has no tokens: none is made. */
static void
tell_http (struct http_server *http)
{
  g_autofree char *addresses = g_strjoinv (" ", (char **)http_server_addresses (http));
  log_info ("http: listens on %s", addresses);
  const char *token = http_server_startup_token (http);
  if (!token)
    return;
  printf ("There is no token yet (adder token create NAME makes one). This one holds until the daemon "
          "ends:\n%s\n",
          token);
  fflush (stdout);
}

/* TRUE with *RET_HTTP NULL where nobody asks for it. */
static gboolean
start_http (const struct serve_options *options, struct service *service, struct server *server,
            struct http_server **ret_http, GError **error)
{
  const struct config *config = service->config;
  gboolean configured = strcmp (config->http_listen, "none") != 0;
  const struct http_server_options http_options = {
      .tables = http_all_routes,
      .listen = options->http_listen ? options->http_listen
                : configured         ? NULL
                                     : HTTP_USUAL_ADDRESS,
      .shown = !options->background,
      .changed = server_look,
      .data = server,
  };
  if (!configured && !options->http)
    return TRUE;
  *ret_http = http_server_new (service, &http_options, error);
  if (*ret_http)
    tell_http (*ret_http);
  return *ret_http != NULL;
}

static gboolean
cli_serve_serve (struct serve_options *options, const struct config *config, const char *socket,
                 GError **error)
{
  struct server_options server_options = {
      .socket = socket,
      .idle_exit_ms = options->background ? config->idle_exit_ms : 0,
      .log_code = config->log_code,
      .wait_for_lock = options->background,
  };
  if (options->idle_exit && !duration_parse (options->idle_exit, 1000, &server_options.idle_exit_ms, error)) {
    g_prefix_error (error, "--idle-exit: ");
    return FALSE;
  }
  host_own_process ();
  server_options.max_connections = cli_serve_max_connections (config);
  struct server *server = server_new (&server_options, error);
  AdderEngine *engine = server ? adder_engine_new (NULL, error) : NULL;
  if (!engine) {
    server_free (server);
    return FALSE;
  }
  struct service *service = service_new (engine);
  server_set_service (server, service);
  service->mcp = mcp_server_new (service);
  struct http_server *http = NULL;
  if (!start_http (options, service, server, &http, error)) {
    mcp_server_free (service->mcp);
    service_free (service);
    adder_engine_free (engine);
    server_free (server);
    return FALSE;
  }
  log_info ("adder %s listens on %s", adder_version (), socket);
  tell_ready (options, "R");
  notify_systemd ("READY=1");
  GThread *warming = g_thread_new ("warm", warm, engine);
  server_set_http (server, http);
  gboolean ok = server_loop (server, error);
  notify_systemd ("STOPPING=1");
  http_server_free (http);
  /* Ends the warming as well, which may be in the middle of imports. */
  engine_close (engine->engine);
  g_thread_join (warming);
  mcp_server_free (service->mcp);
  service_free (service);
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

static gboolean
run_daemon (struct serve_options *options, GError **error)
{
  struct config *config = config_load (NULL, error);
  if (!config)
    return FALSE;
  log_to_stderr (config->log_level, config->log_format);
  cli_serve_block_signals ();
  g_autofree char *socket = socket_of (options, config, error);
  gboolean ok = socket && cli_serve_serve (options, config, socket, error);
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

/* A daemon that was started would wait some seconds for the lock of the one that is there. */
static gboolean
nobody_serves (const char *socket, GError **error)
{
  struct client client;
  if (!client_connect (socket, &client, NULL))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "a daemon serves %s already (process %" G_GINT64_FORMAT ")", socket, client.daemon.pid);
  client_close (&client);
  return FALSE;
}

static gboolean
start_in_background (const struct serve_options *options, GError **error)
{
  struct config *config = config_load (NULL, error);
  if (!config)
    return FALSE;
  g_autofree char *socket = socket_of (options, config, error);
  g_autofree char *http = !options->http         ? NULL
                          : options->http_listen ? g_strdup_printf ("--http=%s", options->http_listen)
                                                 : g_strdup ("--http");
  config_free (config);
  return socket && nobody_serves (socket, error) &&
         client_start_daemon (socket, options->idle_exit, http, error);
}

/* An option whose argument may be left out is taken by a callback, which has no data but what is static. */
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

int
cli_serve (int argc, char **argv)
{
  struct serve_options options = {.ready_fd = -1};
  g_autoptr (GError) problem = NULL;
  const GOptionEntry entries[] = {
      {"socket", 0, 0, G_OPTION_ARG_FILENAME, &options.socket,
       "Socket to answer on (default: the configuration's)", "PATH"},
      {"background", 0, 0, G_OPTION_ARG_NONE, &options.background,
       "Return when the daemon listens; it logs to adder.log", NULL},
      {"idle-exit", 0, 0, G_OPTION_ARG_FILENAME, &options.idle_exit,
       "End after so long without a connection, in seconds or as in 10min; 0: never (the default in the "
       "foreground)",
       "TIME"},
      {"http", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (void *)take_http,
       "Answer HTTP as well (default: where [http] listen says, else on " HTTP_USUAL_ADDRESS ")", "ADDRESS"},
      {"openapi", 0, 0, G_OPTION_ARG_NONE, &options.openapi,
       "Print the description of HTTP, /openapi.json, and serve nothing", NULL},
      {"ready-fd", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &options.ready_fd, NULL, NULL},
      {NULL},
  };
  int code = 0;
  taking = &options;
  if (!cli_parse (entries, 0, 0, &argc, &argv, &problem))
    code = cli_fail_usage (problem);
  else if (options.openapi)
    print_openapi ();
  else if (options.background && options.ready_fd < 0 ? !start_in_background (&options, &problem)
                                                      : !run_daemon (&options, &problem)) {
    code = cli_fail (problem);
    tell_ready (&options, problem->message);
  }
  g_free (options.socket);
  g_free (options.idle_exit);
  g_free (options.http_listen);
  return code;
}
