/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. A branch must not be its session's child: the session's code would meet it in wait (),
 * and would have to reap it. CLONE_PARENT, which says just that, is not for sandboxes (seccomp_policy.c). So
 * the fork is made by a process in between, which ends at once and leaves the branch to the init. That one
 * borrows our memory, and so costs nothing for the size of the session, but has a stack of its own; ours is
 * whole in the copy that its fork makes, and there the branch jumps back to it. */
#include "runner/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/wire.h"

#define INIT_PID   1
#define EXIT_FAULT 125

/* Libraries have handlers around a fork, which run here too. */
#define STACK_BYTES ((size_t)256 << 10)

/* Written by the process in between into our memory, before we run on. */
static volatile int fork_errno;

static jmp_buf session_stack;

/* The C library's fork, not a bare clone, for those handlers. */
static int
fork_in_between (void *data)
{
  (void)data;
  pid_t branch = fork ();
  if (branch == 0)
    longjmp (session_stack, 1);
  fork_errno = branch < 0 ? errno : 0;
  _exit (0);
}

/* Returns 0 in the branch, the process in between in the session, or -1. That one ends without a signal, so
 * whoever waits for children does not see it. */
static pid_t __attribute__ ((noinline)) leave_in_between (void)
{
  static char stack[STACK_BYTES] __attribute__ ((aligned (16)));
  if (setjmp (session_stack) != 0)
    return 0;
  return clone (fork_in_between, stack + sizeof stack, CLONE_VM | CLONE_VFORK, NULL);
}

/* The numbers of FDS are none of those that they get: these are all taken in a session. */
static int
branch_settle (const int *fds)
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

int
branch_fork (const int *fds, const struct branch_hooks *hooks)
{
  /* What C code has printed would be printed twice. */
  fflush (NULL);
  hooks->before ();
  pid_t between = leave_in_between ();
  if (between == 0) {
    hooks->in_child ();
    if (branch_settle (fds) < 0)
      _exit (EXIT_FAULT);
    while (getppid () != INIT_PID)
      sched_yield ();
    return 0;
  }
  int err = between < 0 ? errno : fork_errno;
  hooks->in_parent ();
  while (between > 0 && waitpid (between, NULL, __WALL) < 0 && errno == EINTR)
    ;
  return err ? -err : 1;
}
