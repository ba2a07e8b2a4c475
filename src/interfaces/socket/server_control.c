/* SPDX-License-Identifier: Apache-2.0 */
/* What a daemon can be told while it runs: where it answers HTTP, and that its configuration has changed. */
#include <string.h>

#include "common/json.h"
#include "common/log.h"
#include "interfaces/http/http_server.h"
#include "interfaces/http/web_page.h"
#include "interfaces/service/cluster_handover.h"
#include "interfaces/socket/server_private.h"
#include "library/library.h"
#include "policy/sign_in_codes.h"

static json_t *
server_control_addresses (struct http_server *http)
{
  g_auto (GStrv) addresses = http ? http_server_addresses (http) : g_new0 (char *, 1);
  return json_of_texts ((const char *const *)addresses);
}

/* Whoever asks for it wants this daemon, so that it is not one that a command may replace or that ends for
 * having nothing to do. */
static void
become_wanted (struct server *server)
{
  g_mutex_lock (&server->lock);
  server->hello.started_by_command = FALSE;
  server->idle_exit_ms = 0;
  g_mutex_unlock (&server->lock);
  server_wake (server);
}

static void
set_no_http (GError **error)
{
  g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                       "this daemon could not start its HTTP server: its log says why");
}

json_t *
server_listen (gpointer data, const char *addresses, gboolean off, GError **error)
{
  struct server *server = data;
  struct http_server *http = server->http;
  const char *configured = server->service->config->http_listen;
  const char *usual = strcmp (configured, "none") != 0 ? configured : HTTP_USUAL_ADDRESS;
  if (!http) {
    set_no_http (error);
    return NULL;
  }
  g_mutex_lock (&server->reloading);
  gboolean ok = http_server_listen (http, off ? NULL : addresses ? addresses : usual, TRUE, error);
  g_mutex_unlock (&server->reloading);
  if (!ok)
    return NULL;
  if (!off)
    become_wanted (server);
  json_t *urls = server_control_addresses (http);
  g_autofree char *text = json_to_text (urls);
  log_info ("http: listens on %s", text);
  return json_pack ("{s:o, s:o}", "addresses", urls, "token",
                    json_text_or_null (off ? NULL : http_server_startup_token (http)));
}

json_t *
server_open (gpointer data, const char *owner, GError **error)
{
  struct server *server = data;
  struct http_server *http = server->http;
  if (!http) {
    set_no_http (error);
    return NULL;
  }
  if (!web_page_exists ()) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "the daemon was built without the web interface: -Dweb=true builds it "
                         "(docs/install.md)");
    return NULL;
  }
  gboolean listens;
  g_mutex_lock (&server->reloading);
  g_autofree char *url = http_server_open (http, &listens, error);
  g_mutex_unlock (&server->reloading);
  g_autofree char *code = url ? http_server_new_code (http, owner, error) : NULL;
  if (!code)
    return NULL;
  if (listens)
    log_info ("http: listens on %s as well, for a browser of this machine", url);
  become_wanted (server);
  json_t *answer = json_pack ("{s:s, s:s, s:i}", "url", url, "code", code, "expires_ms", SIGN_IN_CODE_MS);
  explicit_bzero (code, strlen (code));
  return answer;
}

/* What cannot be is refused as a whole, before anything of it holds. */
static struct config *
server_control_read (GError **error)
{
  struct config *fresh = config_load (NULL, error);
  if (fresh && http_server_check_config (fresh, error))
    return fresh;
  config_free (fresh);
  return NULL;
}

static gboolean
listen_as_configured (struct server *server, const char *before, GError **error)
{
  const char *now = server->service->config->http_listen;
  gboolean none = strcmp (now, "none") == 0;
  if (!server->http)
    return TRUE;
  return strcmp (before, now) == 0 ? http_server_renew_certificate (server->http, error)
                                   : http_server_listen (server->http, none ? NULL : now, FALSE, error);
}

json_t *
server_reload (gpointer data, GError **error)
{
  struct server *server = data;
  struct config *config = server->service->engine->engine->host->config;
  struct config *fresh = server_control_read (error);
  if (!fresh)
    return NULL;
  g_auto (GStrv) applied = NULL, restart = NULL;
  g_mutex_lock (&server->reloading);
  struct config *before = config_copy (config);
  config_reload (config, fresh, &applied, &restart);
  gboolean ok = listen_as_configured (server, before->http_listen, error);
  if (!ok) {
    g_auto (GStrv) undone = NULL, none = NULL;
    config_reload (config, before, &undone, &none);
  }
  log_set_level (config->log_level);
  g_mutex_unlock (&server->reloading);
  config_free (before);
  config_free (fresh);
  if (!ok)
    return NULL;
  g_autofree char *done = g_strjoinv (", ", applied), *left = g_strjoinv (", ", restart);
  log_info ("the configuration was read again; changed: %s; after a restart: %s", done[0] ? done : "nothing",
            left[0] ? left : "nothing");
  return json_pack ("{s:o, s:o, s:o}", "applied", json_of_texts ((const char *const *)applied), "restart",
                    json_of_texts ((const char *const *)restart), "http",
                    server_control_addresses (server->http));
}

void
server_drain (gpointer data, guint64 wait_ms)
{
  struct server *server = data;
  log_info ("draining: no new work; the end comes after what is under way, in %" G_GUINT64_FORMAT
            " ms at the latest",
            wait_ms);
  service_drain (server->service, wait_ms);
  cluster_handover_start (server->service);
  server_wake (server);
}

gboolean
server_is_stale (struct server *server)
{
  g_mutex_lock (&server->reloading);
  gboolean stale = config_is_stale (server->service->config);
  g_mutex_unlock (&server->reloading);
  return stale;
}
