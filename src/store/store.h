/* SPDX-License-Identifier: Apache-2.0 */
/* The store: records of runs, files and long output, in one database and one place for blobs. Opening it
 * never fails because of a database or server: failures are reported when something should be kept. One
 * thread removes what is too old. */
#pragma once

#include <glib.h>

#include "common/config.h"

struct store;
struct database;
struct blobs;
struct file_signer;
struct departed;
struct record_memory;

/* NULL only when the configuration is wrong (an invalid URL). CONFIG must outlive it. */
struct store *store_new (const struct config *config, GError **error);
struct store *store_ref (struct store *store);
/* The thread ends; other holders' references stay valid. */
void store_close (struct store *store);
void store_unref (struct store *store);

/* NULL with ERROR (ADDER_ERROR_UNSUPPORTED: the configuration says "none"; otherwise the problem, such as a
 * state directory that is not writable). Retried with each call. The store's. */
struct database *store_database (struct store *store, GError **error);
struct blobs *store_blobs (struct store *store, GError **error);
/* Whether it is read-only, because its folder is. */
gboolean store_is_read_only (struct store *store);
/* Whether the configuration wants it at all. */
gboolean store_keeps_records (const struct store *store);
gboolean store_keeps_files (const struct store *store);

/* Whether CONFIG is of a daemon in a cluster whose records are in PostgreSQL: then its tokens are there as
 * well, and what it has under way. */
gboolean store_is_shared (const struct config *config);

const struct config *store_config (const struct store *store);

/* This machine's name in rows, and this store's among its writers: "NODE/UUID". A writer that is
 * alive holds a lock on a file of its name, beside a database that is a file, else in the state directory. */
const char *store_node (const struct store *store);
const char *store_writer (const struct store *store);
/* Whether WRITER, of this node, is alive; of another node: TRUE. */
gboolean store_writer_lives (struct store *store, const char *writer);

/* Whether the database and the blobs, if configured, answer now. The answer is cached for a second, so that
 * anybody may ask. */
gboolean store_is_reachable (struct store *store, GError **error);

/* PROBLEM for OWNER, still the caller's: where records and files are kept is for admins and callers by this
 * machine's socket. Others learn that the store is unavailable, and the log why. */
const char *store_told (const char *owner, const GError *problem);

/* The signing key for URLs of files (file_url.h). The store's. */
struct file_signer *store_signer (struct store *store);

/* What this process is doing, and what dead ones were doing (departed.h). The store's. */
struct departed *store_departed (struct store *store);

/* The folder of the store in the state directory; the caller's, or NULL with ERROR. */
char *store_folder (GError **error);

/* Its cache of its records (records_private.h). The store's. */
struct record_memory *store_record_memory (struct store *store);

/* Wakes the store's thread early: something must be removed. */
void store_wake (struct store *store);
