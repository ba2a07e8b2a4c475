/* SPDX-License-Identifier: Apache-2.0 */
/* One SQL database: SQLite (a file) or PostgreSQL (for many nodes), so that each statement of the store is
 * written once. Statements are in the dialect that both speak, with parameters $1, $2 ... May be used from
 * any number of threads. */
#pragma once

#include <glib.h>

struct database;
struct transaction;

/* SQL_OTHER is nothing that Adder writes: bytes that are no text, or text that is not UTF-8. Its text is a
 * repaired one, for people. */
enum sql_kind { SQL_NULL, SQL_INTEGER, SQL_TEXT, SQL_OTHER };

struct sql_value {
  enum sql_kind kind;
  gint64 integer;
  const char *text; /* valid UTF-8; NULL but for SQL_TEXT and SQL_OTHER */
};
#define SQL_INT(value) ((struct sql_value){.kind = SQL_INTEGER, .integer = (gint64)(value)})
#define SQL_STR(value) ((struct sql_value){.kind = SQL_TEXT, .text = (value)})
#define SQL_OPT(value) ((value) ? SQL_STR (value) : (struct sql_value){.kind = SQL_NULL})

/* URL: "sqlite:/path" or "postgresql://...". Opens nothing yet that could hang: connects when it is first
 * used, and again after the connection was lost. A step that takes longer than TIMEOUT_MS fails. After a
 * failure to connect, callers within the next second fail at once, so that not each of them waits. */
struct database *database_open (const char *url, guint64 timeout_ms, GError **error);
/* From now on nothing is written to it: who wants to is told so. */
void database_set_read_only (struct database *database);
void database_close (struct database *database); /* NULL is allowed */

/* Whether database_open would know what URL means: ADDER_ERROR_INVALID says what it may be. */
gboolean database_check_url (const char *url, GError **error);
/* For messages: the file, or the URL without user and password. The database's. */
const char *database_shown (const struct database *database);

/* Whether it is PostgreSQL: what other machines use as well. */
gboolean database_is_shared (const struct database *database);

/* ---- reading and writing ---- */

/* A transaction, one at a time for writing, several for reading. transaction_end without transaction_commit
 * takes everything back. ADDER_ERROR_FAILED names the database and what is the matter; the caller may try
 * again later. */
struct transaction *database_begin (struct database *database, gboolean write, GError **error);
gboolean transaction_commit (struct transaction *transaction, GError **error);
void transaction_end (struct transaction *transaction); /* NULL is allowed; also after a commit */

/* From now on each statement of TRANSACTION may take so long instead, and give any number of rows: for
 * questions of people over all rows. */
void transaction_set_timeout (struct transaction *transaction, guint64 timeout_ms);

/* Called with the values of one row, which are good until it returns. FALSE stops. It runs no statements of
 * the same transaction. */
typedef gboolean (*sql_row) (gpointer data, const struct sql_value *row, guint columns);

/* Runs one statement. Rows of more than 64 MiB fail. ROW may be NULL. *RET_CHANGED (may be NULL): rows that
 * were inserted, updated, deleted.
 */
gboolean transaction_run (struct transaction *transaction, const char *sql, const struct sql_value *values,
                          guint count, sql_row row, gpointer data, guint64 *ret_changed, GError **error);

/* ---- writing together ---- */

typedef gboolean (*database_step) (gpointer data, struct transaction *transaction, GError **error);

/* Runs STEP in a transaction that it may share with the steps of other threads that come at the same time,
 * each in a savepoint of its own: what one does and another does not is kept apart, and one commit pays for
 * all. TRUE when it is committed: then it outlives this process. STEP may be called more than once (after a
 * conflict), and not in the caller's thread. */
gboolean database_commit (struct database *database, database_step step, gpointer data, GError **error);
