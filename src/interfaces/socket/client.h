/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's side of the local socket: finding a daemon, starting one, replacing an older one. */
#pragma once

#include <glib.h>

#include "interfaces/socket/protocol.h"
#include "tools/tools.h"

struct client {
  int fd;
  struct protocol_hello daemon;
  char *note; /* one line for people about the daemon that was found, or NULL */
  /* Told how far a call is, where its question asks for it; or NULL. */
  void (*progressed) (gpointer data, const struct tool_progress *progress);
  gpointer progressed_data;
  int answer_ms; /* an answer may take so long; 0: as long as it takes */
};

/* Connects to the daemon at SOCKET and greets it. Without one: ADDER_ERROR_NOT_FOUND. */
gboolean client_connect (const char *socket, struct client *ret_client, GError **error);

/* The same; without a daemon starts one in the background and waits until it listens. A daemon that is older
 * than this program, that a command started and that has nothing to do, is replaced; any other is used as it
 * is where it speaks the same protocol, and is an error that says what to do where it does not. */
gboolean client_open (const char *socket, struct client *ret_client, GError **error);

void client_close (struct client *client);

enum client_stop {
  CLIENT_STOP_IDLE,          /* only when it has neither runs nor sessions nor approvals */
  CLIENT_STOP_KEEP_SESSIONS, /* only when it has no sessions; runs end as cancelled */
  CLIENT_STOP_ALL,
};

struct client_stopped {
  gboolean stopped;
  guint running, sessions, approvals; /* that it had */
};

/* Asks the daemon to end, and waits until it is gone, where it agrees. */
gboolean client_stop (struct client *client, enum client_stop how, struct client_stopped *ret_stopped,
                      GError **error);

/* Where the daemon listens, by the configuration. The caller's. */
char *client_socket (GError **error);

/* Where a daemon in the background logs to: adder.log. The caller's. */
char *client_log_path (GError **error);

/* Starts a daemon for SOCKET in the background and waits until it listens. IDLE_EXIT as text for --idle-exit,
 * or NULL; HTTP_OFF: at no address of the configuration. */
gboolean client_start_daemon (const char *socket, const char *idle_exit, gboolean http_off, GError **error);

/* While the caller has *RET_FD open, no command starts or replaces a daemon for SOCKET. */
gboolean client_lock_start (const char *socket, int *ret_fd, GError **error);

/* As client_connect, for those who ask about sessions: without a daemon there are none. */
gboolean client_find (const char *socket, struct client *ret_client, GError **error);

/* Asks QUESTION by a frame of KIND that is answered by ANSWER (SESSION: server_session.c, CALL:
 * server_tools.h), with COUNT descriptors beside it. Waits as long as it takes. The answer is the caller's.
 */
json_t *client_ask (struct client *client, enum protocol_kind kind, const json_t *question, const int *fds,
                    gsize count, GError **error);

/* The same; the descriptor that comes with the answer, or -1, is the caller's. */
json_t *client_ask_for (struct client *client, enum protocol_kind kind, const json_t *question,
                        const int *fds, gsize count, int *ret_fd, GError **error);

/* One that comes without another question, after the events of a replay. The caller's. */
json_t *client_take_answer (struct client *client, GError **error);

/* Has the daemon on the machine that is meant (interfaces/remote/), here at SOCKET (NULL: where the
 * configuration says), do OPERATION (operations/operation.h), by a connection of its own. PARAMS are taken;
 * NULL is text that is not UTF-8. Without a daemon one is started for what is kept on disk; else it is
 * ADDER_ERROR_NOT_FOUND. Files of the user's own (OPERATION_OWN_FILES) are read here. The caller's. */
json_t *client_call (const char *socket, const char *operation, json_t *params, GError **error);

/* The same with the descriptor FD (-1: none) beside it. *RET_FD (may be NULL): as client_ask_for. */
json_t *client_call_with (const char *socket, const char *operation, json_t *params, int fd, int *ret_fd,
                          GError **error);

/* A question about sessions (server_session.c) by a connection of its own; a daemon is started when there is
 * none. */
json_t *client_ask_session (const char *socket, const json_t *question, const int *fds, gsize count,
                            GError **error);
