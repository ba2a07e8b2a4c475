/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of HTTP: listeners on TCP and unix sockets, as [http] of the configuration says. */
#pragma once

#include <glib.h>

#include "interfaces/http/http.h"

/* Where a server that was asked for by hand listens when nothing says where. */
#define HTTP_USUAL_ADDRESS "127.0.0.1:7117"

struct http_server;

struct http_server_options {
  /* Tables of routes, of which the last is NULL: those of http.h, or others in a test program. */
  const struct http_route *const *tables;
  const char *socket; /* path of a Unix socket of its own, which it keeps to its end; NULL: none */
  const char *listen; /* as for http_server_listen; NULL: there alone */
  gboolean shown;
  /* A connection came or went; called from any thread, with nothing locked. May be NULL. */
  void (*changed) (gpointer data);
  gpointer data;
};

/* All tables of http.h, and NULL. */
extern const struct http_route *const http_all_routes[];

/* Listens; a thread for each connection. Returns NULL with ERROR as http_server_listen, or where a setting of
 * [http] or [oauth] cannot be. */
struct http_server *http_server_new (struct service *service, const struct http_server_options *options,
                                     GError **error);

/* /openapi.json of all tables, without a server. The caller's. */
json_t *http_describe (void);

/* Listens at ADDRESSES, between blanks, and closes all others but its own socket; NULL: that one alone. Who
 * came by one that is closed is hung up on. The certificate is read again. SHOWN: somebody sees the token
 * that is made where there is none; without it none is made, and who has no token waits. FALSE with ERROR: an
 * address that is in use, a certificate that cannot be read, an address that others can reach while there is
 * no token; then it listens where it did before. From any thread. */
gboolean http_server_listen (struct http_server *server, const char *addresses, gboolean shown,
                             GError **error);

/* The certificate is read again, for connections that come from then on. */
gboolean http_server_renew_certificate (struct http_server *server, GError **error);

/* Whether a running server could take over what [http] of CONFIG says. */
gboolean http_server_check_config (const struct config *config, GError **error);

/* Whether a server could start with CONFIG: all of [http] and [oauth], and the files that they name. Nothing
 * is listened on, so an address that is in use does not show. */
gboolean http_server_check_start (const struct config *config, GError **error);

/* Makes Unix sockets again whose files were removed. */
gboolean http_server_renew_sockets (struct http_server *server, GError **error);

/* Where it listens, a URL each, for people and logs ("http://127.0.0.1:7117", "unix:/run/..."). The
 * caller's. */
char **http_server_addresses (struct http_server *server);

/* The token that was made because there was none, to be shown; NULL: there is none. The server's. */
const char *http_server_startup_token (struct http_server *server);

/* How many connections there are: one keeps the daemon from ending for having nothing to do. */
guint http_server_connections (struct http_server *server);

/* Closes the listeners and hangs up on who is there: runs under way end as cancelled, what is replied still
 * is sent. Does not wait. A second time it does nothing. */
void http_server_close (struct http_server *server);

/* Does that, and waits for handlers to return. NULL is allowed. */
void http_server_free (struct http_server *server);
