/* SPDX-License-Identifier: Apache-2.0 */
/* Starting adder-zygote, in whichever of its modes: a fresh program, never a fork of the daemon's memory. */
#pragma once

#include <glib.h>

/* A descriptor that the program gets as TO. */
struct launcher_fd {
  int from, to;
};

/* Starts PROGRAM with ARGUMENTS and COUNT descriptors beside the standard ones; all numbers TO are below
 * LAUNCHER_FDS_END. *RET_PIDFD, the caller's, must be waited for (launcher_reap); -1: it has ended already,
 * and the kernel reaped it for the embedding program. */
#define LAUNCHER_FDS_END 10
gboolean launcher_start (const char *program, char *const *arguments, const struct launcher_fd *fds,
                         gsize count, int *ret_pidfd, GError **error);

/* The same with /dev/null as its standard descriptors. */
gboolean launcher_start_alone (const char *program, char *const *arguments, int *ret_pidfd, GError **error);

/* Whether the process behind PIDFD, which has ended and was not waited for, was killed. */
gboolean launcher_was_killed (int pidfd);

/* Returns FALSE when the process behind PIDFD did not end within WAIT_MS. */
gboolean launcher_wait (int pidfd, int wait_ms);

/* Waits for the end of *PIDFD, kills it on timeout, and closes it; -1 is allowed. WHAT is its name in the
 * log. */
void launcher_reap (int *pidfd, const char *what);
