/* SPDX-License-Identifier: Apache-2.0 */
/* A file of the host, bind-mounted into one sandbox: a mount of that file alone, attached nowhere, which
 * nobody can write to.
 *
 * It is no bind mount of the file, since with one a sandbox would lock the file for others (flock, and read
 * locks of fcntl, need no right to write), and would read in its mountinfo where the file lies. Between the
 * two stands an overlay of the directory that the file is in, with no upper layer: locks are the overlay's,
 * and a file system without an upper layer can be changed by nobody at all. The mount is of the one file in
 * it; no path leads from there to the directory. Lookups and reading in the lower layer are done with the
 * rights of who makes the overlay, so what stands above the file does not matter; the file's own mode and
 * owner, as this mount tells them, do. */
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

/* Makes the mount of the regular file that FILE_FD, open for reading, refers to, and makes sure that the
 * sandbox can read it there and that it is that file. Leaves the caller in namespaces, in a directory and
 * without the rights that it had: only for a process that does nothing else. Whatever fails here, the file
 * can be copied. */
int file_detach (int file_fd, const struct file_wish *wish, int *ret_mount_fd, struct fault *fault);
