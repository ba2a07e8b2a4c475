/* SPDX-License-Identifier: Apache-2.0 */
/* The table of files, for the other files of the store. */
#pragma once

#include "store/files.h"

/* How far a file is on its way (files.h). */
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

/* Within TRANSACTION: what is FROM becomes TO. *RET_CHANGED (may be NULL): whether it was. */
gboolean file_row_move (struct transaction *transaction, const char *id, enum file_state from,
                        enum file_state to, guint64 *ret_changed, GError **error);

/* Removes the blobs of ROWS, whose state is FILE_REMOVING, and then the rows themselves. What cannot be
 * removed now stays as it is, for the next time; ERROR is the first reason, and *RET_FAILED (may be NULL) the
 * id in ROWS that it is of. After one failed none is tried later than UNTIL_US (g_get_monotonic_time): a
 * server that is away fails for each alike, and each time takes its time. */
gboolean file_rows_finish (struct store *store, const GPtrArray *rows, gint64 until_us,
                           const char **ret_failed, GError **error);

static inline gboolean
file_is_of_dataset (enum file_kind kind)
{
  return kind == FILE_DATASET || kind == FILE_DATASET_FACTS;
}

/* When what does not expire does: the end of the year 9999. */
#define FILE_NEVER_MS ((gint64)253402300799000)

/* Milliseconds since 1970. */
gint64 file_now_ms (void);

/* Whether files lie where other machines reach them as well. */
gboolean files_are_shared (const struct store *store);
/* The folder of files on this machine, or what the configuration names; the caller's. */
char *file_folder (const struct store *store);
/* What a row calls the place that its writer keeps files in: the node, and where that is not all there is to
 * say, since two users of one machine may share a database, the folder. The caller's. */
char *file_place (const struct store *store);

/* Adds TEXT, in which `?` becomes this place. */
void file_query_add_place (struct file_query *query, const char *text, const struct store *store);
/* Adds to QUERY that the row is one that this machine can look after: not where many share the database, and
 * each has its files for itself. */
void file_query_add_ours (struct file_query *query, struct store *store, const struct database *database);

/* ---- files that this process is at work on ----
 * A row that is `pending` with this process as its writer, and does not fly, was given up: its run is over.
 * What is written waits to be kept, which takes GUARD_MS at most. */
void file_flight_begins (const char *id);
void file_flight_lands (const char *id);
void file_flight_ends (const char *id);
gboolean file_flies (const char *id, guint64 guard_ms);
/* Forgets those that need no guard any more. */
void file_flights_forget (guint64 guard_ms);
