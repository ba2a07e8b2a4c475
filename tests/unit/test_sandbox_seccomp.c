/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp program, run in an interpreter of our own, for both architectures: what the kernel would
 * answer, without having to be that kernel. The table below is written from the user's side, not copied from
 * the policy's. */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/filter.h"
#include "sandbox/seccomp_build.h"
#include "sandbox/seccomp_policy.h"
#include "suite.h"

/* Classic BPF as far as seccomp programs use it. */
static uint32_t
interpret (const struct filter_program *program, const struct seccomp_data *data)
{
  uint32_t accumulator = 0;
  for (size_t at = 0; at < program->length; at++) {
    const struct sock_filter *step = &program->filter[at];
    gboolean hit;
    switch (step->code) {
    case BPF_LD | BPF_W | BPF_ABS:
      g_assert_cmpuint (step->k, <=, sizeof *data - 4);
      memcpy (&accumulator, (const char *)data + step->k, 4);
      break;
    case BPF_ALU | BPF_AND | BPF_K:
      accumulator &= step->k;
      break;
    case BPF_JMP | BPF_JA:
      at += step->k;
      break;
    case BPF_JMP | BPF_JEQ | BPF_K:
    case BPF_JMP | BPF_JGT | BPF_K:
    case BPF_JMP | BPF_JGE | BPF_K:
    case BPF_JMP | BPF_JSET | BPF_K:
      hit = BPF_OP (step->code) == BPF_JEQ   ? accumulator == step->k
            : BPF_OP (step->code) == BPF_JGT ? accumulator > step->k
            : BPF_OP (step->code) == BPF_JGE ? accumulator >= step->k
                                             : (accumulator & step->k) != 0;
      at += hit ? step->jt : step->jf;
      break;
    case BPF_RET | BPF_K:
      return step->k;
    default:
      g_error ("instruction %zu has the unknown code %#x", at, step->code);
    }
  }
  g_error ("the program has no end");
}

static const struct architecture {
  const char *name;
  uint32_t token, audit;
} architectures[] = {
    {"x86-64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64},
    {"aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64},
};

static struct filter_program
build_for (const struct architecture *architecture, struct seccomp_host host)
{
  struct fault fault = {0};
  struct filter_program program;
  autoclose int fd = -1;
  if (seccomp_build_for (architecture->token, &host, &fd, &fault) < 0)
    g_error ("%s: %s", fault.step, strerror (fault.err));
  g_assert_cmpint (fcntl (fd, F_GET_SEALS), ==, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  g_assert_cmpint (filter_load (fd, &program, &fault), ==, 0);
  return program;
}

static struct filter_program
build (const struct architecture *architecture, int abi, bool memory_counted)
{
  return build_for (architecture,
                    (struct seccomp_host){.landlock_abi = abi, .memory_counted = memory_counted});
}

#define ALLOWED    SECCOMP_RET_ALLOW
#define FAILS(err) (SECCOMP_RET_ERRNO | (err))
#define KILLED     SECCOMP_RET_KILL_PROCESS
#define HIGH       (UINT64_C (0xdeadbeef) << 32)

static const struct expectation {
  const char *call;
  uint64_t arguments[3];
  uint32_t answer;
  int least_abi, most_abi; /* of landlock */
} expectations[] = {
    {"read", {0}, ALLOWED, 0, 99},
    {"openat", {0}, ALLOWED, 0, 99},
    {"mmap", {0}, ALLOWED, 0, 99},
    {"futex", {0}, ALLOWED, 0, 99},
    {"exit_group", {0}, ALLOWED, 0, 99},
    {"getrandom", {0}, ALLOWED, 0, 99},
    {"execve", {0}, ALLOWED, 0, 99},
    {"getppid", {0}, ALLOWED, 0, 99},
    {"madvise", {0}, ALLOWED, 0, 99},
    {"statx", {0}, ALLOWED, 0, 99},

    {"sync", {0}, FAILS (0), 0, 99},

    {"ptrace", {0}, FAILS (EPERM), 0, 99},
    {"process_vm_readv", {0}, FAILS (EPERM), 0, 99},
    {"unshare", {0}, FAILS (EPERM), 0, 99},
    {"setns", {0}, FAILS (EPERM), 0, 99},
    {"mount", {0}, FAILS (EPERM), 0, 99},
    {"move_mount", {0}, FAILS (EPERM), 0, 99},
    {"bpf", {0}, FAILS (EPERM), 0, 99},
    {"userfaultfd", {0}, FAILS (EPERM), 0, 99},
    {"perf_event_open", {0}, FAILS (EPERM), 0, 99},
    {"open_by_handle_at", {0}, FAILS (EPERM), 0, 99},
    {"setuid", {0}, FAILS (EPERM), 0, 99},
    {"kexec_load", {0}, FAILS (EPERM), 0, 99},
    {"seccomp", {0}, FAILS (EPERM), 0, 99},

    {"clone3", {0}, FAILS (ENOSYS), 0, 99},
    {"io_uring_setup", {0}, FAILS (ENOSYS), 0, 99},
    {"io_uring_enter", {0}, FAILS (ENOSYS), 0, 99},
    {"io_uring_register", {0}, FAILS (ENOSYS), 0, 99},
    {"keyctl", {0}, FAILS (ENOSYS), 0, 99},
    {"add_key", {0}, FAILS (ENOSYS), 0, 99},
    {"request_key", {0}, FAILS (ENOSYS), 0, 99},
    {"pidfd_open", {0}, FAILS (ENOSYS), 0, 99},
    {"inotify_init1", {0}, FAILS (ENOSYS), 0, 99},

    {"clone", {SIGCHLD}, ALLOWED, 0, 99},
    {"clone", {0x3d0f00}, ALLOWED, 0, 99}, /* a thread of the C library */
    {"clone", {HIGH | SIGCHLD}, ALLOWED, 0, 99},
    {"clone", {CLONE_NEWUSER | SIGCHLD}, FAILS (EPERM), 0, 99},
    {"clone", {HIGH | CLONE_NEWUSER}, FAILS (EPERM), 0, 99},
    {"clone", {CLONE_NEWNS}, FAILS (EPERM), 0, 99},
    {"clone", {CLONE_PARENT | SIGCHLD}, FAILS (EPERM), 0, 99},
    {"clone", {CLONE_NEWPID | CLONE_NEWNET}, FAILS (EPERM), 0, 99},
    {"clone", {CLONE_NEWCGROUP}, FAILS (EPERM), 0, 99},

    {"ioctl", {0, TCGETS}, ALLOWED, 0, 99},
    {"ioctl", {0, HIGH | TCGETS}, ALLOWED, 0, 99},
    {"ioctl", {0, FIONREAD}, ALLOWED, 0, 99},
    {"ioctl", {0, TIOCSTI}, FAILS (ENOSYS), 0, 99},
    {"ioctl", {0, HIGH | TIOCSTI}, FAILS (ENOSYS), 0, 99},
    {"ioctl", {0, HIGH | TIOCLINUX}, FAILS (ENOSYS), 0, 99},
    {"ioctl", {0, HIGH | FIONREAD}, ALLOWED, 0, 99},
    {"ioctl", {0, TIOCLINUX}, FAILS (ENOSYS), 0, 99},
    {"ioctl", {0, TIOCSETD}, FAILS (ENOSYS), 0, 99},

    {"socket", {AF_INET}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_INET6}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_NETLINK}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_PACKET}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_VSOCK}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_ALG}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_UNIX}, FAILS (EAFNOSUPPORT), 0, 5},
    {"socket", {AF_UNIX}, ALLOWED, 6, 99},
    {"socket", {HIGH | AF_INET}, FAILS (EAFNOSUPPORT), 0, 99},
    {"bind", {0}, FAILS (EPERM), 0, 5},
    {"bind", {0}, ALLOWED, 6, 99},
    {"connect", {0}, FAILS (EPERM), 0, 5},
    {"socketpair", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}, ALLOWED, 0, 99},
    {"socketpair", {AF_UNIX, SOCK_SEQPACKET}, ALLOWED, 0, 99},
    {"socketpair", {AF_UNIX, SOCK_DGRAM}, FAILS (EAFNOSUPPORT), 0, 5},
    {"socketpair", {AF_UNIX, HIGH | SOCK_DGRAM | SOCK_NONBLOCK}, FAILS (EAFNOSUPPORT), 0, 5},
    {"socketpair", {AF_UNIX, SOCK_DGRAM}, ALLOWED, 6, 99},

    {"personality", {0xffffffff}, ALLOWED, 0, 99},
    {"personality", {0}, ALLOWED, 0, 99},
    {"personality", {0x0400000}, FAILS (ENOSYS), 0, 99}, /* READ_IMPLIES_EXEC */
    {"prctl", {PR_SET_NAME}, ALLOWED, 0, 99},
    {"prctl", {PR_SET_DUMPABLE, 1}, FAILS (ENOSYS), 0, 99},
    {"prctl", {PR_SET_PTRACER}, FAILS (ENOSYS), 0, 99},
    {"prctl", {PR_SET_SECCOMP}, FAILS (ENOSYS), 0, 99},
    {"fcntl", {0, F_DUPFD_CLOEXEC}, ALLOWED, 0, 99},
    {"fcntl", {0, F_SETOWN}, ALLOWED, 0, 99},
    {"fcntl", {0, F_SETLEASE}, FAILS (ENOSYS), 0, 99},
    {"fcntl", {0, HIGH | F_NOTIFY}, FAILS (ENOSYS), 0, 99},
};

/* In the host's namespaces, where everything of the same user could be named. */
static const struct expectation shared_expectations[] = {
    {"read", {0}, ALLOWED, 0, 99},
    {"openat", {0}, ALLOWED, 0, 99},
    {"unshare", {0}, FAILS (EPERM), 0, 99},
    {"socket", {AF_UNIX}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socket", {AF_INET}, FAILS (EAFNOSUPPORT), 0, 99},
    {"socketpair", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}, ALLOWED, 0, 99},
    {"socketpair", {AF_UNIX, SOCK_DGRAM}, FAILS (EAFNOSUPPORT), 0, 99},
    {"bind", {0}, FAILS (EPERM), 0, 99},
    {"connect", {0}, FAILS (EPERM), 0, 99},
    {"setsid", {0}, FAILS (0), 0, 99},
    {"setpgid", {0}, FAILS (0), 0, 99},
    {"chmod", {0}, FAILS (0), 0, 99},
    {"fchmodat", {0}, FAILS (0), 0, 99},
    {"utimensat", {0}, FAILS (0), 0, 99},
    {"fchownat", {0}, FAILS (EOPNOTSUPP), 0, 99},
    {"setxattr", {0}, FAILS (EOPNOTSUPP), 0, 99},
    {"shmget", {0}, FAILS (ENOSYS), 0, 99},
    {"semop", {0}, FAILS (ENOSYS), 0, 99},
    {"msgget", {0}, FAILS (ENOSYS), 0, 99},
    {"kill", {0}, FAILS (EPERM), 0, 5},
    {"kill", {0}, ALLOWED, 6, 99},
    {"rt_sigqueueinfo", {0}, FAILS (EPERM), 0, 5},
    {"prlimit64", {0}, ALLOWED, 0, 99},
    {"prlimit64", {HIGH}, ALLOWED, 0, 99},
    {"prlimit64", {1}, FAILS (ENOSYS), 0, 99},
    {"sched_setaffinity", {0}, ALLOWED, 0, 99},
    {"sched_setaffinity", {77}, FAILS (ENOSYS), 0, 99},
    {"setpriority", {PRIO_USER, 0}, FAILS (EPERM), 0, 99},
    {"setpriority", {PRIO_PROCESS, 77}, FAILS (EPERM), 0, 99},
    {"fcntl", {0, F_DUPFD_CLOEXEC}, ALLOWED, 0, 99},
    {"fcntl", {0, F_SETLKW}, ALLOWED, 0, 99},
    {"fcntl", {0, F_SETOWN}, FAILS (ENOSYS), 0, 5},
    {"fcntl", {0, HIGH | F_SETSIG}, FAILS (ENOSYS), 0, 5},
    {"fcntl", {0, F_SETOWN_EX}, FAILS (ENOSYS), 0, 5},
    {"fcntl", {0, F_SETOWN}, ALLOWED, 6, 99},
    {"fcntl", {0, F_NOTIFY}, FAILS (ENOSYS), 0, 99},
};

/* In a container everything is the sandbox's own but for its zygote, which is the same user's. */
static const struct expectation contained_expectations[] = {
    {"socket", {AF_UNIX}, ALLOWED, 0, 99},
    {"socket", {AF_INET}, FAILS (EAFNOSUPPORT), 0, 99},
    {"bind", {0}, ALLOWED, 0, 99},
    {"socketpair", {AF_UNIX, SOCK_DGRAM}, ALLOWED, 0, 99},
    {"setsid", {0}, ALLOWED, 0, 99},
    {"chmod", {0}, ALLOWED, 0, 99},
    {"shmget", {0}, ALLOWED, 0, 99},
    {"kill", {0}, ALLOWED, 0, 99},
    {"fcntl", {0, F_SETOWN}, ALLOWED, 0, 99},
    {"unshare", {0}, FAILS (EPERM), 0, 99},
    {"ptrace", {0}, FAILS (EPERM), 0, 99},
    {"process_vm_writev", {0}, FAILS (EPERM), 0, 99},
    {"pidfd_getfd", {0}, FAILS (EPERM), 0, 99},
    {"prlimit64", {0}, ALLOWED, 0, 99},
    {"prlimit64", {1}, FAILS (ENOSYS), 0, 99},
    {"sched_setaffinity", {1}, FAILS (ENOSYS), 0, 99},
    {"setpriority", {PRIO_PROCESS, 1}, FAILS (EPERM), 0, 99},
};

enum place { NAMESPACED, SHARED, CONTAINED };

static void
check_answers (const struct architecture *architecture, const struct expectation *table, size_t rows,
               enum place place)
{
  static const int abis[] = {0, 1, 5, 6, 7};
  for (size_t a = 0; a < G_N_ELEMENTS (abis); a++) {
    const struct seccomp_host host = {.landlock_abi = abis[a],
                                      .memory_counted = true,
                                      .shared = place == SHARED,
                                      .contained = place == CONTAINED};
    struct filter_program program = build_for (architecture, host);
    for (size_t i = 0; i < rows; i++) {
      const struct expectation *expected = &table[i];
      int number = seccomp_syscall_resolve_name_arch (architecture->token, expected->call);
      if (number < 0 || abis[a] < expected->least_abi || abis[a] > expected->most_abi)
        continue;
      struct seccomp_data call = {.nr = number, .arch = architecture->audit};
      memcpy (call.args, expected->arguments, sizeof expected->arguments);
      uint32_t answer = interpret (&program, &call);
      if (answer != expected->answer)
        g_error ("%s, landlock %d: %s (%#llx, %#llx) gives %#x in place of %#x", architecture->name, abis[a],
                 expected->call, (unsigned long long)expected->arguments[0],
                 (unsigned long long)expected->arguments[1], answer, expected->answer);
    }
    if (a == 0)
      g_test_message ("%s: %u instructions", architecture->name, program.length);
    free (program.filter);
  }
}

static void
test_answers (gconstpointer data)
{
  check_answers (data, expectations, G_N_ELEMENTS (expectations), NAMESPACED);
}

static void
test_shared (gconstpointer data)
{
  check_answers (data, shared_expectations, G_N_ELEMENTS (shared_expectations), SHARED);
}

static void
test_contained (gconstpointer data)
{
  check_answers (data, contained_expectations, G_N_ELEMENTS (contained_expectations), CONTAINED);
}

/* With a network there are a few kinds of sockets more, and no others, whatever a flag is mixed in. */
static void
test_online (gconstpointer data)
{
  const struct architecture *architecture = data;
  static const struct {
    uint64_t family, type, protocol;
    uint32_t answer;
  } rows[] = {
      {AF_INET, SOCK_STREAM, 0, ALLOWED},
      {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP, ALLOWED},
      {HIGH | AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP, ALLOWED},
      {AF_INET, SOCK_RAW, IPPROTO_ICMP, FAILS (EPERM)},
      {AF_INET, SOCK_RAW | SOCK_CLOEXEC, 0, FAILS (EPERM)},
      {AF_INET, SOCK_DGRAM, IPPROTO_ICMP, FAILS (ENOSYS)},
      {AF_INET, SOCK_STREAM, IPPROTO_SCTP, FAILS (ENOSYS)},
      {AF_INET, SOCK_STREAM, 262 /* MPTCP */, FAILS (ENOSYS)},
      {AF_INET, SOCK_DCCP, 0, FAILS (ENOSYS)},
      {AF_INET, SOCK_SEQPACKET, 0, FAILS (ENOSYS)},
      {AF_NETLINK, SOCK_RAW, 0, FAILS (EAFNOSUPPORT)},
      {AF_PACKET, SOCK_RAW, 0, FAILS (EAFNOSUPPORT)},
      {AF_VSOCK, SOCK_STREAM, 0, FAILS (EAFNOSUPPORT)},
      {AF_SMC, SOCK_STREAM, 0, FAILS (ENOSYS)},
  };
  for (int network = NETWORK_NONE; network < NETWORKS; network++) {
    for (int shared = 0; shared <= 1; shared++) {
      const struct seccomp_host host = {
          .landlock_abi = 7, .memory_counted = true, .shared = shared, .network = (enum network)network};
      struct filter_program program = build_for (architecture, host);
      struct seccomp_data call = {.nr = seccomp_syscall_resolve_name_arch (architecture->token, "socket"),
                                  .arch = architecture->audit};
      for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
        call.args[0] = rows[i].family;
        call.args[1] = rows[i].type;
        call.args[2] = rows[i].protocol;
        g_assert_cmphex (interpret (&program, &call), ==,
                         network == NETWORK_NONE ? FAILS (EAFNOSUPPORT) : rows[i].answer);
      }
      /* Local ones as ever: where somebody else's can be named, none. */
      call.args[0] = AF_UNIX;
      g_assert_cmphex (interpret (&program, &call), ==, shared ? FAILS (EAFNOSUPPORT) : ALLOWED);
      call.nr = seccomp_syscall_resolve_name_arch (architecture->token, "connect");
      g_assert_cmphex (interpret (&program, &call), ==,
                       shared && network == NETWORK_NONE ? FAILS (EPERM) : ALLOWED);
      free (program.filter);
    }
  }
}

/* Memory that nobody has mapped is for hosts where the kernel counts it. */
static void
test_memory (gconstpointer data)
{
  const struct architecture *architecture = data;
  static const char *const makers[] = {"memfd_create", "shmget", "msgget", "semget"};
  for (int counted = 0; counted <= 1; counted++) {
    struct filter_program program = build (architecture, 7, counted);
    for (size_t i = 0; i < G_N_ELEMENTS (makers); i++) {
      struct seccomp_data call = {.nr = seccomp_syscall_resolve_name_arch (architecture->token, makers[i]),
                                  .arch = architecture->audit};
      g_assert_cmphex (interpret (&program, &call), ==, counted ? ALLOWED : FAILS (ENOSYS));
    }
    free (program.filter);
  }
}

/* Every number that there may ever be gets an answer, and those without a name the one for the future. */
static void
test_unknown (gconstpointer data)
{
  const struct architecture *architecture = data;
  struct filter_program program = build (architecture, 6, true);
  for (int number = 500; number < 2000; number++) {
    struct seccomp_data call = {.nr = number, .arch = architecture->audit};
    g_assert_cmphex (interpret (&program, &call), ==, FAILS (ENOSYS));
  }
  struct seccomp_data negative = {.nr = -1, .arch = architecture->audit};
  g_assert_cmphex (interpret (&program, &negative), !=, ALLOWED);
  free (program.filter);
}

static void
test_foreign (gconstpointer data)
{
  const struct architecture *architecture = data;
  static const uint32_t foreign[] = {AUDIT_ARCH_I386,    AUDIT_ARCH_X86_64,  AUDIT_ARCH_ARM,
                                     AUDIT_ARCH_AARCH64, AUDIT_ARCH_RISCV64, 0};
  struct filter_program program = build (architecture, 6, true);
  for (size_t i = 0; i < G_N_ELEMENTS (foreign); i++) {
    struct seccomp_data call = {.nr = 0, .arch = foreign[i]};
    if (foreign[i] != architecture->audit)
      g_assert_cmphex (interpret (&program, &call), ==, KILLED);
  }
  if (architecture->token == SCMP_ARCH_X86_64)
    for (int number = 0; number < 600; number++) {
      /* The x32 way to call. */
      struct seccomp_data call = {.nr = 0x40000000 | number, .arch = AUDIT_ARCH_X86_64};
      g_assert_cmphex (interpret (&program, &call), ==, KILLED);
    }
  free (program.filter);
}

static void
each_name (const char *calls, void (*visit) (const char *name, void *data), void *data)
{
  g_auto (GStrv) names = g_strsplit (calls, " ", -1);
  for (char **name = names; *name; name++)
    visit (*name, data);
}

static void
check_name (const char *name, G_GNUC_UNUSED void *data)
{
  /* Newer than the oldest libseccomp that will do. */
  static const char *const young[] = {"fchmodat2", "futex_waitv", "process_mrelease", "quotactl_fd", NULL};
  if (!g_strv_contains (young, name) && seccomp_syscall_resolve_name (name) == __NR_SCMP_ERROR)
    g_error ("there is no system call %s", name);
}

/* A name that is misspelt would silently be left out, and a rule without a reason is one that nobody can
 * judge. */
static void
test_names (void)
{
  for (size_t i = 0; i < seccomp_rules_count; i++) {
    const struct seccomp_rule *rule = &seccomp_rules[i];
    g_assert_cmpstr (rule->reason, !=, "");
    g_assert_true ((rule->compare == COMPARE_NONE) == (rule->values == NULL));
    g_assert_true ((rule->compare == COMPARE_NONE) == (rule->argument_name == NULL));
    each_name (rule->calls, check_name, NULL);
  }
}

static void
add_once (const char *name, void *data)
{
  if (!g_hash_table_add (data, g_strdup (name)))
    g_error ("%s stands in the policy twice", name);
}

static void
check_absent (const char *name, void *data)
{
  if (g_hash_table_contains (data, name))
    g_error ("%s stands in the policy with a condition and without one", name);
}

/* On no host does a name stand in two rules, unless an argument decides in both: which of the two would
 * count? */
static void
check_once (unsigned facts)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int decided = 0; decided <= 1; decided++)
    for (size_t i = 0; i < seccomp_rules_count; i++)
      if (seccomp_applies (&seccomp_rules[i], facts) && (seccomp_rules[i].compare != COMPARE_NONE) == decided)
        each_name (seccomp_rules[i].calls, decided ? check_absent : add_once, seen);
}

static void
test_once (void)
{
  for (int abi = 0; abi <= 7; abi++)
    for (int shared = 0; shared <= 1; shared++) {
      const struct seccomp_host host = {.landlock_abi = abi, .memory_counted = true, .shared = shared};
      check_once (seccomp_facts (&host));
    }
}

/* The table, as the reader of `adder doctor --policy` understands it. */
static gboolean
allows (const char *name, unsigned facts)
{
  for (size_t i = 0; i < seccomp_rules_count; i++) {
    g_auto (GStrv) names = g_strsplit (seccomp_rules[i].calls, " ", -1);
    if (seccomp_rules[i].verdict == SECCOMP_POLICY_ALLOW && seccomp_applies (&seccomp_rules[i], facts) &&
        g_strv_contains ((const char *const *)names, name))
      return TRUE;
  }
  return FALSE;
}

/* An allow-list: whatever number is let through, with arguments of zeros or of ones, stands in it as allowed.
 */
static void
test_allow_list (gconstpointer data)
{
  const struct architecture *architecture = data;
  for (int shared = 0; shared <= 1; shared++) {
    const struct seccomp_host host = {.landlock_abi = 7, .memory_counted = true, .shared = shared};
    struct filter_program program = build_for (architecture, host);
    for (int each = 0; each < 4000; each++) {
      struct seccomp_data call = {.nr = each / 2, .arch = architecture->audit};
      memset (call.args, each % 2 ? 0xff : 0, sizeof call.args);
      if (interpret (&program, &call) != ALLOWED)
        continue;
      char *name = seccomp_syscall_resolve_num_arch (architecture->token, call.nr);
      if (!name || !allows (name, seccomp_facts (&host)))
        g_error ("%s: %s (%d) is let through, but nothing allows it", architecture->name,
                 name ? name : "a call without a name", call.nr);
      free (name);
    }
    free (program.filter);
  }
}

/* What the kernel never looks at may not decide: an ioctl gets one answer whatever the upper half of its
 * request holds. */
static void
test_upper_half (gconstpointer data)
{
  const struct architecture *architecture = data;
  static const uint64_t garbage[] = {UINT64_C (1) << 32, HIGH, UINT64_C (0xffffffff) << 32};
  struct filter_program program = build (architecture, 7, true);
  int number = seccomp_syscall_resolve_name_arch (architecture->token, "ioctl");
  for (uint64_t request = 0; request <= 0xffff; request++) {
    struct seccomp_data call = {.nr = number, .arch = architecture->audit, .args = {0, request}};
    uint32_t answer = interpret (&program, &call);
    for (size_t i = 0; i < G_N_ELEMENTS (garbage); i++) {
      call.args[1] = request | garbage[i];
      g_assert_cmphex (interpret (&program, &call), ==, answer);
    }
  }
  free (program.filter);
}

static void
test_load_refused (void)
{
  struct filter_program program;
  struct fault fault;
  autoclose int null = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (filter_load (null, &program, &fault), ==, -EINVAL);
  g_assert_cmpint (filter_load (-1, &program, &fault), ==, -EBADF);
  /* Nothing, a part of a step, more steps than the kernel takes; and the most that it takes. */
  static const off_t sizes[] = {0, sizeof (struct sock_filter) + 1,
                                (BPF_MAXINSNS + 1) * sizeof (struct sock_filter)};
  autoclose int memory = memfd_create ("program", MFD_CLOEXEC);
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_assert_cmpint (ftruncate (memory, sizes[i]), ==, 0);
    g_assert_cmpint (filter_load (memory, &program, &fault), ==, -EINVAL);
    g_assert_cmpstr (fault.step, ==, "the seccomp program has an impossible size");
  }
  g_assert_cmpint (ftruncate (memory, BPF_MAXINSNS * sizeof (struct sock_filter)), ==, 0);
  g_assert_cmpint (filter_load (memory, &program, &fault), ==, 0);
  g_assert_cmpuint (program.length, ==, BPF_MAXINSNS);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", memory);
  autoclose int written = open (path, O_WRONLY | O_CLOEXEC);
  g_assert_cmpint (filter_load (written, &program, &fault), ==, -EBADF);
  g_assert_cmpstr (fault.step, ==, "cannot read the seccomp program");
  free (program.filter);
}

UNIT_SUITE (sandbox_seccomp)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (architectures); i++) {
    static const struct {
      const char *name;
      GTestDataFunc run;
    } cases[] = {{"answers", test_answers}, {"shared", test_shared},         {"contained", test_contained},
                 {"memory", test_memory},   {"allow-list", test_allow_list}, {"upper-half", test_upper_half},
                 {"unknown", test_unknown}, {"online", test_online},         {"foreign", test_foreign}};
    for (size_t c = 0; c < G_N_ELEMENTS (cases); c++) {
      g_autofree char *path = g_strdup_printf ("/seccomp/%s/%s", architectures[i].name, cases[c].name);
      g_test_add_data_func (path, &architectures[i], cases[c].run);
    }
  }
  g_test_add_func ("/seccomp/names", test_names);
  g_test_add_func ("/seccomp/once", test_once);
  g_test_add_func ("/seccomp/load/refused", test_load_refused);
  return g_test_run ();
}
