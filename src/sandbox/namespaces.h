/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces of a zygote and of a sandbox. A zygote has its own user, pid, mount, net, ipc, uts and cgroup
 * namespace; a sandbox adds its own pid and ipc (made with its init), mount, and a nested user namespace that
 * allows no further ones. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/* The id of the payload in its nested user namespace: nobody, everywhere. */
#define NAMESPACES_PAYLOAD_ID 65534

/* Maps the one id INSIDE of PROCESS ("self" or a pid, as a path below PROC_FD, an O_PATH descriptor of a
 * procfs) to OUTSIDE, and forbids setgroups for ever. Without privileges OUTSIDE can only be the caller's
 * own. */
int namespaces_map (int proc_fd, const char *process, uid_t inside_uid, uid_t outside_uid, gid_t inside_gid,
                    gid_t outside_gid, struct fault *fault);

/* For a zygote, in its new user and pid namespace: leaves the host's mount, ipc, uts and cgroup namespaces,
 * and that of the network unless NET_STAYS, cuts mount propagation both ways and takes a neutral host name.
 */
int namespaces_leave_host (bool net_stays, struct fault *fault);

enum namespace {
  NAMESPACE_MOUNT,
  NAMESPACE_NET,
  NAMESPACE_IPC,
  NAMESPACE_UTS,
  NAMESPACE_CGROUP,
  NAMESPACE_PID,
  NAMESPACES
};

/* For uname. Namespaces and personalities can change the host name and the release, but not this. */
#define NAMESPACES_KERNEL_BYTES 65

/* The namespaces of the calling process, as inode numbers (0: unreadable), and its kernel's build. */
struct namespaces_seen {
  ino_t inode[NAMESPACES];
  char kernel[NAMESPACES_KERNEL_BYTES];
};
struct namespaces_seen namespaces_look (void);

/* Whether NAME belongs to the caller's user namespace, so that it cannot be one of the host's. */
bool namespaces_is_own (enum namespace which);

/* Whether the network namespace has only devices that are down; with LOOPBACK, that one may be up. */
bool namespaces_net_is_empty (bool loopback);

/* Nests a user namespace, in which the caller has id NAMESPACES_PAYLOAD_ID, with every capability for now.
 * PROC_FD as for namespaces_map. */
int namespaces_nest (int proc_fd, struct fault *fault);

/* Forbids further user namespaces below the caller's and verifies it. PROC_FD must be of a whole procfs.
 * Returns 0, 1 when that procfs is not writable (a masked one), or a negative errno with FAULT. */
int namespaces_seal (int proc_fd, struct fault *fault);
