/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's side of the local socket: finding a daemon, starting one, replacing an older one. */
#pragma once

#include <glib.h>

#include "frontends/protocol.h"

struct client {
  int fd;
  struct protocol_hello daemon;
  char *note; /* one line for people about the daemon that was found, or NULL */
};

/* Connects to the daemon at SOCKET and greets it. Without one: ADDER_ERROR_NOT_FOUND. */
gboolean client_connect (const char *socket, struct client *ret_client, GError **error);

/* The same; without a daemon starts one in the background and waits until it listens. A daemon that is older
 * than this program is replaced when it is idle; a busy one is used as it is and CLIENT's note says so, or,
 * when it speaks another version of the protocol, ADDER_ERROR_BUSY says what to do. */
gboolean client_open (const char *socket, struct client *ret_client, GError **error);

void client_close (struct client *client);

/* Asks the daemon to end, and waits until it is gone. ONLY_IDLE: it goes on when it has runs, which
 * *RET_RUNNING tells. */
gboolean client_stop (struct client *client, gboolean only_idle, gboolean *ret_stopped, guint *ret_running,
                      GError **error);

/* Starts a daemon for SOCKET in the background and waits until it listens. IDLE_EXIT as text for --idle-exit,
 * or NULL. */
gboolean client_start_daemon (const char *socket, const char *idle_exit, GError **error);
