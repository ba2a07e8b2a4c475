/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. In a container the zygote is pid 1 and its sandbox runs as the same user, for there is
 * no other. Between them stand: that pid 1 is not dumpable, so that its memory, descriptors and links in
 * /proc are root's, and ptrace refuses; that the kernel delivers no signal of the same pid namespace to pid 1
 * that it does not ask for, not even SIGKILL; the sandbox's seccomp filter, which refuses ptrace and its
 * like, and to set limits of others; and landlock, where there is any. */
#include "runner/container.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"
#include "runner/wire.h"
#include "sandbox/capabilities.h"

int
container_make_workspace (struct fault *fault)
{
  static const char *const parts[] = {"work", "tmp", "tmp/output"};
  autoclose int fd = open (WIRE_WORKSPACE_PATH, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fault_set (fault, errno, "cannot open " WIRE_WORKSPACE_PATH);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    /* A directory that is bind-mounted is there already. */
    if (mkdirat (fd, parts[i], 0755) < 0 && errno != EEXIST)
      return fault_set (fault, errno, "cannot make %s in " WIRE_WORKSPACE_PATH, parts[i]);
  return 0;
}

/* By the list of mounts, since statvfs of gVisor's does not tell. */
static bool
is_tree_read_only (void)
{
  bool read_only = false;
  FILE *list = setmntent ("/proc/self/mounts", "re");
  for (const struct mntent *at; list && (at = getmntent (list));)
    if (strcmp (at->mnt_dir, "/") == 0)
      read_only = hasmntopt (at, MNTOPT_RO) != NULL;
  if (list)
    endmntent (list);
  return read_only;
}

/* The /proc of this pid namespace calls us what we call ourselves. */
static bool
is_first_process (void)
{
  char target[16];
  ssize_t length = readlink ("/proc/self", target, sizeof target);
  return getpid () == 1 && length == 1 && target[0] == '1';
}

static bool
is_offline (void)
{
  return namespaces_net_is_empty (true);
}

int
container_verify (const struct namespaces_seen *outside, uint32_t *ret_mechanisms, struct fault *fault)
{
  static const struct {
    enum namespace which;
    const char *otherwise;
    bool needed;
    bool (*holds) (void); /* what is to be so beside */
    uint32_t mechanisms;
  } rows[] = {
      {NAMESPACE_MOUNT, "file tree is shared or can be written to", true, is_tree_read_only,
       WIRE_MOUNT_NAMESPACE},
      {NAMESPACE_PID, "processes are shared", true, is_first_process, WIRE_PID_NAMESPACE | WIRE_FRESH_PROC},
      {NAMESPACE_NET, "network is shared or leads somewhere", true, is_offline, WIRE_NET_NAMESPACE},
      {NAMESPACE_IPC, "ipc objects are shared", true, NULL, WIRE_IPC_NAMESPACE},
      {NAMESPACE_UTS, "host name is shared", false, NULL, WIRE_UTS_NAMESPACE},
      {NAMESPACE_CGROUP, "view of control groups is shared", false, NULL, WIRE_CGROUP_NAMESPACE},
  };
  struct namespaces_seen here = namespaces_look ();
  /* All that another kernel has is its own, whether it can be told apart or not. */
  bool known = here.kernel[0] != '\0' && outside->kernel[0] != '\0';
  bool apart = known && strcmp (here.kernel, outside->kernel) != 0;
  if (apart)
    *ret_mechanisms |= WIRE_OWN_KERNEL;
  if (geteuid () == 0 || getuid () == 0)
    return fault_set (fault, EPERM, "the container runs as root");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ino_t inside = here.inode[rows[i].which];
    bool own = apart || (inside != 0 && inside != outside->inode[rows[i].which]);
    if (own && (!rows[i].holds || rows[i].holds ()))
      *ret_mechanisms |= rows[i].mechanisms;
    else if (rows[i].needed)
      return fault_set (fault, EPERM, "the container's %s", rows[i].otherwise);
  }
  return capabilities_check_bounds (fault);
}

int
container_hide (struct fault *fault)
{
  sigset_t all;
  sigfillset (&all);
  if (sigprocmask (SIG_BLOCK, &all, NULL) < 0)
    return fault_set (fault, errno, "cannot block signals");
  if (!layer_is_disabled (LAYER_DUMPABLE) && prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot become undumpable");
  return 0;
}

int
container_offer_to_oom_killer (struct fault *fault)
{
  /* The file is root's while the process is not dumpable, as its zygote is. */
  if (prctl (PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
    return fault_set (fault, errno, "cannot become dumpable");
  autoclose int fd = open ("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  int r = fd < 0 ? -errno : fd_write_all (fd, "1000", 4);
  return r < 0 ? fault_set (fault, -r, "cannot set oom_score_adj") : 0;
}
