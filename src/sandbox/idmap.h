/* SPDX-License-Identifier: Apache-2.0 */
/* A map of ids for a mount of the host's (MOUNT_ATTR_IDMAP): root alone can make one. */
#pragma once

#include <sys/types.h>

#include "base/fault.h"

#define IDMAP_NONE ((unsigned)-1)

/* What belongs to HOST_UID and HOST_GID is SANDBOX_UID's and SANDBOX_GID's on a mount with this map, what
 * belongs to SAME_UID and SAME_GID (or IDMAP_NONE) stays theirs, and what belongs to others is nobody's: even
 * root has no more rights there than everybody. */
struct idmap {
  uid_t host_uid, sandbox_uid, same_uid;
  gid_t host_gid, sandbox_gid, same_gid;
};

/* *RET_FD is a user namespace in which nobody lives. */
int idmap_make (const struct idmap *map, int *ret_fd, struct fault *fault);
