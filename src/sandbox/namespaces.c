/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/disable_layers.h"
#include "base/fd.h"

static const char *const namespace_names[NAMESPACES] = {
    [NAMESPACE_MOUNT] = "mnt", [NAMESPACE_NET] = "net",       [NAMESPACE_IPC] = "ipc",
    [NAMESPACE_UTS] = "uts",   [NAMESPACE_CGROUP] = "cgroup", [NAMESPACE_PID] = "pid",
};

static int
namespaces_write_text (int directory, const char *path, const char *text)
{
  autoclose int fd = openat (directory, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return -errno;
  size_t length = strlen (text);
  /* The kernel takes these files in one write or not at all. */
  if (write (fd, text, length) != (ssize_t)length)
    return -errno;
  return 0;
}

int
namespaces_map (int proc_fd, const char *process, uid_t inside_uid, uid_t outside_uid, gid_t inside_gid,
                gid_t outside_gid, struct fault *fault)
{
  char text[64];
  autoclose int directory = openat (proc_fd, process, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return fault_set (fault, errno, "cannot open /proc/%s", process);

  /* In this order: an ordinary user may write a gid_map only once setgroups is denied. */
  int r = namespaces_write_text (directory, "setgroups", "deny");
  if (r < 0)
    return fault_set (fault, -r, "cannot deny setgroups in /proc/%s", process);
  snprintf (text, sizeof text, "%u %u 1\n", (unsigned)inside_gid, (unsigned)outside_gid);
  r = namespaces_write_text (directory, "gid_map", text);
  if (r < 0)
    return fault_set (fault, -r, "cannot map group id %u in /proc/%s", (unsigned)outside_gid, process);
  snprintf (text, sizeof text, "%u %u 1\n", (unsigned)inside_uid, (unsigned)outside_uid);
  r = namespaces_write_text (directory, "uid_map", text);
  if (r < 0)
    return fault_set (fault, -r, "cannot map user id %u in /proc/%s", (unsigned)outside_uid, process);
  return 0;
}

int
namespaces_leave_host (bool net_stays, struct fault *fault)
{
  int flags = CLONE_NEWNS;
  if (!net_stays && !layer_is_disabled (LAYER_NET))
    flags |= CLONE_NEWNET;
  if (!layer_is_disabled (LAYER_CGROUP_NAMESPACE))
    flags |= CLONE_NEWCGROUP;
  if (!layer_is_disabled (LAYER_ZYGOTE_IPC))
    flags |= CLONE_NEWIPC;
  if (!layer_is_disabled (LAYER_UTS))
    flags |= CLONE_NEWUTS;
  if (unshare (flags) < 0)
    return fault_set (fault, errno, "cannot make mount, net, ipc, uts and cgroup namespaces");
  if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    return fault_set (fault, errno, "cannot make all mounts private");
  if (!layer_is_disabled (LAYER_UTS) && sethostname ("adder", 5) < 0)
    return fault_set (fault, errno, "cannot set the host name");
  return 0;
}

static ino_t
namespace_inode (int directory, const char *name)
{
  struct stat info;
  return fstatat (directory, name, &info, 0) < 0 ? 0 : info.st_ino;
}

struct namespaces_seen
namespaces_look (void)
{
  struct namespaces_seen seen = {{0}, ""};
  struct utsname name;
  if (uname (&name) == 0)
    snprintf (seen.kernel, sizeof seen.kernel, "%s", name.version);
  autoclose int directory = open ("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; directory >= 0 && i < NAMESPACES; i++)
    seen.inode[i] = namespace_inode (directory, namespace_names[i]);
  return seen;
}

bool namespaces_is_own (enum namespace which)
{
  autoclose int directory = open ("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return false;
  autoclose int fd = openat (directory, namespace_names[which], O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  /* EPERM when the owner lies outside of our own user namespace, which is the case we look for. */
  autoclose int owner = ioctl (fd, NS_GET_USERNS);
  struct stat owned_by;
  if (owner < 0 || fstat (owner, &owned_by) < 0)
    return false;
  return owned_by.st_ino == namespace_inode (directory, "user");
}

bool
namespaces_net_is_empty (bool loopback)
{
  autoclose int fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    /* A kernel without IPv4 has nothing to be reached over it. */
    return errno == EAFNOSUPPORT;
  bool empty = true;
  struct if_nameindex *list = if_nameindex ();
  for (struct if_nameindex *at = list; at && at->if_index; at++) {
    struct ifreq request = {0};
    strncpy (request.ifr_name, at->if_name, IFNAMSIZ - 1);
    if (ioctl (fd, SIOCGIFFLAGS, &request) < 0 ||
        ((request.ifr_flags & IFF_UP) && !(loopback && (request.ifr_flags & IFF_LOOPBACK))))
      empty = false;
  }
  if (list)
    if_freenameindex (list);
  return list && empty;
}

int
namespaces_nest (int proc_fd, struct fault *fault)
{
  uid_t uid = geteuid ();
  gid_t gid = getegid ();
  if (unshare (CLONE_NEWUSER) < 0)
    return fault_set (fault, errno, "cannot nest a user namespace");
  return namespaces_map (proc_fd, "self", NAMESPACES_PAYLOAD_ID, uid, NAMESPACES_PAYLOAD_ID, gid, fault);
}

int
namespaces_seal (int proc_fd, struct fault *fault)
{
  /* The file shows the setting of whoever opens it: of the nested namespace, although it lies in the zygote's
   * procfs. */
  int r = namespaces_write_text (proc_fd, "sys/user/max_user_namespaces", "0");
  if (r == -EROFS || r == -ENOENT || r == -EACCES)
    return 1;
  if (r < 0)
    return fault_set (fault, -r, "cannot forbid further user namespaces");
  if (unshare (CLONE_NEWUSER) == 0 || errno != ENOSPC)
    return fault_set (fault, EPERM, "further user namespaces are still allowed");
  return 0;
}
