/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of sessions: who there is, who holds which, and when one ends: idle for too long, too many of
 * them, too much memory, at work between cells, dead, or told to. What has ended stays known for a while,
 * with its reason.
 *
 * One lock, held for lists and for calls that cannot wait. One thread, which waits for the next thing that is
 * due and for the ends of sandboxes that are idle. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/session/session.h"

struct sessions;

struct sessions *sessions_new (struct host *host, struct notifications *notifications, GError **error);

/* Who remembers sessions beyond this process: the library's. All are called under the registry's lock, but
 * for find and release, and wait for nothing. */
struct sessions_memory {
  /* SESSION lives, or has ended. SLOT is what was returned for it before; -1: nothing. */
  int (*note) (gpointer data, int slot, const struct session *session);
  void (*forget) (gpointer data, int slot);
  /* One of another process: TRUE, and ERROR is ADDER_ERROR_ENDED. */
  gboolean (*find) (gpointer data, const char *owner, const char *name, GError **error);
  void (*release) (gpointer data);
  gpointer data;
};

/* Before the first session. MEMORY is copied. */
void sessions_set_memory (struct sessions *sessions, const struct sessions_memory *memory);

/* Starts the registry's thread, unless it runs: a program that makes no sessions has none. */
gboolean sessions_start (struct sessions *sessions, GError **error);

/* Ends all, and every later one is refused. */
void sessions_close (struct sessions *sessions);

/* After sessions_close. Sessions that somebody still refers to are freed with the last of them. NULL is
 * allowed. */
void sessions_free (struct sessions *sessions);

/* {"live": n, "busy": n, "ended": n, "memory_bytes": n}. The caller's. */
json_t *sessions_status (struct sessions *sessions);

/* A number that no other session has. */
guint64 sessions_next_number (struct sessions *sessions);

/* Makes room for SESSION, new, and takes it in, held by the caller. ADDER_ERROR_INVALID when
 * its owner has one of that name, ADDER_ERROR_BUSY when there is no room because none is idle. */
gboolean sessions_add (struct sessions *sessions, struct session *session, GError **error);

/* The same for COUNT of one owner; but nobody ends for them, and when there is no room for all, none is taken
 * in. */
gboolean sessions_add_all (struct sessions *sessions, struct session **list, guint count, GError **error);

/* SESSION, which was added, has SANDBOX now, of which LEASE, taken over, tells: from here on its end is
 * seen. */
void sessions_give_sandbox (struct session *session, struct sandbox *sandbox, struct lease *lease);

/* It is open. Takes SHELL. */
void sessions_set_shell (struct session *session, char *shell);

/* What a session is replaced by, or comes to stand beside. */
struct sessions_adoption {
  const char *name;         /* or NULL */
  struct session *replaced; /* which ends, where it lives; or NULL */
  guint64 edition;          /* of its history, as it was replayed */
};

/* SESSION, provisional and idle, is one as any other from now on; room is made for it as for a new one, and
 * only then. FALSE with ERROR changes nothing: ADDER_ERROR_BUSY when what it replaces is at work or was
 * changed meanwhile. */
gboolean sessions_adopt (struct session *session, const struct sessions_adoption *adoption, GError **error);

/* SESSION, which was added, could not be made: it leaves no trace. */
void sessions_forget (struct session *session);

/* The session of OWNER (NULL: nobody) with that name or id, living or ended, or whose id alone begins so; the
 * caller's reference. ADDER_ERROR_NOT_FOUND says what was meant; ADDER_ERROR_INVALID when several begin so.
 */
struct session *sessions_find (struct sessions *sessions, const char *owner, const char *name,
                               GError **error);

/* {"sessions": [...]} of OWNER; one of them, as session.show has it; its cells. The caller's. */
json_t *sessions_list (struct sessions *sessions, const char *owner);
json_t *sessions_show (struct session *session);
json_t *sessions_history (struct session *session);

/* A copy of SESSION's history and of its files, both the caller's. */
void sessions_copy_history (struct session *session, struct history *ret_history, GArray **ret_given);

/* The digests of what came of the cell NUMBER, if it was the last that ran, or NULL. The caller's. */
json_t *sessions_cell_digests (struct session *session, guint64 number);

/* What the result of the cell CELL says of its session. The caller's. */
json_t *sessions_of_result (struct session *session, guint64 cell);

/* Sets ERROR to ADDER_ERROR_ENDED with the reason of SESSION, which has ended. */
void sessions_set_ended (struct session *session, GError **error);

/* ---- holding one ---- */

/* Takes the session, and a place among the sandboxes that run. When somebody else has it: ADDER_ERROR_BUSY at
 * once, or with WAIT when it does not come in time. ADDER_ERROR_ENDED, ADDER_ERROR_CANCELLED. CELL: it is
 * one, and can be interrupted through INTERRUPT. */
gboolean sessions_begin (struct session *session, gboolean wait, gboolean cell, struct interrupt *interrupt,
                         GError **error);

/* What came of a use of a session. */
struct session_result {
  char *reason;                    /* why the session ends, taken over; NULL: it does not */
  const struct history_cell *cell; /* that was run; its code is taken over; or NULL */
  gboolean reset;                  /* its variables are forgotten, and its cells with them */
  gboolean counted;                /* VARIABLES is known */
  guint64 variables;
  gboolean ran;  /* THREADS is known */
  GStrv threads; /* taken over; may be NULL */
};

/* Gives up the session, and with it the sandbox when the session has ended. */
void sessions_finish (struct session *session, struct session_result *done);

/* Whether it has ended, also for who holds the session and does not know yet. */
gboolean sessions_has_ended (struct session *session);

/* Interrupts the cell that runs, if one does. */
gboolean sessions_interrupt (struct session *session, GError **error);

/* Ends it now: REASON says why. */
void sessions_end (struct session *session, const char *reason);

/* SIGINT to the code of the cell NUMBER, or of a question (0), by who holds the session. */
void sessions_signal (struct session *session, guint64 number);

guint64 sessions_grace_us (const struct session *session);
