/* SPDX-License-Identifier: Apache-2.0 */
/* A socket has more to say than that its peer hung up, and what waits for one descriptor cannot tell: a
 * thread does. */
#include "common/hang_up.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/fd.h"

struct hang_up {
  int watch_fd; /* the caller's, or -1 */
  int gone_fd;  /* readable once they are gone */
  int end_fd;   /* readable once nobody needs the answer */
  GThread *thread;
};

static gpointer
hang_up_thread (gpointer data)
{
  struct hang_up *watch = data;
  struct pollfd fds[] = {{watch->watch_fd, POLLRDHUP, 0}, {watch->end_fd, POLLIN, 0}};
  while (poll (fds, G_N_ELEMENTS (fds), -1) < 0 && errno == EINTR)
    ;
  if (fds[0].revents)
    (void)eventfd_write (watch->gone_fd, 1);
  return NULL;
}

struct hang_up *
hang_up_new (int watch_fd)
{
  struct hang_up *watch = g_new0 (struct hang_up, 1);
  watch->watch_fd = watch_fd;
  watch->gone_fd = eventfd (0, EFD_CLOEXEC);
  watch->end_fd = eventfd (0, EFD_CLOEXEC);
  if (watch_fd >= 0 && watch->gone_fd >= 0 && watch->end_fd >= 0)
    watch->thread = g_thread_try_new ("hang-up", hang_up_thread, watch, NULL);
  return watch;
}

int
hang_up_fd (const struct hang_up *watch)
{
  return watch->gone_fd;
}

void
hang_up_free (struct hang_up *watch)
{
  if (watch->thread) {
    (void)eventfd_write (watch->end_fd, 1);
    g_thread_join (watch->thread);
  }
  fd_close (&watch->gone_fd);
  fd_close (&watch->end_fd);
  g_free (watch);
}
