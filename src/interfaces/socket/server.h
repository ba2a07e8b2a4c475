/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of the local socket: a thread for each connection, blocking calls all the way down. */
#pragma once

#include <glib.h>

#include "interfaces/service/service.h"

struct server_options {
  const char *socket;    /* path */
  guint64 idle_exit_ms;  /* ends after so long without a connection; 0: never */
  guint max_connections; /* of each user */
  gboolean log_code;
  gboolean wait_for_lock; /* a daemon that is just ending holds it a little longer: wait for some seconds */
  gboolean started_by_command; /* that needed a daemon, and not by somebody who wanted one */
};

struct server;
struct http_server;

/* Takes the lock beside the socket (SOCKET.lock) and listens, mode 0600. ADDER_ERROR_BUSY when another daemon
 * serves the socket. What a killed daemon left there is replaced. */
struct server *server_new (const struct server_options *options, GError **error);

/* What it serves. To be called first: the status of SERVICE's engine tells of SERVER from then on, as long as
 * both live. */
void server_set_service (struct server *server, struct service *service);

/* The daemon's other interface: its connections keep it from ending, its addresses are in the status, and
 * server_loop closes it with its own. NULL: there is none. To be freed after server_loop. */
void server_set_http (struct server *server, struct http_server *http);

/* Has the main thread look around: something came or went. From any thread; DATA is a struct server. */
void server_look (gpointer data);

/* Serves until SIGTERM or SIGINT, a STOP, or the idle time; SIGHUP reads the configuration again, but ends it
 * where the terminal is gone. The caller has blocked these signals in all threads. Runs under way are
 * cancelled and their results sent. Returns FALSE with ERROR only when waiting itself fails. */
gboolean server_loop (struct server *server, GError **error);

/* Removes the socket and gives up the lock: call it when the engine is gone, so that a next daemon does not
 * start beside this one. NULL is allowed. */
void server_free (struct server *server);
