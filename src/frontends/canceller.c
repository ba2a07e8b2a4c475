/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and its like arrive in a thread of their own: cancelling an engine's run takes locks, which a
 * handler must not. */
#include "frontends/canceller.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "frontends/cli.h"

struct canceller {
  GMutex lock;
  struct run_source *source;
  gboolean asked, interrupted, cancelled;
  int signal;    /* the last one */
  int fd;        /* the same, as an event; -1: the process had no more descriptors */
  gboolean idle; /* nothing is under way that would have to be ended first */
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
canceller_ask (struct canceller *canceller)
{
  g_mutex_lock (&canceller->lock);
  canceller->asked = TRUE;
  if (canceller->fd >= 0)
    (void)eventfd_write (canceller->fd, 1);
  if (canceller->source)
    canceller->source->cancel (canceller->source);
  g_mutex_unlock (&canceller->lock);
}

static gboolean
canceller_interrupt (struct canceller *canceller)
{
  g_mutex_lock (&canceller->lock);
  gboolean done = canceller->source && canceller->source->interrupt (canceller->source);
  g_mutex_unlock (&canceller->lock);
  return done;
}

/* Takes note of SIGNAL; whether nobody wants to wait any more. */
static gboolean
is_last (struct canceller *canceller, int signal)
{
  g_mutex_lock (&canceller->lock);
  gboolean last = canceller->cancelled || canceller->idle;
  canceller->signal = signal;
  g_mutex_unlock (&canceller->lock);
  return last;
}

/* Whether SIGNAL was no more than an interrupt. */
static gboolean
has_interrupted (struct canceller *canceller, int signal)
{
  gboolean first = signal == SIGINT && !canceller->interrupted && canceller_interrupt (canceller);
  g_mutex_lock (&canceller->lock);
  canceller->interrupted = canceller->interrupted || first;
  canceller->cancelled = canceller->cancelled || !first;
  g_mutex_unlock (&canceller->lock);
  return first;
}

static gpointer
canceller_thread (gpointer data)
{
  struct canceller *canceller = data;
  sigset_t signals = ending_signals ();
  for (;;) {
    int signal;
    if (sigwait (&signals, &signal) != 0)
      continue;
    /* Who asks once more does not want to wait for the result. */
    if (is_last (canceller, signal))
      _exit (CLI_CANCELLED);
    if (!has_interrupted (canceller, signal))
      canceller_ask (canceller);
  }
  return NULL;
}

struct canceller *
canceller_start (void)
{
  struct canceller *canceller = g_new0 (struct canceller, 1);
  sigset_t signals = ending_signals ();
  g_mutex_init (&canceller->lock);
  canceller->fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  g_thread_unref (g_thread_new ("signals", canceller_thread, canceller));
  return canceller;
}

void
canceller_set (struct canceller *canceller, struct run_source *source)
{
  g_mutex_lock (&canceller->lock);
  canceller->source = source;
  if (source && canceller->asked)
    source->cancel (source);
  g_mutex_unlock (&canceller->lock);
}

int
canceller_fd (const struct canceller *canceller)
{
  return canceller->fd;
}

void
canceller_rest (struct canceller *canceller)
{
  g_mutex_lock (&canceller->lock);
  canceller->source = NULL;
  canceller->idle = TRUE;
  g_mutex_unlock (&canceller->lock);
}

gboolean
canceller_again (struct canceller *canceller)
{
  eventfd_t events;
  g_mutex_lock (&canceller->lock);
  gboolean ends = canceller->cancelled && canceller->signal != SIGINT;
  canceller->asked = canceller->interrupted = canceller->cancelled = FALSE;
  canceller->idle = FALSE;
  canceller->source = NULL;
  if (canceller->fd >= 0)
    (void)eventfd_read (canceller->fd, &events);
  g_mutex_unlock (&canceller->lock);
  return !ends;
}
