/* SPDX-License-Identifier: Apache-2.0 */
/* A listening Unix socket that one process at a time serves: mode 0600, and beside it PATH.lock, which that
 * process holds by flock while it serves, and which contains its process id. */
#pragma once

#include <glib.h>
#include <sys/types.h>

struct local_socket {
  char *path; /* NULL: it is closed */
  int fd, lock_fd;
  dev_t device;       /* of the socket's file, */
  ino_t inode;        /* as it was made */
  gboolean inherited; /* a service manager made it, and listens there when we are gone */
};
#define LOCAL_SOCKET_CLOSED ((struct local_socket){.fd = -1, .lock_fd = -1})

/* What ".sock" at the end of the name of the socket that speaks the local protocol becomes in the name of the
 * one that speaks HTTP. The caller's. */
char *local_socket_http_path (const char *path);

/* Listens at PATH, by the socket that a service manager opened there (inherited_sockets.h), or by a new one,
 * replacing leftovers of a dead process. If another process holds the lock, waits for WAIT_S
 * seconds (with SIGALRM, so only in a single-threaded process; 0: not at all), then fails with
 * ADDER_ERROR_BUSY, which names that process. *RET_SOCKET is to be closed in any case. */
gboolean local_socket_open (const char *path, unsigned wait_s, struct local_socket *ret_socket,
                            GError **error);

/* The process that holds the lock of the socket at PATH; 0: none, or unknown. */
gint64 local_socket_holder (const char *path);

/* Whether somebody removed or replaced the file. */
gboolean local_socket_is_lost (const struct local_socket *socket);
/* Recreates it. The descriptor keeps its number; waiters must wait again. */
gboolean local_socket_renew (struct local_socket *socket, GError **error);

/* Removes the file, unless it is a service manager's, and stops listening, but keeps the lock. */
void local_socket_mute (struct local_socket *socket);
/* Does that, and gives up the lock. May be called again. */
void local_socket_close (struct local_socket *socket);
