/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. A branch must not be its session's child: the session's code would meet it in wait (),
 * and would have to reap it. CLONE_PARENT, which says just that, is not for sandboxes (seccomp_policy.c). So
 * the fork is made by a process in between, which ends at once and leaves the branch to the init. Made by
 * vfork, that one borrows our memory and stack, and costs nothing for the size of the session; the fork that
 * it makes is a copy of them as they are then, so the branch returns from here as we do. */
#include "runner/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner/wire.h"

#define INIT_PID   1
#define EXIT_FAULT 125

/* Written by the process in between into our memory, before we run on. */
static volatile int fork_errno;

static pid_t __attribute__ ((noinline)) fork_in_between (void)
{
  pid_t between = vfork ();
  if (between != 0)
    return between;
  /* The C library's fork: libraries have handlers of their own around it. */
  pid_t branch = fork ();
  if (branch == 0)
    return 0;
  fork_errno = branch < 0 ? errno : 0;
  _exit (0);
}

/* The numbers of FDS are none of those that they get: these are all taken in a session. */
static int
settle (const int *fds)
{
  static const struct {
    int from, to;
    int flags;
  } numbers[] = {
      {WIRE_BRANCH_SOCKET, WIRE_SOCKET_FD, O_CLOEXEC},
      {WIRE_BRANCH_STDOUT, STDOUT_FILENO, 0},
      {WIRE_BRANCH_STDERR, STDERR_FILENO, 0},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (dup3 (fds[numbers[i].from], numbers[i].to, numbers[i].flags) < 0)
      return -errno;
    close (fds[numbers[i].from]);
  }
  return 0;
}

static bool
is_pending (void)
{
  sigset_t pending;
  return sigpending (&pending) == 0 && sigismember (&pending, SIGCHLD);
}

/* Its end is a signal to the code, unless one waits that may be of another child's. Between cells signals are
 * blocked. */
static void
reap (pid_t between, bool was_pending)
{
  static const struct timespec at_once;
  siginfo_t other = {0};
  sigset_t child;
  sigemptyset (&child);
  sigaddset (&child, SIGCHLD);
  /* Where the code ignores SIGCHLD, the kernel has reaped it. */
  while (waitpid (between, NULL, 0) < 0 && errno == EINTR)
    ;
  if (!was_pending && is_pending () &&
      (waitid (P_ALL, 0, &other, WEXITED | WNOHANG | WNOWAIT) < 0 || other.si_pid == 0))
    sigtimedwait (&child, NULL, &at_once);
}

int
branch_fork (const int *fds, const struct branch_hooks *hooks)
{
  /* What C code has printed would be printed twice. */
  fflush (NULL);
  hooks->before ();
  bool was_pending = is_pending ();
  pid_t between = fork_in_between ();
  if (between == 0) {
    hooks->in_child ();
    if (settle (fds) < 0)
      _exit (EXIT_FAULT);
    while (getppid () != INIT_PID)
      sched_yield ();
    return 0;
  }
  int err = between < 0 ? errno : fork_errno;
  hooks->in_parent ();
  if (between > 0)
    reap (between, was_pending);
  return err ? -err : 1;
}
