/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the database share: database.c has connections and transactions, database_commit.c writes
 * together. */
#pragma once

#include "common/guarded.h"
#include "store/backend.h"
#include "store/database.h"

struct commits; /* those that wait for a common commit */

/* After a failure nobody tries for a while, and then one caller does while the others get the previous
 * error. */
struct reach {
  gboolean is_down, is_tried;
  gint64 down_until_us;
  GError *why;
};

LOCK_CLASS (database);

struct database {
  const struct backend *backend;
  char *where; /* for the back end: a path, or the URL */
  char *shown; /* for people: without a password */
  guint64 timeout_ms;
  gboolean is_read_only;
  struct commits *commits;

  MUTEX (database) lock;
  GCond changed;
  GUARDED_BY (database) GQueue idle;      /* connections that are open and unused */
  GUARDED_BY (database) gboolean writing; /* somebody has the transaction that writes */
  GUARDED_BY (database) guint reading;
  GUARDED_BY (database) struct reach reaches[2]; /* for reading, for writing */
};

struct transaction {
  struct database *database;
  void *connection;
  gboolean write;
  gboolean broken;    /* a statement failed: only a rollback is possible */
  gboolean is_open;   /* neither committed nor rolled back */
  gboolean running;   /* a statement */
  gboolean is_long;   /* its statements are questions over all rows */
  guint64 timeout_ms; /* of each statement */
  gint64 deadline_us; /* of all of them; 0: none */
  struct sql_failure failure;
};

/* As database_begin, with the deadline DEADLINE_US (g_get_monotonic_time; 0: the usual time). */
struct transaction *transaction_new (struct database *database, gboolean write, gint64 deadline_us,
                                     GError **error);

/* Sets a savepoint, releases it (KEEP), or rolls back to it: then a failed statement is forgotten too. */
gboolean transaction_mark (struct transaction *transaction, GError **error);
gboolean transaction_return (struct transaction *transaction, gboolean keep, GError **error);

/* Whether the same steps may succeed in another transaction, perhaps on another connection. */
gboolean transaction_may_repeat (const struct transaction *transaction);

struct commits *commits_new (void);
void commits_free (struct commits *commits);
