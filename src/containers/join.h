/* SPDX-License-Identifier: Apache-2.0 */
/* Where a zygote in a container meets its launcher: a directory of the host that is bound into it, read-only,
 * with a socket in it (runner/wire.h). */
#pragma once

#include <glib.h>
#include <sys/types.h>

struct join {
  char *directory;
  int listen_fd, zygote_fd;
  gboolean apart; /* it came by way of another process of the container: its first one is a kernel */
};

/* In HOME, a directory of the daemon's. Whatever it returns, JOIN is to be closed. */
gboolean join_open (struct join *join, const char *home, GError **error);

/* Waits until a process has come, which must be PID, that of PID_FD, or with it in the container's control
 * group, until UNTIL_US of the monotonic clock. */
gboolean join_wait (struct join *join, pid_t pid, int pid_fd, gint64 until_us, GError **error);

/* Sets ERROR to why a container may have ended before it joined, and returns FALSE. */
gboolean join_ended (GError **error);

/* Gives it what it is to have, and whoever else knows the place finds nothing there any more. */
gboolean join_send (struct join *join, int messages_fd, int control_fd, int filter_fd, GError **error);

/* May be called twice. */
void join_close (struct join *join);
