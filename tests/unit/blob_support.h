/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of blobs have in common. */
#pragma once

#include <glib.h>

#include "store/blobs.h"

/* "generated/UUID_NAME", the caller's. */
char *blob_key (const char *name);

/* The SHA-256 of DATA, the caller's. */
char *blob_digest (const void *data, gsize length);

/* A file with DATA, of blobs_create or, when BLOBS is NULL, of somebody else. */
int blob_file (struct blobs *blobs, const void *data, gsize length);

/* Puts DATA, from a file of OWN or of somebody else. */
gboolean blob_put (struct blobs *blobs, gboolean own, const char *key, const void *data, gsize length,
                   GError **error);

/* That KEY is DATA. */
void blob_assert (struct blobs *blobs, const char *key, const void *data, gsize length);

/* All keys, each to its bytes and one; the caller's. */
GHashTable *blob_list (struct blobs *blobs);

/* That ERROR is of Adder, with that code. */
void blob_assert_code (const GError *error, int code);
