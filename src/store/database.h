/* SPDX-License-Identifier: Apache-2.0 */
/* One SQL database: SQLite (a file) or PostgreSQL (for many nodes), so that each statement of the store is
 * written once. Statements are in the dialect that both speak, with parameters $1, $2 ... May be used from
 * any number of threads. */
#pragma once

#include <glib.h>

struct database;
struct transaction;

/* SQL_OTHER is nothing that Adder writes: blobs, or text that is not UTF-8. Its text is a repaired one, for
 * people. */
enum sql_kind { SQL_NULL, SQL_INTEGER, SQL_TEXT, SQL_OTHER };

struct sql_value {
  enum sql_kind kind;
  gint64 integer;
  const char *text; /* valid UTF-8; NULL except for SQL_TEXT and SQL_OTHER */
};
#define SQL_INT(value) ((struct sql_value){.kind = SQL_INTEGER, .integer = (gint64)(value)})
#define SQL_STR(value) ((struct sql_value){.kind = SQL_TEXT, .text = (value)})
#define SQL_OPT(value) ((value) ? SQL_STR (value) : (struct sql_value){.kind = SQL_NULL})

/* URL: "sqlite:/path" or "postgresql://...". Never blocks: connects on first use, and again after the
 * connection was lost. A step that takes longer than TIMEOUT_MS fails. After a failure to connect, callers
 * within the next second fail at once, so that not each of them waits. */
struct database *database_open (const char *url, guint64 timeout_ms, GError **error);
/* Makes it read-only: writers get an error. */
void database_set_read_only (struct database *database);
void database_close (struct database *database); /* NULL is allowed */

/* Whether database_open accepts URL: ADDER_ERROR_INVALID lists the valid forms. */
gboolean database_check_url (const char *url, GError **error);
/* For messages: the file, or the URL without user and password. The database's. */
const char *database_shown (const struct database *database);

/* Whether it is PostgreSQL, which other machines share. */
gboolean database_is_shared (const struct database *database);

/* The time by the database's own clock, in ms since 1970: an expression of SQL, for what several machines
 * compare. */
const char *database_now_ms (const struct database *database);

/* ---- reading and writing ---- */

/* A transaction, one at a time for writing, several for reading. transaction_end without transaction_commit
 * rolls back. ADDER_ERROR_FAILED names the database and the problem; the caller may retry later. */
struct transaction *database_begin (struct database *database, gboolean write, GError **error);
gboolean transaction_commit (struct transaction *transaction, GError **error);
void transaction_end (struct transaction *transaction); /* NULL is allowed; also after a commit */

/* From now on each statement of TRANSACTION may take this long, and return any number of rows: for people's
 * queries over all rows. */
void transaction_set_timeout (struct transaction *transaction, guint64 timeout_ms);

/* Called with the values of one row, valid until it returns. FALSE stops. It must not run statements of the
 * same transaction. */
typedef gboolean (*sql_row) (gpointer data, const struct sql_value *row, guint columns);

/* Runs one statement. Rows of more than 64 MiB fail. ROW may be NULL. *RET_CHANGED (may be NULL): rows that
 * were inserted, updated, deleted.
 */
gboolean transaction_run (struct transaction *transaction, const char *sql, const struct sql_value *values,
                          guint count, sql_row row, gpointer data, guint64 *ret_changed, GError **error);

/* Runs one whose first column is a number, that of the last row; 0 where there is no row, or no number.
 * FALSE leaves *RET_NUMBER. */
gboolean transaction_read_number (struct transaction *transaction, const char *sql,
                                  const struct sql_value *values, guint count, gint64 *ret_number,
                                  GError **error);

/* ---- writing together ---- */

typedef gboolean (*database_step) (gpointer data, struct transaction *transaction, GError **error);

/* Runs STEP in a transaction that it may share with simultaneous steps of other threads, each in a savepoint
 * of its own: they succeed or fail separately, and one commit pays for all. TRUE once committed: then it
 * outlives this process. STEP may be called more than once (after a conflict), and not in the caller's
 * thread. */
gboolean database_commit (struct database *database, database_step step, gpointer data, GError **error);
