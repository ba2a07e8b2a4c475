/* SPDX-License-Identifier: Apache-2.0 */
/* What database.c needs from SQLite and PostgreSQL. A back end handles connections and statements; queueing,
 * transactions and reconnecting are database.c's. It uses nothing of Adder but this header, since one of them
 * is a module of its own. */
#pragma once

#include <glib.h>

#include "store/database.h"

#define SQL_COLUMNS_MAX 64 /* of a row; others are dropped */

enum sql_trouble {
  SQL_FAILED,   /* this statement: the transaction can only be rolled back */
  SQL_CONFLICT, /* a conflict with another transaction: the whole of it may be retried at once */
  SQL_LOST,     /* the connection: another may work */
  SQL_TIMEOUT,  /* no answer in time: the connection is unusable */
};

struct sql_failure {
  enum sql_trouble trouble;
  char text[512];   /* for people, without the database's name; one line */
  gboolean is_away; /* SQL_FAILED: of the database as a whole, not of this statement */
};

enum commit_end { COMMIT_UNKNOWN, COMMIT_TAKEN_BACK, COMMIT_DONE };

struct backend {
  gboolean is_shared;
  const char *begin_write, *begin_read;
  const char *has_schema;  /* one row with one number: whether there is a table schema_version */
  const char *now_ms;      /* an expression: ms since 1970 */
  const char *lock_schema; /* keeps others from changing tables until the transaction ends; or NULL */

  /* WHERE: a path, or the URL. NULL with FAILURE. A connection is used by one thread at a time. */
  void *(*connect) (const char *where, guint64 timeout_ms, struct sql_failure *failure);
  void (*disconnect) (void *connection);
  /* As transaction_run, and the same for BEGIN and COMMIT; a row's text need not be UTF-8. TIMEOUT_MS is
   * for all of it, since a server may have rows without an end. */
  gboolean (*run) (void *connection, const char *sql, const struct sql_value *values, guint count,
                   sql_row row, gpointer data, guint64 *ret_changed, guint64 timeout_ms,
                   struct sql_failure *failure);
  /* Has the next `run` begin a transaction that writes, which saves asking the server for that alone. FALSE:
   * the connection seems to be lost. NULL: there is nothing to save. */
  gboolean (*begin_with_next) (void *connection);
  /* A name of the current transaction, the caller's, by which another connection can ask how it ended. NULL
   * with FAILURE. Both are NULL if a commit is never in doubt. */
  char *(*name_transaction) (void *connection, guint64 timeout_ms, struct sql_failure *failure);
  enum commit_end (*ask_end) (void *connection, const char *name, guint64 timeout_ms);
};

extern const struct backend sqlite_backend;

/* The symbol of adder-postgres.so. */
#define POSTGRES_BACKEND_SYMBOL "adder_postgres_backend"
