/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh database for a test, of each kind that there is; and the same for blobs. */
#pragma once

#include <glib.h>

#include "store/database.h"

struct store_world_kind {
  const char *name; /* "sqlite", "postgres" */
};
/* Ends with one without a name. */
extern const struct store_world_kind store_world_kinds[];

typedef struct store_world store_world;

/* A folder, and an empty database in it or in a server that all tests of this program share. NULL, and the
 * test is skipped, where the host has no such server. */
store_world *store_world_new (const struct store_world_kind *kind);
void store_world_free (store_world *world);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (store_world, store_world_free)

const char *store_world_url (const store_world *world);
const char *store_world_folder (const store_world *world);
gboolean store_world_is_server (const store_world *world);

/* Its database once more, the caller's. */
struct database *store_world_open (const store_world *world, guint64 timeout_ms);

/* What the server is told (store_world.py): "down", "up", "freeze", "thaw", "drop", "sql DATABASE STATEMENT".
 * Its answer; the caller's. */
char *store_world_tell (const char *command);

/* ---- blobs ---- */

/* "directory" and "s3". Ends with one without a name. */
extern const struct store_world_kind store_world_blob_kinds[];

/* The URL of an empty place for blobs: "blobs" in FOLDER, or a bucket of a server that all tests of this
 * program share. The caller's. NULL, and the test is skipped, where the host has no such server. */
char *store_world_blobs (const struct store_world_kind *kind, const char *folder);

/* As store_world_tell: "new", "down", "up", "freeze", "thaw". */
char *store_world_tell_s3 (const char *command);
