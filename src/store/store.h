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
struct departed;
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
/* Whether what was opened can only be read, since its folder is read-only. */
gboolean store_is_read_only (struct store *store);
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

/* Whether the database and the blobs, as far as the configuration wants them, answer now. What was found is
 * good for a second, so that anybody may ask. */
gboolean store_is_reachable (struct store *store, GError **error);

/* What OWNER is told of PROBLEM, which it goes on to own: where records and files are kept is for admins and
 * for those who come by the socket of this machine. Others are told that the store is away, and the log
 * why. */
const char *store_told (const char *owner, const GError *problem);

/* What URLs of files are signed with (file_url.h). The store's. */
struct file_signer *store_signer (struct store *store);

/* What this process is at, and what others were when they died (departed.h). The store's. */
struct departed *store_departed (struct store *store);

/* The folder of the store in the state directory; the caller's, or NULL with ERROR. */
char *store_folder (GError **error);

/* What it remembers of its records (records_private.h). The store's. */
struct record_memory *store_record_memory (struct store *store);

/* Wakes the store's thread before its time: something is to be removed. */
void store_wake (struct store *store);
