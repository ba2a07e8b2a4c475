/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the daemon's side share: server.c, its life, and server_requests.c, what is asked of
 * it. */
#pragma once

#include <sys/types.h>

#include "common/guarded.h"
#include "interfaces/socket/protocol.h"
#include "interfaces/socket/server.h"

LOCK_CLASS (server);

struct server {
  char *path, *lock_path;
  int lock_fd, listen_fd, wake_fd;
  gboolean bound;
  guint64 idle_exit_ms;
  guint max_connections;
  gint64 told_us;    /* when the log was last told that somebody was turned away */
  guint turned_away; /* since then */
  gboolean log_code;
  gint64 started_us;
  struct protocol_hello hello;
  struct service *service;
  struct http_server *http; /* or NULL; set under the lock, read by the main thread without it */

  MUTEX (server) lock;
  GCond ended;
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

/* Has the main thread look around. */
void server_wake (struct server *server);

/* Carries out the request MESSAGE and sends its answer. FALSE with ERROR when the connection cannot go on. */
gboolean server_answer (struct connection *connection, struct protocol_message *message,
                        gboolean same_protocol, GError **error);
