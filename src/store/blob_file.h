/* SPDX-License-Identifier: Apache-2.0 */
/* Files on the way into the store: unnamed, filled by cloning or copying. */
#pragma once

#include <glib.h>

/* A file in DIRECTORY_FD for reading and writing. It has no name, and on most file systems can get one
 * (linkat). If they do not support that, it has a name until blob_file_drop: *RET_NAME, the caller's; with
 * RET_NAME NULL it loses it at once. -1 and errno. */
int blob_file_create (int directory_fd, char **ret_name);

/* Whether FD is an unnamed file that can get a name. */
gboolean blob_file_is_nameless (int fd);

/* Gives FD, or its file NAME (unless NULL), another NAME. 0 or a negative errno. */
int blob_file_link (int fd, int directory_fd, const char *name, int to_fd, const char *to_name);

/* Copies BYTES bytes of FROM into the empty file TO, without holes, at no cost if the file system can share
 * them. SHA256: their expected digest; changes meanwhile are ADDER_ERROR_FAILED. */
gboolean blob_file_copy (int from, guint64 bytes, const char *sha256, int to, GError **error);

/* The digest of BYTES bytes of FD from its beginning, hexadecimal, the caller's. NULL with ERROR. */
char *blob_file_digest (int fd, guint64 bytes, GError **error);

/* Writes all of DATA at OFFSET. 0 or a negative errno. */
int blob_file_write (int fd, const void *data, gsize length, guint64 offset);
