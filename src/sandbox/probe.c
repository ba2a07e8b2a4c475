/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation: what a host allows depends on settings, security modules and containers around us, in
 * ways that no file tells for sure. So the two things that matter most, a user namespace and a procfs in it,
 * are tried in a short-lived child; files are read only afterwards, to find the reason for a refusal and the
 * way to lift it. */
#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mount.h"
#include "base/pidfd.h"
#include "base/syscalls.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/probe_container.h"
#include "sandbox/probe_reason.h"

/* mount_setattr is the newest call that nothing stands in for. */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 12

/* MADV_COLLAPSE. */
#define COLLAPSE_MAJOR 6
#define COLLAPSE_MINOR 1 /* in a text below as well */

/* ---- helpers ---- */

__attribute__ ((format (printf, 3, 4))) static void
probe_say (char *text, size_t size, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  vsnprintf (text, size, format, args);
  va_end (args);
}

#define TEXT(line, ...)   probe_say ((line)->text, sizeof (line)->text, __VA_ARGS__)
#define REMEDY(line, ...) probe_say ((line)->remedy, sizeof (line)->remedy, __VA_ARGS__)

/* What a fact was found to be, in tables: for programs, for people, and what would make it good. */
struct finding {
  const char *state, *text, *remedy;
};

/* DETAIL goes behind the text in parentheses; NULL: none. */
static void
put_finding (struct probe_line *line, const struct finding *finding, const char *detail)
{
  line->state = finding->state;
  line->good = !finding->remedy;
  if (detail)
    TEXT (line, "%s (%s)", finding->text, detail);
  else
    TEXT (line, "%s", finding->text);
  REMEDY (line, "%s", finding->remedy ? finding->remedy : "");
}

static bool
probe_read_line (const char *path, char *text, size_t size)
{
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read (fd, text, size - 1);
  if (got < 0)
    return false;
  text[got] = '\0';
  text[strcspn (text, "\n")] = '\0';
  return true;
}

/* Whether somebody put a filter on this process: a container, since we have none before we are in a sandbox.
 * A kernel without filters says EINVAL; what else says no is a filter. */
static bool
is_filtered (void)
{
  int mode = prctl (PR_GET_SECCOMP, 0, 0, 0, 0);
  return mode > 0 || (mode < 0 && errno != EINVAL);
}

static bool
is_at_least (const struct probe *probe, unsigned major, unsigned minor)
{
  return probe->major > major || (probe->major == major && probe->minor >= minor);
}

/* ---- user namespaces and /proc ---- */

enum trial_step { TRIAL_CLONE, TRIAL_MAP, TRIAL_MOUNT, TRIAL_PROC, TRIAL_DONE };

/* How far the child came, and the errno of the step that stopped it. SEALABLE as in struct probe. */
struct trial {
  int step, err;
  bool sealable;
};

static struct trial
try_in_child (int proc_fd, uid_t uid, gid_t gid)
{
  if (namespaces_map (proc_fd, "self", 0, uid, 0, gid, NULL) < 0)
    return (struct trial){TRIAL_MAP, errno, false};
  autoclose int most = openat (proc_fd, "sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
  bool sealable = most >= 0;
  if (unshare (CLONE_NEWNS | CLONE_NEWUTS) < 0 || sethostname ("adder", 5) < 0 ||
      mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    return (struct trial){TRIAL_MOUNT, errno};
  autoclose int context = sys_fsopen ("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0 || sys_fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return (struct trial){TRIAL_MOUNT, errno};
  autoclose int proc = sys_fsopen ("proc", FSOPEN_CLOEXEC);
  autoclose int mounted = -1;
  if (proc >= 0 && sys_fsconfig (proc, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    mounted = sys_fsmount (proc, FSMOUNT_CLOEXEC, 0);
  if (mounted < 0)
    return (struct trial){TRIAL_PROC, errno, sealable};
  return (struct trial){TRIAL_DONE, 0, sealable};
}

/* The child gives no signal when it ends and is waited for by its descriptor: a program that embeds us, with
 * handlers and children of its own, notices nothing. It makes system calls only, for other threads may have
 * held any lock. */
static struct trial
try_namespaces (void)
{
  struct trial trial = {TRIAL_CLONE, 0, false};
  int pidfd_number = -1, pipe_fds[2];
  uid_t uid = geteuid ();
  gid_t gid = getegid ();
  autoclose int proc_fd = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (pipe2 (pipe_fds, O_CLOEXEC) < 0)
    return (struct trial){TRIAL_CLONE, errno};
  pid_t pid = sys_clone (CLONE_NEWUSER | CLONE_NEWPID, &pidfd_number);
  if (pid == 0) {
    trial = try_in_child (proc_fd, uid, gid);
    sys_exit (write (pipe_fds[1], &trial, sizeof trial) < 0);
  }
  if (pid < 0)
    trial.err = errno;
  close (pipe_fds[1]);
  autoclose int answer = pipe_fds[0];
  if (pid > 0) {
    autoclose int pidfd = pidfd_number;
    siginfo_t info;
    if (fd_read_all (answer, &trial, sizeof trial) < 0)
      trial = (struct trial){TRIAL_MAP, EPERM};
    while (waitid (P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL) < 0 && errno == EINTR)
      ;
  }
  return trial;
}

#define UNCONFINED                                                                                           \
  "start the container with a seccomp profile that allows clone and unshare of namespaces, such as "         \
  "--security-opt seccomp=unconfined"

static const struct finding userns_findings[] = {
    [PROBE_USERNS_OK] = {"ok", "can be made", NULL},
    [PROBE_USERNS_MAX] = {"max_user_namespaces", "refused: user.max_user_namespaces",
                          "sysctl -w user.max_user_namespaces=10000 (in a container: on its host)"},
    [PROBE_USERNS_CLONE] = {"unprivileged_userns_clone",
                            "refused to ordinary users: kernel.unprivileged_userns_clone is 0",
                            "sysctl -w kernel.unprivileged_userns_clone=1"},
    [PROBE_USERNS_APPARMOR] = {"apparmor",
                               "without rights for ordinary users: "
                               "kernel.apparmor_restrict_unprivileged_userns is 1",
                               "load an AppArmor profile that allows userns for adder-zygote, or "
                               "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
    [PROBE_USERNS_PROFILE] = {"profile",
                              "without rights: refused by the AppArmor profile that this runs under",
                              "run Adder without that profile, or allow mounts and userns in it"},
    [PROBE_USERNS_SECCOMP] = {"seccomp",
                              "refused by the system call filter of the container that this runs in",
                              UNCONFINED},
    [PROBE_USERNS_CHROOT] = {"chroot", "refused in a chroot",
                             "run Adder outside of the chroot, or enter it with pivot_root (bwrap, "
                             "systemd-nspawn)"},
    [PROBE_USERNS_KERNEL] = {"kernel", "not built into this kernel (CONFIG_USER_NS)",
                             "use a kernel with CONFIG_USER_NS=y"},
    [PROBE_USERNS_OTHER] = {"other", "refused",
                            "look for a security module (SELinux, a container's policy) that forbids them"},
};

static enum probe_userns
find_reason (struct trial trial)
{
  const struct probe_refusal refusal = {
      .err = trial.err,
      .at_clone = trial.step == TRIAL_CLONE,
      .filtered = is_filtered (),
  };
  return trial.step >= TRIAL_PROC ? PROBE_USERNS_OK : probe_explain_userns ("", &refusal);
}

static void
probe_proc (struct probe *probe, struct trial trial)
{
  static const struct finding ok = {"ok", "each sandbox has its own", NULL};
  static const struct finding untried = {"untried", "not tried, for want of user namespaces",
                                         "get user namespaces"};
  static const struct finding masked = {
      "masked",
      "a new one is refused: parts of /proc are masked here, as in most containers; sandboxes have no /proc",
      "start the container with an unmasked /proc: --security-opt systempaths=unconfined (Docker), "
      "procMount: Unmasked (Kubernetes)"};
  static const struct finding read_only = {
      "masked",
      "/proc/sys is read-only here, as in most containers: code cannot be kept from making user namespaces "
      "of "
      "its own",
      "start the container with an unmasked /proc: --security-opt systempaths=unconfined (Docker), "
      "procMount: Unmasked (Kubernetes)"};
  struct probe_line *line = &probe->line[PROBE_PROC];
  probe->fresh_proc = trial.step == TRIAL_DONE;
  probe->sealable = trial.sealable;
  if (probe->userns == PROBE_USERNS_OK && !probe->sealable)
    put_finding (line, &read_only, NULL);
  else if (probe->fresh_proc)
    put_finding (line, &ok, NULL);
  else if (probe->userns == PROBE_USERNS_OK)
    put_finding (line, &masked, strerror (trial.err));
  else
    put_finding (line, &untried, NULL);
}

static void
probe_namespaces (struct probe *probe)
{
  struct probe_line *line = &probe->line[PROBE_USER_NAMESPACES];
  struct trial trial = try_namespaces ();
  probe->userns = find_reason (trial);
  put_finding (line, &userns_findings[probe->userns],
               probe->userns == PROBE_USERNS_OK ? NULL : strerror (trial.err));
  if (probe->userns == PROBE_USERNS_MAX) {
    long most = probe_max_user_namespaces ("");
    /* Each namespace around this one has a limit of its own, which cannot be read from here. */
    TEXT (line,
          most > 0 ? "refused: as many as user.max_user_namespaces allows are there (%ld here; around a "
                     "container perhaps fewer)"
                   : "refused: user.max_user_namespaces is %ld",
          most);
  }
  probe_proc (probe, trial);
}

/* ---- the rest, which can simply be asked ---- */

/* All that nothing stands in for, with arguments that the kernel refuses for another reason than that it does
 * not know the call. A filter around us may lack them on a kernel that has them all. */
static const struct {
  const char *name;
  bool basic; /* level 1 needs it too; these come first */
  long number;
  long argument[5];
} calls[] = {
    {"openat2", true, SYS_openat2, {-1}},
    {"close_range", true, SYS_close_range, {1, 0}},
    {"pidfd_open", true, SYS_pidfd_open, {-1}},
    {"pidfd_send_signal", true, SYS_pidfd_send_signal, {-1}},
    {"memfd_create", true, SYS_memfd_create, {0, -1}},
    {"execveat", false, SYS_execveat, {-1}},
    {"setns", false, SYS_setns, {-1}},
    {"open_tree", false, SYS_open_tree, {-1, 0, -1}},
    {"move_mount", false, SYS_move_mount, {-1, 0, -1, 0, -1}},
    {"fsopen", false, SYS_fsopen, {0, -1}},
    {"fsconfig", false, SYS_fsconfig, {-1, -1}},
    {"fsmount", false, SYS_fsmount, {-1, -1, -1}},
    {"mount_setattr", false, SYS_mount_setattr, {-1, 0, -1}},
};

/* The first of them that is not there, or NULL. *RET_BASIC: all those of level 1 are there. */
static const char *
find_lacking_call (bool *ret_basic)
{
  *ret_basic = true;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    const long *argument = calls[i].argument;
    long r = syscall (calls[i].number, argument[0], argument[1], argument[2], argument[3], argument[4]);
    if (r < 0 && errno == ENOSYS) {
      *ret_basic = !calls[i].basic;
      return calls[i].name;
    }
  }
  return NULL;
}

static void
probe_kernel (struct probe *probe)
{
  struct probe_line *line = &probe->line[PROBE_KERNEL];
  struct utsname name;
  uname (&name);
  probe_say (probe->release, sizeof probe->release, "%s", name.release);
  if (sscanf (name.release, "%u.%u", &probe->major, &probe->minor) != 2)
    probe->major = probe->minor = 0;
  bool recent = is_at_least (probe, KERNEL_MAJOR, KERNEL_MINOR);
  const char *lacking = find_lacking_call (&probe->basic_calls);
  line->good = recent && !lacking;
  line->state = line->good ? "ok" : recent ? "lacking" : "old";
  TEXT (line, "Linux %s on %s%s%s", name.release, name.machine, lacking ? " without " : "",
        lacking ? lacking : "");
  if (!recent)
    REMEDY (line, "use Linux %d.%d or later", KERNEL_MAJOR, KERNEL_MINOR);
  else if (lacking)
    REMEDY (line,
            "allow %s in the system call filter that this runs under: a container's seccomp profile, or "
            "SystemCallFilter= of a service",
            lacking);
}

static void
probe_seccomp (struct probe *probe)
{
  static const struct finding ok = {"ok", "system calls can be filtered", NULL};
  static const struct finding filtered = {
      "seccomp", "refused by the system call filter of the container that this runs in",
      "start the container with a seccomp profile that allows seccomp, such as --security-opt "
      "seccomp=unconfined"};
  static const struct finding kernel = {"kernel", "not built into this kernel",
                                        "use a kernel with CONFIG_SECCOMP_FILTER=y"};
  uint32_t action = 0x80000000u; /* SECCOMP_RET_KILL_PROCESS */
  /* SECCOMP_GET_ACTION_AVAIL, Linux 4.14. */
  probe->seccomp = sys_seccomp (2, 0, &action) == 0;
  int err = errno;
  if (probe->seccomp)
    put_finding (&probe->line[PROBE_SECCOMP], &ok, NULL);
  else
    put_finding (&probe->line[PROBE_SECCOMP], is_filtered () ? &filtered : &kernel, strerror (err));
}

static void
probe_landlock (struct probe *probe)
{
  static const struct finding off = {"off", "built in but switched off when this kernel was started",
                                     "add landlock to the list lsm= of the kernel's command line"};
  static const struct finding filtered = {
      "seccomp", "refused by the system call filter of the container that this runs in",
      "start the container with a seccomp profile that allows landlock_create_ruleset, "
      "landlock_add_rule and landlock_restrict_self"};
  static const struct finding kernel = {"kernel", "not there",
                                        "use a kernel with CONFIG_SECURITY_LANDLOCK=y (Linux 5.13 or later)"};
  struct probe_line *line = &probe->line[PROBE_LANDLOCK];
  probe->landlock_abi = landlock_abi ();
  int err = errno;
  if (probe->landlock_abi == 0) {
    put_finding (line, err == EOPNOTSUPP ? &off : is_filtered () ? &filtered : &kernel, strerror (err));
    return;
  }
  line->good = probe->landlock_abi >= 6;
  line->state = line->good ? "ok" : "old";
  TEXT (line, "version %d%s", probe->landlock_abi,
        line->good ? "" : "; before version 6 sandboxes have socket pairs but no named sockets");
  if (!line->good)
    REMEDY (line, "use Linux 6.12 or later");
}

#define COUNTED "memory, processes and processor time of a run are limited and counted"
#define UNIFIED                                                                                              \
  "run the daemon as root, or start the host with systemd.unified_cgroup_hierarchy=1 and let systemd "       \
  "delegate a group to it"

static const struct finding cgroup_findings[] = {
    [PROBE_CGROUP_NONE] = {"none", "not mounted", "mount -t cgroup2 none /sys/fs/cgroup"},
    [PROBE_CGROUP_V1] = {"v1", "v1, and ours to divide: " COUNTED, NULL},
    [PROBE_CGROUP_MIXED] = {"mixed", "v1 beside v2, the controllers in v1, ours to divide: " COUNTED, NULL},
    [PROBE_CGROUP_V2] = {"v2", "v2, delegated: " COUNTED, NULL},
    [PROBE_CGROUP_V2_UNDELEGATED] =
        {"v2-undelegated", "v2, but not ours to divide",
         "start it where systemd gives it a group: in a login session, or by a unit with "
         "Delegate=yes; in a container, give it a writable /sys/fs/cgroup of its own"},
    [PROBE_CGROUP_V1_FOREIGN] = {"v1-foreign", "v1, which only root can use", UNIFIED},
    [PROBE_CGROUP_MIXED_FOREIGN] = {"mixed-foreign",
                                    "v1 beside v2, the controllers in v1, which only root can use", UNIFIED},
};

static void
probe_cgroup (struct probe *probe, unsigned flags)
{
  struct fault v1 = {0}, v2 = {0};
  const char *obstacle = NULL;
  bool mixed = probe_cgroup_trees ("") == (PROBE_TREE_V1 | PROBE_TREE_V2);
  if (cgroup_mode_check (CGROUP_V2, flags, &v2) == 0) {
    probe->cgroup = PROBE_CGROUP_V2;
    probe->cgroup_mode = CGROUP_V2;
  } else if (cgroup_mode_check (CGROUP_V1, flags, &v1) == 0) {
    probe->cgroup = mixed ? PROBE_CGROUP_MIXED : PROBE_CGROUP_V1;
    probe->cgroup_mode = CGROUP_V1;
  } else if (v1.err != ENOENT) {
    probe->cgroup = mixed ? PROBE_CGROUP_MIXED_FOREIGN : PROBE_CGROUP_V1_FOREIGN;
    obstacle = v1.step;
  } else if (v2.err != ENOENT) {
    probe->cgroup = PROBE_CGROUP_V2_UNDELEGATED;
    obstacle = v2.step;
  }
  put_finding (&probe->line[PROBE_CGROUP], &cgroup_findings[probe->cgroup], obstacle);
}

static void
probe_huge_pages (struct probe *probe)
{
  static const struct finding ok = {"ok", "the interpreter's memory is collapsed into them", NULL};
  static const struct finding kernel = {"kernel", "not built into this kernel",
                                        "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE=y"};
  static const struct finding off = {"off", "switched off",
                                     "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
  static const struct finding old = {"old", "cannot be made on demand by this kernel",
                                     "use Linux 6.1 or later"};
  char text[128];
  const struct finding *found = &ok;
  if (!probe_read_line ("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text))
    found = &kernel;
  else if (strstr (text, "[never]"))
    found = &off;
  else if (!is_at_least (probe, COLLAPSE_MAJOR, COLLAPSE_MINOR))
    found = &old;
  probe->huge_pages = found == &ok;
  put_finding (&probe->line[PROBE_HUGE_PAGES], found, NULL);
}

/* Landlock and a fresh /proc deepen what other mechanisms hold already: their absence is told, but costs no
 * level. */
static unsigned
find_level (const struct probe *probe)
{
  if (!probe->seccomp || !probe->basic_calls)
    return 0;
  if (!probe->namespaces || !probe->sealable)
    return probe->landlock_abi >= LANDLOCK_ABI_ALONE ? 1 : 0;
  return probe->cgroup_mode == CGROUP_NONE ? 2 : 3;
}

/* In a container, what to do is to start it with other options. */
static void
name_options (struct probe *probe)
{
  probe->engine = probe_find_engine ("");
  for (int i = 0; i < PROBE_FACTS; i++) {
    struct probe_line *line = &probe->line[i];
    const char *option =
        line->good ? NULL : probe_engine_option (probe->engine, (enum probe_fact)i, line->state);
    if (option)
      REMEDY (line, "%s", option);
  }
}

void
probe_host (struct probe *ret_probe, unsigned flags)
{
  static const char *const names[PROBE_FACTS] = {
      [PROBE_KERNEL] = "kernel",
      [PROBE_USER_NAMESPACES] = "user namespaces",
      [PROBE_PROC] = "/proc",
      [PROBE_SECCOMP] = "seccomp",
      [PROBE_LANDLOCK] = "landlock",
      [PROBE_CGROUP] = "control groups",
      [PROBE_HUGE_PAGES] = "huge pages",
  };
  struct probe probe = {.root = geteuid () == 0};
  for (int i = 0; i < PROBE_FACTS; i++)
    probe.line[i].name = names[i];
  probe_kernel (&probe);
  probe_namespaces (&probe);
  probe_seccomp (&probe);
  probe_landlock (&probe);
  probe_cgroup (&probe, flags);
  probe_huge_pages (&probe);
  name_options (&probe);
  probe.namespaces = probe.seccomp && probe.userns == PROBE_USERNS_OK && probe.line[PROBE_KERNEL].good;
  probe.level = find_level (&probe);
  *ret_probe = probe;
}
