/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and similar signals arrive in a thread of their own: cancelling an engine's run takes locks, which a
 * handler must not. */
#include "interfaces/cli/signal_handler.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/guarded.h"
#include "interfaces/cli/cli.h"

LOCK_CLASS (signal_handler);

struct signal_handler {
  MUTEX (signal_handler) lock;
  GUARDED_BY (signal_handler) struct event_source *source;
  GUARDED_BY (signal_handler) gboolean asked, cancelled;
  gboolean interrupted;                   /* the thread's own */
  GUARDED_BY (signal_handler) int signal; /* the last one */
  int fd;                                 /* the same, as an event; -1: the process had no more descriptors */
  GUARDED_BY (signal_handler) gboolean idle; /* nothing is active that would have to be ended first */
};

static sigset_t
ending_signals (void)
{
  sigset_t signals;
  sigemptyset (&signals);
  sigaddset (&signals, SIGINT);
  sigaddset (&signals, SIGTERM);
  sigaddset (&signals, SIGHUP);
  return signals;
}

void
signal_handler_cancel (struct signal_handler *handler)
{
  g_mutex_lock (&handler->lock);
  handler->asked = TRUE;
  if (handler->fd >= 0)
    (void)eventfd_write (handler->fd, 1);
  if (handler->source)
    handler->source->cancel (handler->source);
  g_mutex_unlock (&handler->lock);
}

static gboolean
signal_handler_interrupt (struct signal_handler *handler)
{
  g_mutex_lock (&handler->lock);
  gboolean done = handler->source && handler->source->interrupt (handler->source);
  g_mutex_unlock (&handler->lock);
  return done;
}

/* Notes SIGNAL; returns whether the user no longer wants to wait. */
static gboolean
is_last (struct signal_handler *handler, int signal)
{
  g_mutex_lock (&handler->lock);
  gboolean last = handler->cancelled || handler->idle;
  handler->signal = signal;
  g_mutex_unlock (&handler->lock);
  return last;
}

/* Whether SIGNAL was only an interrupt. */
static gboolean
has_interrupted (struct signal_handler *handler, int signal)
{
  gboolean first = signal == SIGINT && !handler->interrupted && signal_handler_interrupt (handler);
  handler->interrupted = handler->interrupted || first;
  g_mutex_lock (&handler->lock);
  handler->cancelled = handler->cancelled || !first;
  g_mutex_unlock (&handler->lock);
  return first;
}

static gpointer
signal_handler_thread (gpointer data)
{
  struct signal_handler *handler = data;
  sigset_t signals = ending_signals ();
  for (;;) {
    int signal;
    if (sigwait (&signals, &signal) != 0)
      continue;
    /* A second signal means not waiting for the result. */
    if (is_last (handler, signal))
      _exit (CLI_CANCELLED);
    if (!has_interrupted (handler, signal))
      signal_handler_cancel (handler);
  }
  return NULL;
}

struct signal_handler *
signal_handler_start (void)
{
  struct signal_handler *handler = g_new0 (struct signal_handler, 1);
  sigset_t signals = ending_signals ();
  g_mutex_init (&handler->lock);
  handler->fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  g_thread_unref (g_thread_new ("signals", signal_handler_thread, handler));
  return handler;
}

void
signal_handler_set_source (struct signal_handler *handler, struct event_source *source)
{
  g_mutex_lock (&handler->lock);
  handler->source = source;
  if (source && handler->asked)
    source->cancel (source);
  g_mutex_unlock (&handler->lock);
}

int
signal_handler_fd (const struct signal_handler *handler)
{
  return handler->fd;
}

void
signal_handler_set_idle (struct signal_handler *handler)
{
  g_mutex_lock (&handler->lock);
  handler->source = NULL;
  handler->idle = TRUE;
  g_mutex_unlock (&handler->lock);
}

gboolean
signal_handler_reset (struct signal_handler *handler)
{
  eventfd_t events;
  g_mutex_lock (&handler->lock);
  gboolean ends = handler->cancelled && handler->signal != SIGINT;
  handler->asked = handler->interrupted = handler->cancelled = FALSE;
  handler->idle = FALSE;
  handler->source = NULL;
  if (handler->fd >= 0)
    (void)eventfd_read (handler->fd, &events);
  g_mutex_unlock (&handler->lock);
  return !ends;
}
