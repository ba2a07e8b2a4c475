/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of HTTP: listeners on TCP and unix sockets, as configured in [http]. */
#pragma once

#include <glib.h>

#include "interfaces/http/http.h"

/* The default address of a server started by hand. */
#define HTTP_USUAL_ADDRESS "127.0.0.1:7117"

struct http_server;

struct http_server_options {
  /* Tables of routes, ending with NULL: those of http.h, or others in a test program. */
  const struct http_route *const *tables;
  const char *socket; /* path of a Unix socket of its own, which it keeps to its end; NULL: none */
  const char *listen; /* as for http_server_listen; NULL: only its own socket */
  gboolean shown;
  /* A connection came or went; called from any thread, with nothing locked. May be NULL. */
  void (*changed) (gpointer data);
  gpointer data;
};

/* All tables of http.h, and NULL. */
extern const struct http_route *const http_all_routes[];

/* Listens; a thread for each connection. Returns NULL with ERROR as http_server_listen, or when a setting of
 * [http] or [oauth] is invalid. */
struct http_server *http_server_new (struct service *service, const struct http_server_options *options,
                                     GError **error);

/* /openapi.json of all tables, without a server. The caller's. */
json_t *http_describe (void);

/* Listens at ADDRESSES, separated by blanks, and closes all others but its own socket and those of a service
 * manager (common/inherited_sockets.h); NULL: at those alone.
 * Connections by a closed address are hung up. The certificate is read again. SHOWN: if there is no token,
 * one is made for somebody to see; otherwise none is made, and callers without a token wait. FALSE with
 * ERROR: an address in use, an unreadable certificate, an address that others can reach while there is no
 * token; then it listens where it did before. From any thread. */
gboolean http_server_listen (struct http_server *server, const char *addresses, gboolean shown,
                             GError **error);

/* Reads the certificate again, for new connections. */
gboolean http_server_renew_certificate (struct http_server *server, GError **error);

/* Whether a running server could take over what [http] of CONFIG says. */
gboolean http_server_check_config (const struct config *config, GError **error);

/* Whether a server could start with CONFIG: all of [http] and [oauth], and the files that they name. It does
 * not listen, so it misses addresses in use. */
gboolean http_server_check_start (const struct config *config, GError **error);

/* Recreates Unix sockets whose files were removed. */
gboolean http_server_renew_sockets (struct http_server *server, GError **error);

/* The address of the page for a browser of this machine, "http://127.0.0.1:7117/": where it listens on
 * loopback already, else besides at HTTP_USUAL_ADDRESS, or a free port if that is taken. *RET_NEW: it listens
 * there from now on. The caller's; NULL with ERROR. From any thread. */
char *http_server_open (struct http_server *server, gboolean *ret_new, GError **error);

/* A one-time code by which a browser signs in as ACCOUNT ("uid:1000"); the caller's, or NULL with ERROR. From
 * any thread. */
char *http_server_new_code (struct http_server *server, const char *account, GError **error);

/* Where it listens, one URL each, for people and logs ("http://127.0.0.1:7117", "unix:/run/..."). The
 * caller's. */
char **http_server_addresses (struct http_server *server);

/* The token that was made because there was none, to be shown; NULL: none was made. The server's. */
const char *http_server_startup_token (struct http_server *server);

/* The number of connections: any one keeps the daemon from ending as idle. */
guint http_server_connections (struct http_server *server);

/* After the file of tokens has changed: ends what is under way for callers whose token has ended. From any
 * thread. */
void http_server_check_tokens (struct http_server *server);

/* Closes the listeners and hangs up on clients: active runs end as cancelled, replies are still sent. Does
 * not wait. A second call does nothing. */
void http_server_close (struct http_server *server);

/* Does that, and waits for handlers to return. NULL is allowed. */
void http_server_free (struct http_server *server);
