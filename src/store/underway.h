/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemons of a cluster are doing: runs and sessions as rows of the database that they share, so that
 * others can complete what a daemon leaves that is gone with its disk. It is the same note as that of the
 * journal (departed.h), and whoever comes first makes the record.
 *
 * Theory of operation. A daemon with rows renews a row of its own each second, by the database's clock. Each
 * daemon looks for such rows that are three seconds old, and for three more seconds sees whether they stay as
 * they are: so an outage of the database ends nobody. Then the first one that removes the row makes records
 * of the runs and ends the sessions, in the same transaction. A short run leaves no row: rows are written by
 * a thread, and for runs after a moment. */
#pragma once

#include <glib.h>

#include "store/database.h"
#include "store/store.h"

struct underway;

/* The reason that runs and sessions of the node NAME end with. */
#define NODE_LOST_OF "node_lost: its node %s is gone"

/* Of a store, which must outlive it. */
struct underway *underway_new (struct store *store);
/* From now on it looks for daemons that are gone. Never waits. */
void underway_watch (struct underway *underway);
/* Ends its thread: sessions that live end with REASON. */
void underway_close (struct underway *underway, const char *reason);
void underway_free (struct underway *underway); /* NULL is allowed */

struct underway_note {
  const char *id, *owner, *name;
  const char *text;   /* of a run: for its record; NULL: it is a session */
  const char *reason; /* why a session has ended; NULL: it lives */
  int slot;           /* of the journal; -1: none */
};

/* Notes a run or a session; again with TICKET (-1: none). Never waits. Returns the argument of the others. */
int underway_note (struct underway *underway, int ticket, const struct underway_note *note);
/* The slot of TICKET, which may be -1. */
int underway_slot (struct underway *underway, int ticket);
/* It is over, and its record written; returns its slot. */
int underway_forget (struct underway *underway, int ticket);

/* Waits until all that was noted before is in the database, at most as long as [store] timeout_ms. */
void underway_settle (struct underway *underway);

/* Whether OWNER had a session with that id or name that ended: then *RET_REASON, the caller's. FALSE with
 * ERROR: that is not known. */
gboolean underway_find_session (struct underway *underway, const char *owner, const char *name,
                                char **ret_reason, GError **error);

/* The result TEXT of OWNER's run in the background, for as long as [http] result_age_ms says: from any
 * daemon. FALSE with ERROR. */
gboolean underway_keep_result (struct store *store, const char *run_id, const char *owner, const char *text,
                               GError **error);
/* The result of a run of OWNER (NULL: of any), the caller's; or NULL. */
char *underway_find_result (struct store *store, const char *owner, const char *run_id);
