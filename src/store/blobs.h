/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of files under keys: a directory, or a bucket of an S3 server. A key is "KIND/NAME", such as
 * "generated/UUID_plot.png"; its content is always complete. May be used from any number of threads. */
#pragma once

#include <glib.h>

struct blobs;

#define BLOB_KEY_BYTES 512 /* the maximum length of a key */

/* URL: "directory:/path" or "s3://BUCKET?endpoint=...&region=...&credentials=/path". SCRATCH is a local
 * directory for files being written (a directory uses its own), and for copies of remote contents, at most
 * CACHE_BYTES of them. A step without progress for TIMEOUT_MS fails. */
struct blobs *blobs_open (const char *url, const char *scratch, guint64 cache_bytes, guint64 timeout_ms,
                          GError **error);
void blobs_close (struct blobs *blobs);

/* A new unnamed file, for content to be kept: the caller's descriptor, or -1. If it is closed without
 * blobs_put, or the process dies, nothing is left. */
int blobs_create (struct blobs *blobs, GError **error);

/* Stores the content of FD (from its beginning; regular) under KEY, whole or not at all, so that it outlives
 * a crash of this process. A directory does not copy an FD of blobs_create; another is cloned if the file
 * system can, else copied. A directory keeps equal content (by its SHA256, hexadecimal) once. An existing KEY
 * is an error. */
gboolean blobs_put (struct blobs *blobs, const char *key, int fd, guint64 bytes, const char *sha256,
                    const char *mime, GError **error);

/* KEY as an immutable regular file to read: the caller's descriptor. Remote content is copied here first, and
 * no more than BYTES of it. It must have exactly BYTES, and SHA256 (NULL: unknown). ADDER_ERROR_NOT_FOUND. -1
 * with ERROR. */
int blobs_get (struct blobs *blobs, const char *key, guint64 bytes, const char *sha256, GError **error);

/* Reads at most LENGTH bytes from OFFSET on: the number read (0: at the end), or -1 with ERROR. */
gssize blobs_read (struct blobs *blobs, const char *key, guint64 offset, void *buffer, gsize length,
                   GError **error);

/* *RET_BYTES may be NULL. ADDER_ERROR_NOT_FOUND. */
gboolean blobs_stat (struct blobs *blobs, const char *key, guint64 *ret_bytes, GError **error);

/* A missing key is no error. */
gboolean blobs_remove (struct blobs *blobs, const char *key, GError **error);

/* All keys, unordered, with bytes and creation time; EACH stops by returning FALSE. */
typedef gboolean (*blobs_each) (gpointer data, const char *key, guint64 bytes, gint64 made_ms);
gboolean blobs_list (struct blobs *blobs, blobs_each each, gpointer data, GError **error);

/* Links KEY, as blobs_get returns it, as NAME in the directory DIRECTORY_FD without copying it: a hard link
 * of the content, which must not be written to. FALSE with ADDER_ERROR_UNSUPPORTED if that is impossible. */
gboolean blobs_link (struct blobs *blobs, const char *key, guint64 bytes, const char *sha256,
                     int directory_fd, const char *name, GError **error);

/* A folder of links (blob_links.c) for a user that needs directories with selected files of the store. NULL
 * with ADDER_ERROR_UNSUPPORTED if files of the store cannot be linked. It must be freed before BLOBS is
 * closed; those of dead processes are removed. */
struct blob_links;
struct blob_links *blob_links_new (struct blobs *blobs, GError **error);
/* Removes the folder and its links; files removed from the store meanwhile go with it. NULL is allowed. */
void blob_links_free (struct blob_links *links);

/* Links KEY as PATH ("tmp/data/a.csv": directories are made) in the folder; errors are those of
 * blobs_link. */
gboolean blob_links_add (struct blob_links *links, const char *key, guint64 bytes, const char *sha256,
                         const char *path, GError **error);

/* The directory NAME of the folder (O_PATH), the caller's; -1 if nothing was added below it. */
int blob_links_open (const struct blob_links *links, const char *name);

/* Removes leftovers of crashes: contents without a key, day-old parts of uploads. May be called while others
 * write. */
gboolean blobs_sweep (struct blobs *blobs, guint *ret_removed, GError **error);
