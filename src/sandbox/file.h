/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the host, bind-mounted into one sandbox: a detached mount of that file alone, which nobody can
 * write to.
 *
 * A plain bind mount would let a sandbox lock the file for others (flock, and read locks of fcntl, need no
 * right to write), and reveal the file's path in mountinfo. So there is an overlay of the file's directory in
 * between, without an upper layer: locks are the overlay's, and without an upper layer nobody can change it.
 * The mount is of the one file in it; no path leads from there to the directory. The lower layer is accessed
 * with the rights of the overlay's maker, so the directories above the file do not matter; the file's own
 * mode and owner, as this mount shows them, do. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct file_wish {
  /* Root's alone: who the sandbox is for the host. A file that only its owner may read becomes theirs on this
   * mount. An ordinary user's sandboxes have their own id. */
  bool assume;
  uid_t sandbox_uid;
  gid_t sandbox_gid;
};

/* Makes the mount of the regular file that FILE_FD, open for reading, refers to, and verifies that the
 * sandbox can read it there and that it is that file. Leaves the caller in other namespaces, another
 * directory and with fewer rights: only for a process that does nothing else. On any failure the file can be
 * copied instead. */
int file_detach (int file_fd, const struct file_wish *wish, int *ret_mount_fd, struct fault *fault);
