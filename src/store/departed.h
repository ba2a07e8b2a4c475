/* SPDX-License-Identifier: Apache-2.0 */
/* What processes were doing when they died: runs, which get the record that could not be written, and
 * sessions, whose end can be reported. Each process notes its own; the next process that opens the same store
 * in the same state directory completes them, but never while the first lives. */
#pragma once

#include <glib.h>

#include "store/records.h"

/* Of a store, which has it (store_departed). */
struct departed;
struct departed *departed_new (struct store *store);
/* This process ends, and its sessions with it. */
void departed_close (struct departed *departed);
void departed_free (struct departed *departed);

/* In a cluster: waits until others would find what was noted before. */
void departed_settle (struct departed *departed);

/* The text of a note: RECORD, without its `more` and without long code; the caller's, or NULL. */
char *departed_note_text (const struct record *record);

/* How a run ended that its own node does not record. */
struct departed_end {
  const char *type, *message; /* of the error */
  const char *outcome;        /* NULL: as the note says, failed */
  int exit_code;              /* with OUTCOME */
};
#define NODE_LOST "NodeLost" /* the type */

/* Adds the record of a run of NODE from the TEXT of its note. One that is there stays. */
gboolean departed_add (struct store *store, struct transaction *transaction, const char *node,
                       const char *text, const struct departed_end *end, GError **error);
/* The same for a NODE that is gone (underway.c). */
gboolean departed_add_lost (struct store *store, struct transaction *transaction, const char *node,
                            const char *text, GError **error);

/* RECORD is the run's record in case this process dies now, without its `more` and, if its code is there,
 * without the digest of that. Returns the argument of departed_forget; -1: not noted. */
int departed_note_run (struct departed *departed, const struct record *record);

struct departed_session {
  const char *id, *owner, *name; /* NAME may be NULL */
  const char *reason;            /* why it ended; NULL: it lives */
};

/* The same for a session of this process; again with SLOT, which it returned before (-1: none). */
int departed_note_session (struct departed *departed, int slot, const struct departed_session *session);

/* It was recorded, or is no longer remembered. -1 is allowed. */
void departed_forget (struct departed *departed, int slot);

/* Records what the dead left in DATABASE, and remembers their sessions, a bounded number for at most a day.
 * What cannot be recorded is left for the next time. */
gboolean departed_recover (struct departed *departed, struct database *database, GError **error);

/* Whether OWNER had a session with that id or name which ended with its process: then ERROR is
 * ADDER_ERROR_ENDED, with the reason. */
gboolean departed_find_session (struct departed *departed, const char *owner, const char *name,
                                GError **error);
