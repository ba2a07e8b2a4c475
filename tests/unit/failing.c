/* SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "suite.h"

/* Over it the child hands the listener out, by a call that does not wait for it. */
#define HANDOVER_FD 500

/* More than any of what is tried makes. */
#define CALLS_MAX 2000

/* No call by which libc starts a thread or takes memory, and none that only forgets something. */
static const char calls[] =
    "bind capget capset chdir clone close_range connect copy_file_range dup dup2 dup3 execve "
    "execveat faccessat faccessat2 fchdir fchmod fchmodat fchown fchownat fcntl flock "
    "fsconfig fsmount fsopen fstat fstatfs ftruncate getdents64 getsockopt ioctl "
    "landlock_add_rule landlock_create_ruleset landlock_restrict_self linkat listen lseek "
    "memfd_create mkdir mkdirat mount mount_setattr move_mount newfstatat open open_tree "
    "openat openat2 pidfd_open pidfd_send_signal pipe2 pivot_root poll prctl pread64 "
    "prlimit64 pwrite64 read readlink readlinkat recvfrom recvmsg rename renameat renameat2 "
    "seccomp sendto setgroups sethostname setns setresgid setresuid setsid setsockopt "
    "signalfd4 socket socketpair statfs statx symlinkat umount2 uname unlink unlinkat "
    "unshare write writev";

/* ---- the child ---- */

static void
take_filter (void)
{
  scmp_filter_ctx filter = seccomp_init (SCMP_ACT_ALLOW);
  g_assert_nonnull (filter);
  g_auto (GStrv) names = g_strsplit (calls, " ", -1);
  for (char **name = names; *name; name++) {
    int number = seccomp_syscall_resolve_name (*name);
    if (number >= 0) /* not every architecture has them all */
      g_assert_cmpint (seccomp_rule_add (filter, SCMP_ACT_NOTIFY, number, 0), ==, 0);
  }
  g_assert_cmpint (
      seccomp_rule_add (filter, SCMP_ACT_NOTIFY, SCMP_SYS (sendmsg), 1, SCMP_A0 (SCMP_CMP_NE, HANDOVER_FD)),
      ==, 0);
  g_assert_cmpint (seccomp_load (filter), ==, 0);
  int listener = seccomp_notify_fd (filter);
  g_assert_cmpint (fd_send (HANDOVER_FD, "", 1, &listener, 1), ==, 0);
  seccomp_release (filter);
  close (listener);
  close (HANDOVER_FD);
}

/* ---- who answers its calls ---- */

static void
name_of (pid_t pid, char name[16])
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/comm", (int)pid);
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    text = g_strdup ("");
  g_strlcpy (name, g_strchomp (text), 16);
}

static bool
is_word (const char *words, const char *word)
{
  g_autofree char *spaced = g_strdup_printf (" %s ", word);
  return strstr (words, spaced) != NULL;
}

/* Whether the process PID, which makes CALL, has yet to begin with what it is for. */
static bool
is_loading (struct failing *failing, pid_t pid, const char *call)
{
  for (gsize i = 0; failing->beginnings && i < G_N_ELEMENTS (failing->loading); i++)
    if (failing->loading[i] == pid) {
      if (is_word (failing->beginnings, call))
        failing->loading[i] = 0;
      return failing->loading[i] != 0;
    }
  return false;
}

static void
note_loading (struct failing *failing, pid_t pid)
{
  for (gsize i = 0; i < G_N_ELEMENTS (failing->loading); i++)
    if (!failing->loading[i]) {
      failing->loading[i] = pid;
      return;
    }
}

/* 0 or the errno with which CALL of the process PID fails. */
static int
judge (struct failing *failing, pid_t pid, const char *call)
{
  if (failing->also && g_str_equal (call, failing->also))
    return failing->also_err;
  if (!is_loading (failing, pid, call) && ++failing->seen == failing->nth) {
    name_of (pid, failing->process);
    g_strlcpy (failing->call, call, sizeof failing->call);
    return failing->err;
  }
  if (is_word (" execve execveat ", call))
    note_loading (failing, pid);
  return 0;
}

static void *
answer_calls (void *data)
{
  struct failing *failing = data;
  for (;;) {
    struct pollfd ready = {.fd = failing->listener, .events = POLLIN};
    if (poll (&ready, 1, -1) < 0 && errno != EINTR)
      return NULL;
    if (ready.revents & POLLIN) {
      struct seccomp_notif call = {0};
      if (ioctl (failing->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
        continue;
      /* The C library of Debian 12 makes the one where that of Debian 13 makes the other. */
      int number = call.data.nr == SCMP_SYS (fstat) ? SCMP_SYS (newfstatat) : call.data.nr;
      char *name = seccomp_syscall_resolve_num_arch (SCMP_ARCH_NATIVE, number);
      bool idle = failing->idle && g_atomic_int_get (failing->idle);
      int err = idle ? 0 : judge (failing, (pid_t)call.pid, name);
      free (name);
      struct seccomp_notif_resp reply = {
          .id = call.id, .error = -err, .flags = err ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE};
      (void)ioctl (failing->listener, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* ENOENT: it was killed meanwhile */
    } else if (ready.revents) {
      return NULL; /* nobody has the filter any more */
    }
  }
}

void
failing_start (struct failing *failing, void (*first) (void *data), void (*child) (void *data), void *data)
{
  int pair[2];
  size_t count = 0;
  char byte;
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  failing->child = fork ();
  g_assert_cmpint (failing->child, >=, 0);
  if (failing->child == 0) {
    g_assert_cmpint (dup2 (pair[1], HANDOVER_FD), ==, HANDOVER_FD);
    close (pair[0]);
    close (pair[1]);
    if (first)
      first (data);
    take_filter ();
    child (data);
    _exit (0);
  }
  close (pair[1]);
  g_assert_cmpint (fd_receive (pair[0], &byte, 1, &failing->listener, 1, &count), ==, 1);
  g_assert_cmpuint (count, ==, 1);
  close (pair[0]);
  failing->thread = g_thread_new ("calls", answer_calls, failing);
}

int
failing_end (struct failing *failing)
{
  int status;
  g_assert_cmpint (waitpid (failing->child, &status, 0), ==, failing->child);
  g_thread_join (failing->thread);
  close (failing->listener);
  return status;
}

extern int __llvm_profile_runtime __attribute__ ((weak));

bool
failing_is_counted (void)
{
  return &__llvm_profile_runtime != NULL;
}

/* ---- functions ---- */

struct attempt {
  const struct failing_row *row;
  void *prepared;
  int descriptors;
  /* In memory that the child shares with the test. */
  gint done;
  int result, leaked;
  bool true_to_word; /* what it said it did is done */
  struct fault fault;
};

static void
prepare (void *data)
{
  struct attempt *attempt = data;
  attempt->prepared = attempt->row->prepare ? attempt->row->prepare () : NULL;
  attempt->descriptors = suite_descriptors ();
}

static void
act (void *data)
{
  struct attempt *attempt = data;
  attempt->result = attempt->row->act (attempt->prepared, &attempt->fault);
  g_atomic_int_set (&attempt->done, 1);
  const struct failing_row *row = attempt->row;
  attempt->true_to_word = attempt->result != row->expect || !row->check || row->check (attempt->prepared);
  attempt->leaked = attempt->result < 0 ? suite_descriptors () - attempt->descriptors : 0;
}

/* Whether what came of ROW is what may, where CALL failed ("": none did). */
static gboolean
is_fine (const struct failing_row *row, const struct attempt *attempt, const char *call)
{
  gboolean all = g_strcmp0 (row->tolerated, "all") == 0;
  gboolean tolerated = all || (row->tolerated && is_word (row->tolerated, call)) ||
                       (failing_is_counted () && g_str_equal (call, "umount2"));
  int r = attempt->result, err = row->err ? row->err : EIO;
  if (!attempt->true_to_word)
    return FALSE;
  if (r == row->expect || r > 0)
    return tolerated || (!*call && r == row->expect);
  gboolean expected = r == -err || (row->also && r == -row->also_err);
  for (gsize i = 0; i < G_N_ELEMENTS (row->other); i++)
    expected |= row->other[i] && r == -row->other[i];
  return *call && expected && (row->ends || attempt->leaked <= 0) &&
         (!attempt->fault.err || attempt->fault.err == -r);
}

/* Has each call fail until there are no more. */
static void
sweep (const void *data)
{
  const struct failing_row *row = data;
  if (row->root && geteuid () != 0) {
    g_test_skip ("only root may do this");
    return;
  }
  struct attempt *attempt =
      mmap (NULL, sizeof *attempt, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true (attempt != MAP_FAILED);
  for (guint nth = 1;; nth++) {
    struct failing failing = {.nth = nth,
                              .err = row->err ? row->err : EIO,
                              .also = row->also,
                              .also_err = row->also_err,
                              .idle = &attempt->done};
    *attempt = (struct attempt){.row = row};
    failing_start (&failing, prepare, act, attempt);
    int status = failing_end (&failing);
    if (status != 0 || !is_fine (row, attempt, failing.call))
      g_error ("%s: call %u, '%s', failed: returned %d, '%s' %d, %d descriptors leaked, status %#x",
               row->name, nth, failing.call, attempt->result, attempt->fault.step, attempt->fault.err,
               attempt->leaked, status);
    if (!*failing.call)
      break;
    g_assert_cmpuint (nth, <, CALLS_MAX);
  }
  munmap (attempt, sizeof *attempt);
}

void
failing_add (const struct failing_row *row)
{
  g_autofree char *path = g_strconcat ("/failing/", row->name, NULL);
  g_test_add_data_func (path, row, sweep);
}
