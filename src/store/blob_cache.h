/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of remote contents, in a directory of this machine that any number of processes share. The least
 * recently used go when space runs out. */
#pragma once

#include <glib.h>

struct blob_cache;

/* At most CACHE_BYTES in PATH, which is made; 0: none is kept. */
struct blob_cache *blob_cache_open (const char *path, guint64 cache_bytes, GError **error);
void blob_cache_close (struct blob_cache *cache);

/* A new unnamed file in it: -1 with ERROR. */
int blob_cache_create (struct blob_cache *cache, GError **error);

/* The content SHA256 to read, the caller's, or -1. */
int blob_cache_find (struct blob_cache *cache, const char *sha256);

/* Keeps FD, a file of blob_cache_create with BYTES of that digest, if it fits. FD stays the caller's. */
void blob_cache_keep (struct blob_cache *cache, int fd, const char *sha256, guint64 bytes);

/* A directory beside the copies for folders of links (blob_links.c), the caller's, or -1 with ERROR. */
int blob_cache_links (struct blob_cache *cache, GError **error);
