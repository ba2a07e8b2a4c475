/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation: the kernel gives orphans to the first process of a pid namespace, which must reap
 * them, and drops signals that it does not handle. The engine waits for children of its own, one by one, so
 * it cannot reap whatever turns up. Thus another process does. When the first process ends, the kernel kills
 * the others. */
#include "common/first_process.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"

static gboolean parent_waits;

/* Reaps all that have ended. TRUE with *RET_CODE if CHILD is among them. */
static gboolean
reap (pid_t child, int *ret_code)
{
  int status;
  pid_t pid;
  gboolean over = FALSE;
  while ((pid = waitpid (-1, &status, WNOHANG)) > 0)
    if (pid == child) {
      over = TRUE;
      *ret_code = WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
    }
  return over;
}

static int
wait_for_child (pid_t child, const sigset_t *signals)
{
  int code = 0;
  for (;;) {
    int number = sigwaitinfo (signals, NULL);
    if (number == SIGCHLD && reap (child, &code))
      return code;
    if (number > 0 && number != SIGCHLD)
      (void)kill (child, number);
  }
}

gboolean
first_process_wait (int *ret_code)
{
  sigset_t signals, before;
  if (getpid () != 1)
    return FALSE;
  /* Before the fork, so that none is lost. A blocked signal is kept even for a first process. */
  sigfillset (&signals);
  sigprocmask (SIG_SETMASK, &signals, &before);
  pid_t child = fork ();
  if (child > 0) {
    *ret_code = wait_for_child (child, &signals);
    return TRUE;
  }
  if (child == 0)
    parent_waits = TRUE;
  else
    log_warning ("no process can be made to reap orphans: %s", g_strerror (errno));
  sigprocmask (SIG_SETMASK, &before, NULL);
  return FALSE;
}

gboolean
first_process_is_parent (void)
{
  return parent_waits;
}
