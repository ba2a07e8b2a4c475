/* SPDX-License-Identifier: Apache-2.0 */
/* The table of files, for the other files of the store. */
#pragma once

#include "store/files.h"

/* The stages of a file (files.h). */
enum file_state { FILE_PENDING, FILE_KEPT, FILE_REMOVING };

/* The columns that file_row_read expects, in its order. */
#define FILE_COLUMNS                                                                                         \
  "id, kind, name, mime, sha256, bytes, blob, owner, conversation, session, run_id, created_ms, expires_ms"
struct file_row *file_row_read (const struct sql_value *columns);

/* A statement and its values, put together piece by piece. */
struct file_query {
  GString *sql;
  struct sql_value values[16];
  guint count;
  char *place; /* one of the values */
};
/* Adds TEXT, in which each `?` becomes the parameter VALUE. */
void file_query_add (struct file_query *query, const char *text, struct sql_value value);
void file_query_clear (struct file_query *query);
#define autoquery __attribute__ ((cleanup (file_query_clear)))

/* Adds each row to the array DATA, as struct file_row. */
gboolean file_rows_collect (gpointer data, const struct sql_value *columns, guint count);

/* An array that frees its rows. */
GPtrArray *file_rows_new (void);

/* Within TRANSACTION: changes the state from FROM to TO. *RET_CHANGED (may be NULL): whether it did. */
gboolean file_row_move (struct transaction *transaction, const char *id, enum file_state from,
                        enum file_state to, guint64 *ret_changed, GError **error);

/* Removes the blobs of ROWS, whose state is FILE_REMOVING, and then the rows themselves. What cannot be
 * removed now stays for the next time; ERROR is the first reason, and *RET_FAILED (may be NULL) its id in
 * ROWS. After a failure none is tried later than UNTIL_US (g_get_monotonic_time): an unreachable server fails
 * for each alike, and slowly. */
gboolean file_rows_finish (struct store *store, const GPtrArray *rows, gint64 until_us,
                           const char **ret_failed, GError **error);

static inline gboolean
file_is_of_dataset (enum file_kind kind)
{
  return kind == FILE_DATASET || kind == FILE_DATASET_FACTS;
}

/* The expiry of files that do not expire: the end of the year 9999. */
#define FILE_NEVER_MS ((gint64)253402300799000)

/* Milliseconds since 1970. */
gint64 file_now_ms (void);

/* Whether files are in a place that other machines reach as well. */
gboolean files_are_shared (const struct store *store);
/* The folder of files on this machine, or what the configuration names; the caller's. */
char *file_folder (const struct store *store);
/* The name of the writer's place of files in a row: the node and, if that is ambiguous, since two users of
 * one machine may share a database, the folder. The caller's. */
char *file_place (const struct store *store);

/* Adds TEXT, in which `?` becomes this place. */
void file_query_add_place (struct file_query *query, const char *text, const struct store *store);
/* Adds to QUERY that this machine can maintain the row: not if many share the database, and each has its own
 * files. */
void file_query_add_ours (struct file_query *query, struct store *store, const struct database *database);

/* ---- files that this process works on ---- A row that is `pending` with this process as its writer, and
 * does not fly, was given up: its run is over. What is written waits to be kept, which takes GUARD_MS at
 * most. */
void file_flight_begins (const char *id);
void file_flight_lands (const char *id);
void file_flight_ends (const char *id);
gboolean file_flies (const char *id, guint64 guard_ms);
/* Forgets those that no longer need a guard. */
void file_flights_forget (guint64 guard_ms);
