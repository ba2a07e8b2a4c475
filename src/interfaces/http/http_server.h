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
  const char *listen; /* addresses between blanks, in place of the configuration's; NULL: those */
  gboolean shown;     /* somebody sees the startup token: without, none is made, and who has no token waits */
  /* A connection came or went; called from any thread, with nothing locked. May be NULL. */
  void (*changed) (gpointer data);
  gpointer data;
};

/* All tables of http.h, and NULL. */
extern const struct http_route *const http_all_routes[];

/* Listens; a thread for each connection. Returns NULL with ERROR: an address that is in use, a certificate
 * that cannot be read, an address that others can reach while no token is there. */
struct http_server *http_server_new (struct service *service, const struct http_server_options *options,
                                     GError **error);

/* /openapi.json of all tables, without a server. The caller's. */
json_t *http_describe (void);

/* Where it listens, a URL each, for people and logs ("http://127.0.0.1:7117", "unix:/run/..."); the
 * server's; ends with NULL. */
const char *const *http_server_addresses (struct http_server *server);

/* The token that was made for this start, to be shown once; NULL: there is none. The server's. */
const char *http_server_startup_token (struct http_server *server);

/* How many connections there are: one keeps the daemon from ending for having nothing to do. */
guint http_server_connections (struct http_server *server);

/* Closes the listeners and hangs up on who is there: runs under way end as cancelled, what is replied still
 * is sent. Does not wait. A second time it does nothing. */
void http_server_close (struct http_server *server);

/* Does that, and waits for handlers to return. NULL is allowed. */
void http_server_free (struct http_server *server);
