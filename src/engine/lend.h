/* SPDX-License-Identifier: Apache-2.0 */
/* Lending a directory or a file of the host to a sandbox: a mount of it that is attached nowhere, made by the
 * launcher (runner/lend.c), because the sandbox itself sees no mount of the host. */
#pragma once

#include <glib.h>

#include "engine/host.h"

/* Whether sandboxes of ISOLATION can have WHAT ("a work directory"): ADDER_ERROR_UNSUPPORTED says what this
 * host lacks. */
gboolean lend_check (const struct host *host, enum isolation isolation, const char *what, GError **error);

/* Makes a mount of DIRECTORY_FD (O_PATH will do), WHAT in errors, which cannot be written to unless WRITABLE.
 * *RET_MOUNT_FD is the caller's. Takes milliseconds. */
gboolean lend_directory (const struct host *host, int directory_fd, gboolean writable, const char *what,
                         int *ret_mount_fd, GError **error);

/* The same for a container. Where the daemon is root's, *RET_FD is such a mount too. Else it is the directory
 * itself, which an engine is to bind by its path, as root: so it must be one that the daemon's user may
 * enter, and on no file system of the kernel's own, such as /proc, where the code would meet the user's other
 * processes. ADDER_ERROR_UNSUPPORTED says what stands in the way. */
gboolean lend_to_container (const struct host *host, int directory_fd, gboolean writable, int *ret_fd,
                            GError **error);

/* Where the directory FD is by now: nothing to rely on. The caller's, or NULL. */
char *lend_path (int fd);

/* Whether OTHER_FD, which a container says that it has, is what was lent as FD, and READ_ONLY if so. */
gboolean lend_is_same (int fd, int other_fd, gboolean read_only, GError **error);

/* The same for the regular file FILE_FD, open for reading, NAME in errors: a mount of it alone, which can
 * never be written to (sandbox/file.h). */
gboolean lend_file (const struct host *host, int file_fd, const char *name, int *ret_mount_fd,
                    GError **error);
