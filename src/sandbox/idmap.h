/* SPDX-License-Identifier: Apache-2.0 */
/* A map of ids for a mount of the host (MOUNT_ATTR_IDMAP), which only root can make. */
#pragma once

#include <sys/types.h>

#include "base/fault.h"

#define IDMAP_NONE ((unsigned)-1)

/* On a mount with this map, files of HOST_UID and HOST_GID belong to SANDBOX_UID and SANDBOX_GID, those of
 * SAME_UID and SAME_GID (or IDMAP_NONE) stay theirs, and all others are nobody's: even root has only
 * everybody's rights there. */
struct idmap {
  uid_t host_uid, sandbox_uid, same_uid;
  gid_t host_gid, sandbox_gid, same_gid;
};

/* *RET_FD is a user namespace in which nobody lives. */
int idmap_make (const struct idmap *map, int *ret_fd, struct fault *fault);
