/* SPDX-License-Identifier: Apache-2.0 */
/* The store: records of runs, files and long output, in one database and one place for blobs. Opening it
 * never fails for want of a database or a server: what cannot be kept is said when it should be. One thread
 * removes what is too old. */
#pragma once

#include <glib.h>

#include "common/config.h"

struct store;
struct database;
struct blobs;
struct file_signer;
struct record_memory;

/* NULL only when the configuration is wrong (a URL that is none). CONFIG must outlive it. */
struct store *store_new (const struct config *config, GError **error);
struct store *store_ref (struct store *store);
/* The thread ends; what others still hold stays. */
void store_close (struct store *store);
void store_unref (struct store *store);

/* NULL with ERROR (ADDER_ERROR_UNSUPPORTED: the configuration says "none"; otherwise what is the matter, such
 * as a state directory that cannot be written). Tried again with each call. The store's. */
struct database *store_database (struct store *store, GError **error);
struct blobs *store_blobs (struct store *store, GError **error);
/* Whether the configuration wants it at all. */
gboolean store_keeps_records (const struct store *store);
gboolean store_keeps_files (const struct store *store);

const struct config *store_config (const struct store *store);

/* This machine's name in rows, and this store's among its writers: "NODE/UUID". A writer that is
 * alive holds a lock on a file of its name, beside a database that is a file, else in the state directory. */
const char *store_node (const struct store *store);
const char *store_writer (const struct store *store);
/* Whether WRITER, of this node, is alive; of another node: TRUE. */
gboolean store_writer_lives (struct store *store, const char *writer);

/* What URLs of files are signed with (file_url.h). The store's. */
struct file_signer *store_signer (struct store *store);

/* What it remembers of its records (records_private.h). The store's. */
struct record_memory *store_record_memory (struct store *store);

/* Wakes the store's thread before its time: something is to be removed. */
void store_wake (struct store *store);
