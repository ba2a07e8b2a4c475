/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and its like arrive in a thread of their own: cancelling an engine's run takes locks, which a
 * handler must not. */
#include "frontends/canceller.h"

#include <signal.h>
#include <unistd.h>

#include "frontends/cli.h"

struct canceller {
  GMutex lock;
  struct run_source *source;
  gboolean asked;
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

static gboolean
is_idle (struct canceller *canceller)
{
  g_mutex_lock (&canceller->lock);
  gboolean idle = canceller->idle;
  g_mutex_unlock (&canceller->lock);
  return idle;
}

static gpointer
canceller_thread (gpointer data)
{
  struct canceller *canceller = data;
  sigset_t signals = ending_signals ();
  gboolean interrupted = FALSE, cancelled = FALSE;
  for (;;) {
    int signal;
    if (sigwait (&signals, &signal) != 0)
      continue;
    /* Who asks once more does not want to wait for the result. */
    if (cancelled || is_idle (canceller))
      _exit (CLI_CANCELLED);
    if (signal == SIGINT && !interrupted && canceller_interrupt (canceller)) {
      interrupted = TRUE;
      continue;
    }
    cancelled = TRUE;
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

void
canceller_rest (struct canceller *canceller)
{
  g_mutex_lock (&canceller->lock);
  canceller->source = NULL;
  canceller->idle = TRUE;
  g_mutex_unlock (&canceller->lock);
}
