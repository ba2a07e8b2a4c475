/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the host, bind-mounted into one sandbox: a mount of it that is attached nowhere, without
 * what is mounted below it. A sandbox lives in its zygote's user namespace, where no mount of the host is; so
 * the mount is made where the host's are, and passed by descriptor. */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "sandbox/idmap.h"

struct directory_wish {
  bool writable;
  /* Root's alone: an ordinary user's sandboxes have their own id. */
  bool map;
  struct idmap ids;
};

/* Whether nothing is mounted below the directory DIRECTORY_FD: what is would be left out, and what it hides
 * would show. Returns 0, or a negative errno with FAULT. */
int directory_check_alone (int directory_fd, struct fault *fault);

/* Makes the mount of the directory that DIRECTORY_FD (O_PATH will do) refers to. Who has no right to mount
 * gets it from a user namespace, which it does not leave: only for a process that does nothing else. */
int directory_detach (int directory_fd, const struct directory_wish *wish, int *ret_mount_fd,
                      struct fault *fault);
