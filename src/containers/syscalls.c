/* SPDX-License-Identifier: Apache-2.0 */
/* It is for the zygote, which runs no code of a request: the worker has a filter of its own, which names what
 * is allowed (sandbox/seccomp_policy.c). So this one names what is refused, and stays ours whatever the
 * engine's default is: some of those do not let a process confine itself any further. */
#include "containers/syscalls.h"

#include <errno.h>
#include <glib.h>
#include <jansson.h>
#include <sched.h>
#include <sys/stat.h>

#include "common/json.h"

static const char *const refused[] = {
    /* trees and other namespaces */
    "mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount",
    "fspick", "pivot_root", "chroot", "unshare", "setns",
    /* files by other ways than their path */
    "open_by_handle_at", "name_to_handle_at",
    /* other processes */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "move_pages",
    "migrate_pages",
    /* parts of the kernel with a history */
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "fanotify_init", "fanotify_mark", "add_key", "keyctl", "request_key", "lookup_dcookie", "vmsplice",
    "modify_ldt", "mq_open", "mq_unlink", "uselib", "remap_file_pages",
    /* the machine */
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module",
    "query_module", "get_kernel_syms", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "syslog", "iopl", "ioperm", "vhangup", "nfsservctl", "settimeofday", "stime", "clock_settime",
    "clock_settime64", "adjtimex", "clock_adjtime", "clock_adjtime64", "sethostname", "setdomainname",
    "_sysctl", "sysfs", "ustat", "personality"};

/* What an argument decides: where VALUE is what MASK leaves of it. */
static const struct decided {
  const char *name;
  int argument;
  unsigned int mask, value;
} decided[] = {
    {"clone", 0, CLONE_NEWNS, CLONE_NEWNS},
    {"clone", 0, CLONE_NEWCGROUP, CLONE_NEWCGROUP},
    {"clone", 0, CLONE_NEWUTS, CLONE_NEWUTS},
    {"clone", 0, CLONE_NEWIPC, CLONE_NEWIPC},
    {"clone", 0, CLONE_NEWUSER, CLONE_NEWUSER},
    {"clone", 0, CLONE_NEWPID, CLONE_NEWPID},
    {"clone", 0, CLONE_NEWNET, CLONE_NEWNET},
    /* Pipes and files with names are welcome. */
    {"mknod", 1, S_IFMT, S_IFCHR},
    {"mknod", 1, S_IFMT, S_IFBLK},
    {"mknodat", 2, S_IFMT, S_IFCHR},
    {"mknodat", 2, S_IFMT, S_IFBLK},
};

/* Its flags lie in memory, where no filter can look: the C library then takes clone. */
static const char *const unknown[] = {"clone3"};

static json_t *
rule (const char *const *names, gsize count, int err)
{
  json_t *list = json_array ();
  for (gsize i = 0; i < count; i++)
    json_array_append_new (list, json_string (names[i]));
  return json_pack ("{s:o, s:s, s:i}", "names", list, "action", "SCMP_ACT_ERRNO", "errnoRet", err);
}

static json_t *
rule_by_argument (const struct decided *row)
{
  json_t *made = rule (&row->name, 1, EPERM);
  json_object_set_new (made, "args",
                       json_pack ("[{s:i, s:I, s:I, s:s}]", "index", row->argument, "value",
                                  (json_int_t)row->mask, "valueTwo", (json_int_t)row->value, "op",
                                  "SCMP_CMP_MASKED_EQ"));
  return made;
}

char *
container_syscalls (void)
{
  json_t *rules = json_array ();
  json_array_append_new (rules, rule (refused, G_N_ELEMENTS (refused), EPERM));
  json_array_append_new (rules, rule (unknown, G_N_ELEMENTS (unknown), ENOSYS));
  for (gsize i = 0; i < G_N_ELEMENTS (decided); i++)
    json_array_append_new (rules, rule_by_argument (&decided[i]));
  g_autoptr (json_t) profile = json_pack ("{s:s, s:o}", "defaultAction", "SCMP_ACT_ALLOW", "syscalls", rules);
  return json_to_text (profile);
}
