/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the daemon's side share: server.c, its life, and server_requests.c, what is asked of
 * it. */
#pragma once

#include <sys/types.h>

#include "common/guarded.h"
#include "common/local_socket.h"
#include "interfaces/socket/protocol.h"
#include "interfaces/socket/server.h"

LOCK_CLASS (server);
LOCK_CLASS (reloading);

struct server {
  struct local_socket socket;
  int wake_fd, removed_fd; /* an eventfd; an inotify instance, -1: there is none */
  int tokens_watch;        /* of that, where the file of tokens is; -1: none */
  char *tokens_name;       /* the file's name there */
  int program_watch;       /* the same for the daemon's program */
  char *program;           /* its path; NULL: unknown */
  gint program_replaced;   /* another file has its name now; atomic */
  gboolean had_terminal, logged_to_terminal;
  guint max_connections;
  gint64 told_us;    /* when the log was last told that somebody was turned away */
  guint turned_away; /* since then */
  gboolean log_code;
  gint64 started_us;
  struct service *service;
  struct http_server *http; /* or NULL; set under the lock, read by the main thread without it */

  MUTEX (reloading) reloading; /* held by who changes the configuration, or looks whether it is stale */

  MUTEX (server) lock;
  GCond ended;
  GUARDED_BY (server) struct protocol_hello hello;
  GUARDED_BY (server) guint64 idle_exit_ms;
  GUARDED_BY (server) GHashTable *connections; /* of struct connection, as a set */
  GUARDED_BY (server)
  guint connected[2]; /* of them, those of the daemon's own user, and root's at another's daemon */
};

struct connection {
  struct server *server;
  int fd;
  uid_t uid;
};

/* What the daemon is and does, but for its engine: of operations/status.c. DATA is a struct server; the
 * connection at WATCH_FD is not counted. From any thread. The caller's. */
json_t *server_status (gpointer data, int watch_fd);

/* What operations have the daemon do (server_control.c); DATA is a struct server. */
json_t *server_listen (gpointer data, const char *addresses, gboolean off, GError **error);
json_t *server_reload (gpointer data, GError **error);
void server_drain (gpointer data, guint64 wait_ms);
json_t *server_open (gpointer data, const char *owner, GError **error);

/* Whether the configuration has changed since it was read. */
gboolean server_is_stale (struct server *server);

/* Has the main thread look around. */
void server_wake (struct server *server);

/* Carries out the request MESSAGE and sends its answer. FALSE with ERROR when the connection cannot go on. */
gboolean server_answer (struct connection *connection, struct protocol_message *message,
                        gboolean same_protocol, GError **error);
