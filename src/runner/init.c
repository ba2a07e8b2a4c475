/* SPDX-License-Identifier: Apache-2.0 */
/* adder-init: pid 1 of each sandbox. A payload that was pid 1 itself would not die of its own signals, nor
 * end with an honest exit code; this takes the place, reaps orphans, and by its death ends everything in its
 * pid namespace.
 *
 * It shares the payload's user on the host, so it gives up all that it does not need: no capabilities, not
 * dumpable, and three system calls. Payloads cannot trace it (they live in a nested user namespace) nor
 * signal it (pid 1 gets from its own namespace only what it handles). Its parent, the zygote, is pid 1 of the
 * namespace above: when that dies, so does this, without being asked.
 *
 * It does without the C library, whose start asks the processor for its caches: each such question is one to
 * the hypervisor in a virtual machine, and together they take longer than all the rest that is done here. */
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/wait.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "base/bare.h"
#include "base/disable_layers.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "adder-init knows x86-64 and aarch64"
#endif

#define EXIT_FAULT  125

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

/* The kernel's own set of signals: one bit for each, the first for signal 1. */
typedef unsigned long long signals;

static const signals child = 1ULL << (SIGCHLD - 1);

static long
control (int option, long value)
{
  return bare_call (SYS_prctl, option, value, 0, 0, 0);
}

/* Its filter keeps it from executing anything, so the sets that count are those that it has now. */
static long
init_drop_capabilities (void)
{
  static const struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  static const struct __user_cap_data_struct none[2]; /* not on the stack: clearing it may take a memset */
  long r = control (PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  return r < 0 ? r : bare_call (SYS_capset, bare_address (&header), bare_address (none), 0, 0, 0);
}

static long
filter_calls (void)
{
  const struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
  return bare_call (SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, bare_address (&program), 0, 0);
}

static int
init_serve (void)
{
  /* Blocked, so that none is lost between looking and waiting. */
  if (bare_call (SYS_rt_sigprocmask, SIG_SETMASK, bare_address (&child), 0, sizeof child, 0) < 0)
    return EXIT_FAULT;
  /* It was executed by descriptor, whose number would show. */
  control (PR_SET_NAME, bare_address ("adder-init"));
  if (control (PR_SET_PDEATHSIG, SIGKILL) < 0 ||
      control (PR_SET_DUMPABLE, layer_is_disabled (LAYER_DUMPABLE)) < 0 ||
      control (PR_SET_NO_NEW_PRIVS, 1) < 0)
    return EXIT_FAULT;
  if (!layer_is_disabled (LAYER_INIT) && (init_drop_capabilities () < 0 || filter_calls () < 0))
    return EXIT_FAULT;

  /* Waited for rather than ignored: only then are their times counted for the run. */
  for (;;) {
    int status;
    bare_call (SYS_rt_sigtimedwait, bare_address (&child), 0, 0, sizeof child, 0);
    while (bare_call (SYS_wait4, -1, bare_address (&status), WNOHANG, 0, 0) > 0)
      ;
  }
}

#if defined(ADDER_DISABLE_LAYERS) || defined(ADDER_INIT_LIBC)
/* The switches are read from the environment, and counters are mapped, with the C library's help. */
int
main (void)
{
  return init_serve ();
}
#else
__asm__(".globl _start\n_start:\n  " BARE_START);

void bare_begin (void) __attribute__ ((noreturn, used));

void
bare_begin (void)
{
  int code = init_serve ();
  for (;;)
    bare_call (SYS_exit_group, code, 0, 0, 0, 0);
}
#endif
