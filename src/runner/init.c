/* SPDX-License-Identifier: Apache-2.0 */
/* adder-init: pid 1 of each sandbox. A payload that was pid 1 itself would not die of its own signals, nor
 * end with an honest exit code; this takes the place, reaps orphans, and by its death ends everything in its
 * pid namespace.
 *
 * It shares the payload's user on the host, so it gives up all that it does not need: no capabilities, not
 * dumpable, and three system calls. Payloads cannot trace it (they live in a nested user namespace) nor
 * signal it (pid 1 gets from its own namespace only what it handles). Its parent, the zygote, is pid 1 of the
 * namespace above: when that dies, so does this, without being asked. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/syscalls.h"
#include "base/weaken.h"
#include "sandbox/capabilities.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "adder-init knows x86-64 and aarch64"
#endif

#define LOAD(field) BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, field))
#define ALLOW(number)                                                                                        \
  BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
    LOAD (arch),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    LOAD (nr),
    ALLOW (SYS_rt_sigtimedwait),
    ALLOW (SYS_wait4),
    ALLOW (SYS_exit_group),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

int
main (void)
{
  struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
  struct fault fault;
  sigset_t child;

  /* Blocked, so that none is lost between looking and waiting. */
  sigemptyset (&child);
  sigaddset (&child, SIGCHLD);
  if (sigprocmask (SIG_SETMASK, &child, NULL) < 0)
    return 125;
  prctl (PR_SET_NAME, "adder-init", 0, 0, 0); /* it was executed by descriptor, whose number would show */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
      prctl (PR_SET_DUMPABLE, weakened (LAYER_DUMPABLE), 0, 0, 0) < 0 ||
      prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return 125;
  if (!weakened (LAYER_INIT) &&
      (capabilities_drop (&fault) < 0 || sys_seccomp (SECCOMP_SET_MODE_FILTER, 0, &program) < 0))
    return 125;

  /* Waited for rather than ignored: only then are their times counted for the run. */
  for (;;) {
    int status;
    sigwaitinfo (&child, NULL);
    while (waitpid (-1, &status, WNOHANG) > 0)
      ;
  }
}
