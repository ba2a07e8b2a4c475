/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the back ends of blobs. Each is a table of the same functions; keys and digests are checked
 * beforehand. */
#pragma once

#include "store/blobs.h"

#define BLOB_NAME_BYTES 255 /* of a key's NAME: what file systems allow */

/* The first part of a key. */
extern const char *const blob_kinds[]; /* NULL-terminated */

struct blobs_place {
  const char *rest; /* of the URL, behind the scheme */
  const char *scratch;
  guint64 cache_bytes, timeout_ms;
};

struct blobs_backend {
  gpointer (*open) (const struct blobs_place *place, GError **error);
  void (*close) (gpointer self);
  int (*create) (gpointer self, GError **error);
  gboolean (*put) (gpointer self, const char *key, int fd, guint64 bytes, const char *sha256,
                   const char *mime, GError **error);
  int (*get) (gpointer self, const char *key, guint64 bytes, const char *sha256, GError **error);
  gssize (*read) (gpointer self, const char *key, guint64 offset, void *buffer, gsize length, GError **error);
  gboolean (*stat) (gpointer self, const char *key, guint64 *ret_bytes, GError **error);
  gboolean (*remove) (gpointer self, const char *key, GError **error);
  gboolean (*list) (gpointer self, blobs_each each, gpointer data, GError **error);
  gboolean (*link) (gpointer self, const char *key, guint64 bytes, const char *sha256, int directory_fd,
                    const char *name, GError **error);
  gboolean (*sweep) (gpointer self, guint *ret_removed, GError **error);
  /* For folders of links: a directory (the caller's) that files can be linked into; and the cleanup after a
   * link of the file FD was removed. NULL: unsupported. */
  int (*links) (gpointer self, GError **error);
  void (*unlinked) (gpointer self, int fd);
};

struct blobs {
  const struct blobs_backend *backend;
  gpointer self;
  gint links_swept; /* atomic: whether it was done once */
};

/* Removes folders of links whose processes are dead. */
void blob_links_sweep (const struct blobs *blobs, guint *ret_removed);

extern const struct blobs_backend blobs_directory, blobs_s3;

/* Whether KEY is valid: a known kind, a slash, a name. */
gboolean blob_key_is_good (const char *key);
