/* SPDX-License-Identifier: Apache-2.0 */
/* Files on the way into the store: made without a name, filled by cloning or copying. */
#pragma once

#include <glib.h>

/* A file in DIRECTORY_FD for reading and writing. It has no name, and on most file systems can be given one
 * (linkat). Where they cannot have such files, it has a name until blob_file_drop: *RET_NAME, the caller's;
 * with RET_NAME NULL it loses it at once. -1 and errno. */
int blob_file_create (int directory_fd, char **ret_name);

/* Whether FD is a file without a name that may be given one. */
gboolean blob_file_is_nameless (int fd);

/* Gives FD, or the file NAME that it is open at (unless NULL), another NAME. 0 or a negative errno. */
int blob_file_link (int fd, int directory_fd, const char *name, int to_fd, const char *to_name);

/* The BYTES bytes of FROM into the empty file TO, holes left out, at no cost where the file system can share
 * them. SHA256: what they must have; bytes that came between are ADDER_ERROR_FAILED. */
gboolean blob_file_copy (int from, guint64 bytes, const char *sha256, int to, GError **error);

/* The digest of BYTES bytes of FD from its beginning, hexadecimal, the caller's. NULL with ERROR. */
char *blob_file_digest (int fd, guint64 bytes, GError **error);

/* Writes all of DATA at OFFSET. 0 or a negative errno. */
int blob_file_write (int fd, const void *data, gsize length, guint64 offset);
