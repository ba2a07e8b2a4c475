/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting that a caller can end: every blocking step of a run waits here, for its own descriptor, for the
 * caller's cancellation or hang-up, and for a deadline. */
#pragma once

#include <glib.h>
#include <poll.h>

struct interrupt {
  int wake_fd;    /* eventfd; written by run_cancel and by the pool when something changed */
  int watch_fd;   /* the caller's socket, or -1 */
  gint cancelled; /* atomic; set before wake_fd is written */
  /* Called once with DATA before the next wait, by the waiting thread; NULL: none. */
  void (*before_wait) (gpointer data);
  gpointer data;
};

enum wait {
  WAIT_READY,     /* one of the descriptors is ready */
  WAIT_WOKEN,     /* wake_fd was written, but nobody cancelled */
  WAIT_CANCELLED, /* by interrupt_cancel, or the caller hung up */
  WAIT_DEADLINE,
};

gboolean interrupt_init (struct interrupt *interrupt, int watch_fd, GError **error);
void interrupt_clear (struct interrupt *interrupt);

/* Both may be called from any thread. */
void interrupt_cancel (struct interrupt *interrupt);
void interrupt_wake (struct interrupt *interrupt);

/* Extra room in POLLFDS of interrupt_wait after its COUNT descriptors. */
enum { INTERRUPT_POLLFDS = 2 };

/* Waits until one of COUNT descriptors is ready, at most until DEADLINE_US of g_get_monotonic_time (-1:
 * forever). Cancellation comes first; INTERRUPT may be NULL for a wait that nobody can end. Negative fds are
 * ignored. */
enum wait interrupt_wait (struct interrupt *interrupt, struct pollfd *pollfds, gsize count,
                          gint64 deadline_us);

/* The same for one descriptor. */
enum wait interrupt_wait_one (struct interrupt *interrupt, int fd, short events, gint64 deadline_us);
