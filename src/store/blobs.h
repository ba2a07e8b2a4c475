/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of files under keys: a directory, or a bucket of an S3 server. A key is "KIND/NAME", as
 * "generated/UUID_plot.png"; what has one is whole. May be used from any number of threads. */
#pragma once

#include <glib.h>

struct blobs;

#define BLOB_KEY_BYTES 512 /* the most that a key has */

/* URL: "directory:/path" or "s3://BUCKET?endpoint=...&region=...&credentials=/path". SCRATCH is a directory
 * of this machine for what is being written (a directory's own is in itself), and for copies of what lies
 * elsewhere, at most CACHE_BYTES of them. A step that moves nothing for TIMEOUT_MS fails. */
struct blobs *blobs_open (const char *url, const char *scratch, guint64 cache_bytes, guint64 timeout_ms,
                          GError **error);
void blobs_close (struct blobs *blobs);

/* A new file without a name, for what is to be kept: the caller's descriptor, or -1. When it is closed
 * without blobs_put, or the process dies, nothing is left. */
int blobs_create (struct blobs *blobs, GError **error);

/* The content of FD (from its beginning; regular) gets KEY, whole or not at all, and outlives a crash of this
 * process. FD of blobs_create is not copied by a directory; another is cloned where the file system can, else
 * copied. In a directory the same content (SHA256, hexadecimal, of it) is kept once. An existing KEY is an
 * error. */
gboolean blobs_put (struct blobs *blobs, const char *key, int fd, guint64 bytes, const char *sha256,
                    const char *mime, GError **error);

/* KEY as a regular file that nobody changes, to read: the caller's descriptor. What lies elsewhere is copied
 * here first, and no more than BYTES of it. It must have so many BYTES, and SHA256 (NULL: not known).
 * ADDER_ERROR_NOT_FOUND. -1 with ERROR. */
int blobs_get (struct blobs *blobs, const char *key, guint64 bytes, const char *sha256, GError **error);

/* At most LENGTH bytes from OFFSET on: how many there were (0: at the end), or -1 with ERROR. */
gssize blobs_read (struct blobs *blobs, const char *key, guint64 offset, void *buffer, gsize length,
                   GError **error);

/* *RET_BYTES may be NULL. ADDER_ERROR_NOT_FOUND. */
gboolean blobs_stat (struct blobs *blobs, const char *key, guint64 *ret_bytes, GError **error);

/* One that is not there is no error. */
gboolean blobs_remove (struct blobs *blobs, const char *key, GError **error);

/* All keys, in no order, with bytes and the time of their making; FALSE of EACH stops. */
typedef gboolean (*blobs_each) (gpointer data, const char *key, guint64 bytes, gint64 made_ms);
gboolean blobs_list (struct blobs *blobs, blobs_each each, gpointer data, GError **error);

/* Names KEY, as blobs_get has it, as NAME in the directory DIRECTORY_FD without copying it: a hard link of
 * the content, that must not be written to. FALSE with ADDER_ERROR_UNSUPPORTED where that cannot be done. */
gboolean blobs_link (struct blobs *blobs, const char *key, guint64 bytes, const char *sha256,
                     int directory_fd, const char *name, GError **error);

/* A folder of links (blob_links.c) for somebody who needs directories with files of the store in them, and
 * nobody else's. NULL with ADDER_ERROR_UNSUPPORTED where files of the store cannot be linked. It must be
 * freed before BLOBS is closed; what a process that died left is swept. */
struct blob_links;
struct blob_links *blob_links_new (struct blobs *blobs, GError **error);
/* Removes the folder and its links; files that were removed from the store meanwhile go with it. NULL is
 * allowed. */
void blob_links_free (struct blob_links *links);

/* Names KEY as PATH ("tmp/data/a.csv": directories are made) in the folder; errors are those of blobs_link.
 */
gboolean blob_links_add (struct blob_links *links, const char *key, guint64 bytes, const char *sha256,
                         const char *path, GError **error);

/* The directory NAME of the folder (O_PATH), the caller's; -1 where nothing was added below it. */
int blob_links_open (const struct blob_links *links, const char *name);

/* What a crash may have left beside whole keys: contents that no key has, parts of uploads of a day ago. May
 * be called while others write. */
gboolean blobs_sweep (struct blobs *blobs, guint *ret_removed, GError **error);
