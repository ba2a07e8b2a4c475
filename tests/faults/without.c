/* SPDX-License-Identifier: Apache-2.0 */
/* without FEATURE... -- COMMAND [ARGUMENT]...: runs COMMAND as on a kernel that lacks each FEATURE.
 *
 * A seccomp filter gives the answers that such a kernel gives. It is inherited by all that COMMAND starts, so
 * daemon, launcher, zygotes and sandboxes live on the same poor kernel. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mount.h"
#include "base/pidfd.h"
#include "base/syscalls.h"

enum condition { ALWAYS, EQUALS, HAS };

static const struct row {
  const char *feature, *call;
  int err;
  enum condition condition;
  unsigned argument;
  uint64_t value;
} rows[] = {
    {"landlock", "landlock_create_ruleset", ENOSYS, ALWAYS, 0, 0},
    {"landlock", "landlock_add_rule", ENOSYS, ALWAYS, 0, 0},
    {"landlock", "landlock_restrict_self", ENOSYS, ALWAYS, 0, 0},
    /* Built in, but not on the list lsm=. */
    {"landlock-on", "landlock_create_ruleset", EOPNOTSUPP, ALWAYS, 0, 0},
    {"landlock-on", "landlock_add_rule", EOPNOTSUPP, ALWAYS, 0, 0},
    {"landlock-on", "landlock_restrict_self", EOPNOTSUPP, ALWAYS, 0, 0},
    /* Not for users: nothing else is told to have what is not a text. */
    {"overlay", "fsconfig", EINVAL, EQUALS, 1, FSCONFIG_SET_FLAG},
    {"collapse", "madvise", EINVAL, EQUALS, 2, MADV_COLLAPSE},
    {"populate", "madvise", EINVAL, EQUALS, 2, MADV_POPULATE_READ},
    {"populate", "madvise", EINVAL, EQUALS, 2, MADV_POPULATE_WRITE},
    {"clone3", "clone3", ENOSYS, ALWAYS, 0, 0},
    {"close_range", "close_range", ENOSYS, ALWAYS, 0, 0},
    {"openat2", "openat2", ENOSYS, ALWAYS, 0, 0},
    {"mount_setattr", "mount_setattr", ENOSYS, ALWAYS, 0, 0},
    {"mount-by-descriptor", "open_tree", ENOSYS, ALWAYS, 0, 0},
    {"mount-by-descriptor", "move_mount", ENOSYS, ALWAYS, 0, 0},
    {"mount-by-descriptor", "fsopen", ENOSYS, ALWAYS, 0, 0},
    {"mount-by-descriptor", "fsconfig", ENOSYS, ALWAYS, 0, 0},
    {"mount-by-descriptor", "fsmount", ENOSYS, ALWAYS, 0, 0},
    {"pidfd", "pidfd_open", ENOSYS, ALWAYS, 0, 0},
    {"pidfd", "pidfd_send_signal", ENOSYS, ALWAYS, 0, 0},
    {"pidfd-wait", "waitid", EINVAL, EQUALS, 0, P_PIDFD},
    {"execveat", "execveat", ENOSYS, ALWAYS, 0, 0},
    {"memfd", "memfd_create", ENOSYS, ALWAYS, 0, 0},
    {"setns", "setns", ENOSYS, ALWAYS, 0, 0},
    {"pivot_root", "pivot_root", EPERM, ALWAYS, 0, 0}, /* as when / is the initial ramdisk */
    {"seccomp", "seccomp", ENOSYS, ALWAYS, 0, 0},
    {"seccomp", "prctl", EINVAL, EQUALS, 0, PR_GET_SECCOMP},
    {"seccomp", "prctl", EINVAL, EQUALS, 0, PR_SET_SECCOMP},
    /* With CONFIG_SECCOMP, but without CONFIG_SECCOMP_FILTER. */
    {"seccomp-filter", "seccomp", EINVAL, ALWAYS, 0, 0},
    /* As containers have it by default: EPERM for what a filter can see, ENOSYS for what it cannot. */
    {"user-namespaces", "unshare", EPERM, HAS, 0, CLONE_NEWUSER},
    {"user-namespaces", "clone", EPERM, HAS, 0, CLONE_NEWUSER},
    {"user-namespaces", "clone3", ENOSYS, ALWAYS, 0, 0},
};

/* Adds the rules of FEATURE. Returns 0, or a negative errno. */
static int
take_away (scmp_filter_ctx filter, const char *feature)
{
  int r = -ENOENT;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct row *row = &rows[i];
    if (strcmp (row->feature, feature) != 0)
      continue;
    struct scmp_arg_cmp compare = {
        .arg = row->argument,
        .op = row->condition == HAS ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ,
        .datum_a = row->value,
        .datum_b = row->value,
    };
    r = seccomp_rule_add_array (filter, SCMP_ACT_ERRNO ((uint32_t)row->err),
                                seccomp_syscall_resolve_name (row->call), row->condition != ALWAYS, &compare);
    if (r < 0)
      break;
  }
  return r;
}

int
main (int argc, char **argv)
{
  int at = 1;
  scmp_filter_ctx filter = seccomp_init (SCMP_ACT_ALLOW);
  for (; filter && at < argc && strcmp (argv[at], "--") != 0; at++) {
    int r = take_away (filter, argv[at]);
    if (r < 0) {
      fprintf (stderr, "without: cannot take away %s: %s\n", argv[at], strerror (-r));
      return 125;
    }
  }
  if (!filter || at + 1 >= argc) {
    fprintf (stderr, "usage: without FEATURE... -- COMMAND [ARGUMENT]...\n");
    return 125;
  }
  int r = seccomp_load (filter);
  if (r < 0) {
    fprintf (stderr, "without: cannot install the filter: %s\n", strerror (-r));
    return 125;
  }
  execvp (argv[at + 1], &argv[at + 1]);
  fprintf (stderr, "without: cannot run %s: %s\n", argv[at + 1], strerror (errno));
  return 125;
}
