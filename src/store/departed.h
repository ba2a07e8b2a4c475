/* SPDX-License-Identifier: Apache-2.0 */
/* What processes were at when they died: runs, which get the record that nobody could write any more, and
 * sessions, whose end can be told. Each process notes its own; whoever opens the same store in the same state
 * directory after it, completes them. While it lives, nobody does. */
#pragma once

#include <glib.h>

#include "store/records.h"

/* Of a store, which has it (store_departed). */
struct departed;
struct departed *departed_new (struct store *store);
void departed_free (struct departed *departed);

/* RECORD is that of a run, as it is to be if this process dies now, without its `more` and, where its code is
 * there, the digest of that. Returns what departed_forget takes; -1:
 * it is not noted. */
int departed_note_run (struct departed *departed, const struct record *record);

struct departed_session {
  const char *id, *owner, *name; /* NAME may be NULL */
  const char *reason;            /* why it ended; NULL: it lives */
};

/* The same of a session that this process has; with SLOT, which it returned before (-1: none), again. */
int departed_note_session (struct departed *departed, int slot, const struct departed_session *session);

/* It was recorded, or is remembered no more. -1 is allowed. */
void departed_forget (struct departed *departed, int slot);

/* Records what the dead left in DATABASE, and remembers their sessions, at most so many for at most a day.
 * What cannot be recorded is left for the next time. */
gboolean departed_recover (struct departed *departed, struct database *database, GError **error);

/* Whether OWNER had a session with that id or name which ended with its process: then ERROR is
 * ADDER_ERROR_ENDED, with the reason. */
gboolean departed_find_session (struct departed *departed, const char *owner, const char *name,
                                GError **error);
