/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the host, bind-mounted into one sandbox: a detached mount of it, without the mounts below
 * it. A sandbox is in its zygote's user namespace, without the host's mounts; so the mount is made in the
 * host's, and passed by descriptor. */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "sandbox/idmap.h"

struct directory_wish {
  bool writable;
  /* For root only: an ordinary user's sandboxes have the user's own id. */
  bool map;
  struct idmap ids;
};

/* Whether nothing is mounted below the directory DIRECTORY_FD: such mounts would be left out, and reveal what
 * they hide. Returns 0, or a negative errno with FAULT. */
int directory_check_alone (int directory_fd, struct fault *fault);

/* Makes the mount of the directory that DIRECTORY_FD (O_PATH will do) refers to. A caller without the right
 * to mount gets it from a user namespace, which it does not leave: only for a process that does nothing
 * else. */
int directory_detach (int directory_fd, const struct directory_wish *wish, int *ret_mount_fd,
                      struct fault *fault);
