/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting that a caller can end. */
#include "engine/host/interrupt.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"

gboolean
interrupt_init (struct interrupt *interrupt, int watch_fd, GError **error)
{
  int wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0)
    return error_from_errno (error, errno, "cannot make an eventfd for a run");
  *interrupt = (struct interrupt){.wake_fd = wake_fd, .watch_fd = watch_fd};
  return TRUE;
}

void
interrupt_clear (struct interrupt *interrupt)
{
  fd_close (&interrupt->wake_fd);
}

void
interrupt_wake (struct interrupt *interrupt)
{
  /* The only failure is a counter that is full, and then it wakes all the same. */
  (void)eventfd_write (interrupt->wake_fd, 1);
}

void
interrupt_cancel (struct interrupt *interrupt)
{
  g_atomic_int_set (&interrupt->cancelled, 1);
  interrupt_wake (interrupt);
}

/* ppoll and not poll: a millisecond is long here. */
static int
poll_until (struct pollfd *pollfds, nfds_t count, gint64 deadline_us)
{
  if (deadline_us < 0)
    return ppoll (pollfds, count, NULL, NULL);
  gint64 left = MAX (deadline_us - g_get_monotonic_time (), 0);
  struct timespec timeout = {.tv_sec = left / G_USEC_PER_SEC, .tv_nsec = left % G_USEC_PER_SEC * 1000};
  return ppoll (pollfds, count, &timeout, NULL);
}

static void
interrupt_tell (struct interrupt *interrupt)
{
  void (*before_wait) (gpointer data) = interrupt ? interrupt->before_wait : NULL;
  if (!before_wait)
    return;
  interrupt->before_wait = NULL;
  before_wait (interrupt->data);
}

enum wait
interrupt_wait (struct interrupt *interrupt, struct pollfd *pollfds, gsize count, gint64 deadline_us)
{
  interrupt_tell (interrupt);
  struct pollfd *wake = &pollfds[count], *watch = &pollfds[count + 1];
  *wake = (struct pollfd){.fd = interrupt ? interrupt->wake_fd : -1, .events = POLLIN};
  *watch = (struct pollfd){.fd = interrupt ? interrupt->watch_fd : -1, .events = POLLRDHUP};

  int ready;
  do
    ready = poll_until (pollfds, (nfds_t)(count + INTERRUPT_POLLFDS), deadline_us);
  while (ready < 0 && errno == EINTR);

  eventfd_t ignored;
  if (wake->revents)
    (void)eventfd_read (wake->fd, &ignored);
  if (interrupt && watch->revents)
    g_atomic_int_set (&interrupt->cancelled, 1);
  if (interrupt && g_atomic_int_get (&interrupt->cancelled))
    return WAIT_CANCELLED;
  if (ready <= 0)
    return WAIT_DEADLINE;
  return ready == 1 && wake->revents ? WAIT_WOKEN : WAIT_READY;
}

enum wait
interrupt_wait_one (struct interrupt *interrupt, int fd, short events, gint64 deadline_us)
{
  struct pollfd pollfds[1 + INTERRUPT_POLLFDS] = {{.fd = fd, .events = events}};
  return interrupt_wait (interrupt, pollfds, 1, deadline_us);
}
