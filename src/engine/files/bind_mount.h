/* SPDX-License-Identifier: Apache-2.0 */
/* Bind mounts of directories and files of the host, for one sandbox each: attached nowhere yet, made by the
 * launcher (runner/bind_mount.c), because the sandbox itself sees no mount of the host. */
#pragma once

#include <glib.h>

#include "engine/host/host.h"

/* A mount for one sandbox. */
struct bind_mount {
  int mount_fd;
  int launcher_fd; /* pidfd of the process that made it, which need not have ended; -1: there is none */
};

/* Whether sandboxes of ISOLATION can have WHAT ("a work directory"): ADDER_ERROR_UNSUPPORTED says what this
 * host lacks. */
gboolean bind_mount_check (const struct host *host, enum isolation isolation, const char *what,
                           GError **error);

/* Makes a mount of DIRECTORY_FD (O_PATH will do), WHAT in errors, which cannot be written to unless WRITABLE.
 * *RET_BIND_MOUNT is the caller's. Takes a millisecond; the end of the launcher, who has to let go of copies
 * of all mounts, takes longer, and is not waited for. */
gboolean bind_mount_directory (const struct host *host, int directory_fd, gboolean writable, const char *what,
                               struct bind_mount *ret_bind_mount, GError **error);

/* The same for a container. Where the daemon is root's, *RET_BIND_MOUNT has such a mount too. Else it is the
 * directory itself, which an engine is to bind by its path, as root: so it must be one that the daemon's user
 * may enter, and on no file system of the kernel's own, such as /proc, where the code would meet the user's
 * other processes. ADDER_ERROR_UNSUPPORTED says what stands in the way. */
gboolean bind_mount_for_container (const struct host *host, int directory_fd, gboolean writable,
                                   struct bind_mount *ret_bind_mount, GError **error);

/* Where the directory FD is by now: nothing to rely on. The caller's, or NULL. */
char *bind_mount_path (int fd);

/* Whether OTHER_FD, which a container says it has, is what was bind-mounted as FD, and READ_ONLY if so. */
gboolean bind_mount_is_same (int fd, int other_fd, gboolean read_only, GError **error);

/* The same for the regular file FILE_FD, open for reading, NAME in errors: a mount of it alone, which can
 * never be written to (sandbox/file.h). */
gboolean bind_mount_file (const struct host *host, int file_fd, const char *name,
                          struct bind_mount *ret_bind_mount, GError **error);
