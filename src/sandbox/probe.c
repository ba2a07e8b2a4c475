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
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/syscalls.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"

/* mount_setattr is the newest call that nothing stands in for. */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 12

/* MADV_COLLAPSE. */
#define COLLAPSE_MAJOR 6
#define COLLAPSE_MINOR 1

/* ---- helpers ---- */

__attribute__ ((format (printf, 3, 4))) static void
say (char *text, size_t size, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  vsnprintf (text, size, format, args);
  va_end (args);
}

#define TEXT(line, ...)   say ((line)->text, sizeof (line)->text, __VA_ARGS__)
#define REMEDY(line, ...) say ((line)->remedy, sizeof (line)->remedy, __VA_ARGS__)

static bool
read_line (const char *path, char *text, size_t size)
{
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read (fd, text, size - 1);
  if (got < 0)
    return false;
  text[got] = '\0';
  text[strcspn (text, "\n")] = '\0';
  return true;
}

/* A setting of the kernel: its number, or OTHERWISE when there is no such setting. */
static long
read_setting (const char *path, long otherwise)
{
  char text[64];
  long value;
  return read_line (path, text, sizeof text) && sscanf (text, "%ld", &value) == 1 ? value : otherwise;
}

static bool
is_at_least (const struct probe *probe, unsigned major, unsigned minor)
{
  return probe->major > major || (probe->major == major && probe->minor >= minor);
}

/* ---- user namespaces and /proc ---- */

enum trial_step { TRIAL_CLONE, TRIAL_MAP, TRIAL_MOUNT, TRIAL_PROC, TRIAL_DONE };

/* How far the child came, and the errno of the step that stopped it. */
struct trial {
  int step, err;
};

static struct trial
try_in_child (int proc_fd, uid_t uid, gid_t gid)
{
  if (namespaces_map (proc_fd, "self", 0, uid, 0, gid, NULL) < 0)
    return (struct trial){TRIAL_MAP, errno};
  if (unshare (CLONE_NEWNS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    return (struct trial){TRIAL_MOUNT, errno};
  autoclose int context = fsopen ("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0 || fsconfig (context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
    return (struct trial){TRIAL_MOUNT, errno};
  autoclose int proc = fsopen ("proc", FSOPEN_CLOEXEC);
  autoclose int mounted = -1;
  if (proc >= 0 && fsconfig (proc, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    mounted = fsmount (proc, FSMOUNT_CLOEXEC, 0);
  if (mounted < 0)
    return (struct trial){TRIAL_PROC, errno};
  return (struct trial){TRIAL_DONE, 0};
}

/* The child gives no signal when it ends and is waited for by its descriptor: a program that embeds us, with
 * handlers and children of its own, notices nothing. It makes system calls only, for other threads may have
 * held any lock. */
static struct trial
try_namespaces (void)
{
  struct trial trial = {TRIAL_CLONE, 0};
  int pidfd_number = -1, pipe_fds[2];
  uid_t uid = geteuid ();
  gid_t gid = getegid ();
  autoclose int proc_fd = open ("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (pipe2 (pipe_fds, O_CLOEXEC) < 0)
    return (struct trial){TRIAL_CLONE, errno};
  pid_t pid = sys_clone (CLONE_NEWUSER | CLONE_NEWPID, &pidfd_number);
  if (pid == 0) {
    trial = try_in_child (proc_fd, uid, gid);
    if (write (pipe_fds[1], &trial, sizeof trial) < 0)
      _exit (1);
    _exit (0);
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

/* In a chroot no mount is at the root that we see, unless somebody mounted one just there. */
static bool
is_chrooted (void)
{
  FILE *file = fopen ("/proc/self/mountinfo", "re");
  char line[4096], point[256];
  bool found = !file;
  while (file && !found && fgets (line, sizeof line, file))
    found = sscanf (line, "%*s %*s %*s %*s %255s", point) == 1 && strcmp (point, "/") == 0;
  if (file)
    fclose (file);
  return !found;
}

static enum probe_userns
find_reason (struct trial trial)
{
  if (trial.step >= TRIAL_PROC)
    return PROBE_USERNS_OK;
  if (trial.err == EINVAL && trial.step == TRIAL_CLONE)
    return PROBE_USERNS_KERNEL;
  if (trial.err == ENOSPC || read_setting ("/proc/sys/user/max_user_namespaces", 1) == 0)
    return PROBE_USERNS_MAX;
  if (geteuid () != 0 && read_setting ("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0)
    return PROBE_USERNS_CLONE;
  if (geteuid () != 0 && read_setting ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) != 0)
    return PROBE_USERNS_APPARMOR;
  if (trial.err == ENOSYS || prctl (PR_GET_SECCOMP, 0, 0, 0, 0) == 2)
    return PROBE_USERNS_SECCOMP;
  if (trial.step == TRIAL_CLONE && trial.err == EPERM && is_chrooted ())
    return PROBE_USERNS_CHROOT;
  return PROBE_USERNS_OTHER;
}

static void
probe_namespaces (struct probe *probe)
{
  struct probe_line *userns = &probe->line[PROBE_USER_NAMESPACES], *proc = &probe->line[PROBE_PROC];
  struct trial trial = try_namespaces ();
  probe->userns = find_reason (trial);
  probe->fresh_proc = trial.step == TRIAL_DONE;
  userns->good = probe->userns == PROBE_USERNS_OK;
  proc->good = probe->fresh_proc;

  switch (probe->userns) {
  case PROBE_USERNS_OK:
    TEXT (userns, "can be made");
    break;
  case PROBE_USERNS_MAX:
    TEXT (userns, "refused: user.max_user_namespaces is %ld",
          read_setting ("/proc/sys/user/max_user_namespaces", 0));
    REMEDY (userns, "sysctl -w user.max_user_namespaces=10000");
    break;
  case PROBE_USERNS_CLONE:
    TEXT (userns, "refused to ordinary users: kernel.unprivileged_userns_clone is 0");
    REMEDY (userns, "sysctl -w kernel.unprivileged_userns_clone=1");
    break;
  case PROBE_USERNS_APPARMOR:
    TEXT (userns, "without rights for ordinary users: kernel.apparmor_restrict_unprivileged_userns is 1");
    REMEDY (userns, "load an AppArmor profile that allows userns for adder-zygote, or "
                    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
    break;
  case PROBE_USERNS_SECCOMP:
    TEXT (userns, "refused by the system call filter of the container that this runs in (%s)",
          strerror (trial.err));
    REMEDY (userns,
            "start the container with a seccomp profile that allows clone and unshare of namespaces, such as "
            "--security-opt seccomp=unconfined");
    break;
  case PROBE_USERNS_CHROOT:
    TEXT (userns, "refused in a chroot");
    REMEDY (userns, "run Adder outside of the chroot, or enter it with pivot_root (bwrap, systemd-nspawn)");
    break;
  case PROBE_USERNS_KERNEL:
    TEXT (userns, "not built into this kernel (CONFIG_USER_NS)");
    REMEDY (userns, "use a kernel with CONFIG_USER_NS=y");
    break;
  case PROBE_USERNS_OTHER:
    TEXT (userns, "refused: %s", strerror (trial.err));
    REMEDY (userns, "look for a security module (SELinux, a container's policy) that forbids them");
    break;
  }
  if (!userns->good) {
    TEXT (proc, "not tried, for want of user namespaces");
  } else if (!proc->good) {
    TEXT (proc,
          "a new one is refused (%s): parts of /proc are masked here, as in most containers; sandboxes have "
          "no /proc",
          strerror (trial.err));
    REMEDY (proc,
            "start the container with an unmasked /proc: --security-opt systempaths=unconfined (Docker), "
            "procMount: Unmasked (Kubernetes)");
  } else {
    TEXT (proc, "each sandbox has its own");
  }
}

/* ---- the rest, which can simply be asked ---- */

/* All that nothing stands in for, with arguments that the kernel refuses for another reason than that it does
 * not know the call. A filter around us may lack them on a kernel that has them all. */
static const struct {
  const char *name;
  long number;
  long argument[5];
} calls[] = {
    {"openat2", SYS_openat2, {-1}},
    {"close_range", SYS_close_range, {1, 0}},
    {"open_tree", SYS_open_tree, {-1, 0, -1}},
    {"move_mount", SYS_move_mount, {-1, 0, -1, 0, -1}},
    {"fsopen", SYS_fsopen, {0, -1}},
    {"fsconfig", SYS_fsconfig, {-1, -1}},
    {"fsmount", SYS_fsmount, {-1, -1, -1}},
    {"mount_setattr", SYS_mount_setattr, {-1, 0, -1}},
    {"setns", SYS_setns, {-1}},
    {"execveat", SYS_execveat, {-1}},
    {"pidfd_open", SYS_pidfd_open, {-1}},
    {"pidfd_send_signal", SYS_pidfd_send_signal, {-1}},
    {"memfd_create", SYS_memfd_create, {0, -1}},
};

/* The first of them that is not there, or NULL. */
static const char *
find_lacking_call (void)
{
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    const long *argument = calls[i].argument;
    long r = syscall (calls[i].number, argument[0], argument[1], argument[2], argument[3], argument[4]);
    if (r < 0 && errno == ENOSYS)
      return calls[i].name;
  }
  return NULL;
}

static void
probe_kernel (struct probe *probe)
{
  struct probe_line *line = &probe->line[PROBE_KERNEL];
  struct utsname name;
  uname (&name);
  say (probe->release, sizeof probe->release, "%s", name.release);
  if (sscanf (name.release, "%u.%u", &probe->major, &probe->minor) != 2)
    probe->major = probe->minor = 0;
  bool recent = is_at_least (probe, KERNEL_MAJOR, KERNEL_MINOR);
  const char *lacking = find_lacking_call ();
  line->good = recent && !lacking;
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
  struct probe_line *line = &probe->line[PROBE_SECCOMP];
  uint32_t action = 0x80000000u; /* SECCOMP_RET_KILL_PROCESS */
  /* SECCOMP_GET_ACTION_AVAIL, Linux 4.14. */
  probe->seccomp = sys_seccomp (2, 0, &action) == 0;
  line->good = probe->seccomp;
  TEXT (line, probe->seccomp ? "system calls can be filtered" : "not built into this kernel: %s",
        strerror (errno));
  if (!line->good)
    REMEDY (line, "use a kernel with CONFIG_SECCOMP_FILTER=y");
}

static void
probe_landlock (struct probe *probe)
{
  struct probe_line *line = &probe->line[PROBE_LANDLOCK];
  probe->landlock_abi = landlock_abi ();
  int err = errno;
  line->good = probe->landlock_abi >= 6;
  if (probe->landlock_abi >= 6) {
    TEXT (line, "version %d", probe->landlock_abi);
  } else if (probe->landlock_abi > 0) {
    TEXT (line, "version %d; before version 6 sandboxes have socket pairs but no named sockets",
          probe->landlock_abi);
    REMEDY (line, "use Linux 6.12 or later");
  } else if (err == EOPNOTSUPP) {
    TEXT (line, "built in but switched off when this kernel was started");
    REMEDY (line, "add landlock to the list lsm= of the kernel's command line");
  } else {
    TEXT (line, "not there: %s", strerror (err));
    REMEDY (line, "use a kernel with CONFIG_SECURITY_LANDLOCK=y (Linux 5.13 or later)");
  }
}

static void
probe_cgroup (struct probe *probe, unsigned flags)
{
  struct probe_line *line = &probe->line[PROBE_CGROUP];
  struct fault v1 = {0}, v2 = {0};
  line->good = true;
  if (cgroup_mode_check (CGROUP_V2, flags, &v2) == 0) {
    probe->cgroup = PROBE_CGROUP_V2;
    probe->cgroup_mode = CGROUP_V2;
    TEXT (line, "v2, delegated: memory, processes and processor time of a run are limited and counted");
    return;
  }
  if (cgroup_mode_check (CGROUP_V1, flags, &v1) == 0) {
    probe->cgroup = PROBE_CGROUP_V1;
    probe->cgroup_mode = CGROUP_V1;
    TEXT (line, "v1, as root: memory, processes and processor time of a run are limited and counted");
    return;
  }
  line->good = false;
  probe->cgroup_mode = CGROUP_NONE;
  if (v1.err != ENOENT) {
    probe->cgroup = PROBE_CGROUP_V1_FOREIGN;
    TEXT (line, "v1, which only root can use (%s)", v1.step);
    REMEDY (line, "run the daemon as root, or start the host with systemd.unified_cgroup_hierarchy=1");
  } else if (v2.err != ENOENT) {
    probe->cgroup = PROBE_CGROUP_V2_UNDELEGATED;
    TEXT (line, "v2, but %s", v2.step);
    REMEDY (line, "systemd-run --user --scope -p Delegate=yes adder serve, or Delegate=yes in its unit; in a "
                  "container, "
                  "give it a writable /sys/fs/cgroup of its own");
  } else {
    probe->cgroup = PROBE_CGROUP_NONE;
    TEXT (line, "not mounted");
    REMEDY (line, "mount -t cgroup2 none /sys/fs/cgroup");
  }
}

static void
probe_huge_pages (struct probe *probe)
{
  struct probe_line *line = &probe->line[PROBE_HUGE_PAGES];
  char text[128];
  bool there = read_line ("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
  bool never = there && strstr (text, "[never]");
  probe->huge_pages = there && !never && is_at_least (probe, COLLAPSE_MAJOR, COLLAPSE_MINOR);
  line->good = probe->huge_pages;
  if (!there) {
    TEXT (line, "not built into this kernel; forking a sandbox takes longer");
    REMEDY (line, "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE=y");
  } else if (never) {
    TEXT (line, "switched off; forking a sandbox takes longer");
    REMEDY (line, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  } else if (!probe->huge_pages) {
    TEXT (line, "cannot be made on demand by this kernel; forking a sandbox takes longer");
    REMEDY (line, "use Linux %d.%d or later", COLLAPSE_MAJOR, COLLAPSE_MINOR);
  } else {
    TEXT (line, "the interpreter's memory is collapsed into them");
  }
}

/* Landlock and a fresh /proc deepen what other mechanisms hold already: their absence is told, but costs no
 * level. */
static unsigned
find_level (const struct probe *probe)
{
  if (!probe->seccomp)
    return 0;
  if (probe->userns != PROBE_USERNS_OK || !probe->line[PROBE_KERNEL].good)
    return 1;
  return probe->cgroup_mode == CGROUP_NONE ? 2 : 3;
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
  probe.level = find_level (&probe);
  *ret_probe = probe;
}
