/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/interrupts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

/* The cell that a held SIGINT was meant for; -1: none. A signal sent before a frame is handled before that
 * frame is read, so one number is enough. */
static volatile sig_atomic_t noted = -1;

static sigset_t before;
static bool held;

static void
interrupts_note (int number, siginfo_t *info, void *context)
{
  (void)number;
  (void)context;
  if (info->si_code == SI_QUEUE && info->si_value.sival_int >= 0)
    noted = info->si_value.sival_int;
}

int
interrupts_hold (void)
{
  struct sigaction action = {.sa_sigaction = interrupts_note,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  /* What a fault in our own code raises must not wait, nor the two that only count. */
  static const int through[] = {SIGINT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGABRT, SIGXFSZ};
  sigset_t mask;
  sigfillset (&mask);
  for (size_t i = 0; i < sizeof through / sizeof *through; i++)
    sigdelset (&mask, through[i]);
  if (sigaction (SIGINT, &action, NULL) < 0)
    return -errno;
  int err = pthread_sigmask (SIG_SETMASK, &mask, held ? NULL : &before);
  held = held || err == 0;
  return -err;
}

bool
interrupts_release (int cell)
{
  /* The handler is Python's again: its module has set it. */
  bool interrupted = noted == cell;
  noted = -1;
  if (held)
    pthread_sigmask (SIG_SETMASK, &before, NULL);
  held = false;
  return interrupted;
}
