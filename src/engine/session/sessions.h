/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of sessions: which there are, who holds each, and when one ends: idle for too long, too many
 * of them, too much memory, at work between cells, dead, or on request. Ended sessions stay known for a
 * while, with their reasons.
 *
 * One lock, held for lists and for calls that cannot block. One thread, which waits for the next deadline and
 * for idle sandboxes to end. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/session/session.h"

struct sessions;

struct sessions *sessions_new (struct host *host, struct notifications *notifications, GError **error);

/* Remembers sessions beyond this process: the library's. All are called under the registry's lock, except
 * find and release, and never block. */
struct sessions_memory {
  /* SESSION lives, or has ended. SLOT is what this returned before; -1: nothing. */
  int (*note) (gpointer data, int slot, const struct session *session);
  void (*forget) (gpointer data, int slot);
  /* Finds one of another process: TRUE, and ERROR is ADDER_ERROR_ENDED. */
  gboolean (*find) (gpointer data, const char *owner, const char *name, GError **error);
  void (*release) (gpointer data);
  gpointer data;
};

/* The other nodes of a cluster; both are called under the registry's lock, and do not block. */
struct sessions_elsewhere {
  /* How many sessions OWNER has there. */
  guint (*count) (gpointer data, const char *owner);
  /* Has them told of the sessions here. */
  void (*tell) (gpointer data);
  gpointer data;
};

/* ELSEWHERE is copied; with functions that are NULL there are no others. */
void sessions_set_elsewhere (struct sessions *sessions, const struct sessions_elsewhere *elsewhere);

/* Before the first session. MEMORY is copied. */
void sessions_set_memory (struct sessions *sessions, const struct sessions_memory *memory);

/* Starts the registry's thread, unless it runs: a program without sessions has none. */
gboolean sessions_start (struct sessions *sessions, GError **error);

/* Ends all, and every later one is refused. */
void sessions_close (struct sessions *sessions);
/* Sets the reason with which live sessions end when SESSIONS closes; REASON is copied. */
void sessions_set_end (struct sessions *sessions, const char *reason);

/* After sessions_close. Sessions with other references are freed with the last of them. NULL is allowed. */
void sessions_free (struct sessions *sessions);

/* {"live": n, "busy": n, "ended": n, "memory_bytes": n}. The caller's. */
json_t *sessions_status (struct sessions *sessions);

/* A number that no other session has. */
guint64 sessions_next_number (struct sessions *sessions);

/* Makes room for SESSION, new, and adds it, held by the caller. ADDER_ERROR_INVALID when its owner has one of
 * that name, ADDER_ERROR_BUSY when there is no room because none is idle. */
gboolean sessions_add (struct sessions *sessions, struct session *session, GError **error);

/* The same for COUNT of one owner; but no session ends for them, and without room for all none is added. */
gboolean sessions_add_all (struct sessions *sessions, struct session **list, guint count, GError **error);

/* Gives SESSION, which was added, SANDBOX, described by LEASE, taken over: from here on its end is
 * noticed. */
void sessions_give_sandbox (struct session *session, struct sandbox *sandbox, struct lease *lease);

/* It is open. Takes SHELL. */
void sessions_set_shell (struct session *session, char *shell);

/* What a session keeps when another node hands it over. */
struct session_origin {
  const char *id;
  gint64 created_us;
  guint64 cells;
  struct history *history; /* taken over on success */
};

/* What a session replaces, or joins. */
struct sessions_adoption {
  const char *name;                    /* or NULL */
  struct session *replaced;            /* which ends, if living; or NULL */
  guint64 edition;                     /* of its history, as it was replayed */
  const struct session_origin *origin; /* or NULL */
};

/* Makes SESSION, provisional and idle, an ordinary one; room is made for it as for a new one, and only then.
 * FALSE with ERROR changes nothing: ADDER_ERROR_BUSY when the session it replaces is in use or changed
 * meanwhile. */
gboolean sessions_adopt (struct session *session, const struct sessions_adoption *adoption, GError **error);

/* SESSION, which was added, could not be made: it leaves no trace. */
void sessions_forget (struct session *session);

/* The session of OWNER (NULL: nobody) with that name, id or unique prefix of an id, living or ended; the
 * caller's reference. ADDER_ERROR_NOT_FOUND suggests the intended one; ADDER_ERROR_INVALID when the prefix is
 * ambiguous. */
struct session *sessions_find (struct sessions *sessions, const char *owner, const char *name,
                               GError **error);

/* Likewise of any owner, by id or the beginning of one: names are not unique. */
struct session *sessions_find_any (struct sessions *sessions, const char *id, GError **error);

/* {"sessions": [...]} of OWNER, or of ALL owners; one of them, as session.show has it; its cells
 * (history_to_json). The caller's. */
json_t *sessions_list (struct sessions *sessions, const char *owner, gboolean all);
json_t *sessions_show (struct session *session);
json_t *sessions_history (struct session *session, gboolean with_results);

/* A copy of SESSION's history and of its files, both the caller's. */
void sessions_copy_history (struct session *session, struct history *ret_history, GArray **ret_given);

/* Keeps RESULT, JSON, as that of the cell NUMBER of SESSION that began at STARTED_US (history_keep_result).
 */
void sessions_keep_result (struct session *session, guint64 number, gint64 started_us, const char *result);

/* The digests of the result of the cell NUMBER, if it was the last that ran, or NULL. The caller's. */
json_t *sessions_cell_digests (struct session *session, guint64 number);

/* What the result of the cell CELL says of its session. The caller's. */
json_t *sessions_of_result (struct session *session, guint64 cell);

/* Sets ERROR to ADDER_ERROR_ENDED with the reason of SESSION, which has ended. */
void sessions_set_ended (struct session *session, GError **error);

/* ---- holding one ---- */

/* Takes the session, and a place among the sandboxes that run. When it is in use: ADDER_ERROR_BUSY at once,
 * or with WAIT when it does not come in time. ADDER_ERROR_ENDED, ADDER_ERROR_CANCELLED. A cell can be
 * interrupted through INTERRUPT. */
gboolean sessions_begin (struct session *session, gboolean wait, enum session_use use,
                         struct interrupt *interrupt, GError **error);

/* The results of a use of a session. */
struct session_result {
  char *reason;                    /* why the session ends, taken over; NULL: it does not */
  const struct history_cell *cell; /* a cell that ran; its code is taken over; or NULL */
  gboolean reset;                  /* its variables are forgotten, and its cells with them */
  gboolean counted;                /* VARIABLES is valid */
  guint64 variables;
  gboolean ran;  /* THREADS is valid */
  GStrv threads; /* taken over; may be NULL */
};

/* Gives up the session, and its sandbox as well if the session has ended. */
void sessions_finish (struct session *session, struct session_result *done);

/* Whether it has ended, even if its holder does not know yet. */
gboolean sessions_has_ended (struct session *session);

/* Gives SESSION, which lives, the name NAME (NULL: none). ADDER_ERROR_INVALID, ADDER_ERROR_EXISTS when
 * another of its owner has that name, ADDER_ERROR_ENDED. */
gboolean sessions_rename (struct session *session, const char *name, GError **error);

/* Interrupts the running cell, if any. */
gboolean sessions_interrupt (struct session *session, GError **error);

/* Ends it now: REASON says why. */
void sessions_end (struct session *session, const char *reason);

/* ---- handing over to other nodes ---- */

/* Returns the idle sessions as an array of references, which the caller owns. */
GPtrArray *sessions_idle (struct sessions *sessions);

/* Returns the edition of its history, which differs after each change. */
guint64 sessions_edition (struct session *session);

/* Whether the last cell of SESSION left threads. */
gboolean sessions_has_threads (struct session *session);

/* Sets why SESSION stays on this node (NULL: no reason), which becomes part of the reason for its end. */
void sessions_set_stays (struct session *session, const char *why);

/* Called by the holder of SESSION: until the holder releases it nothing about it changes, and requests that
 * would change it are asked to come again. Returns FALSE if it has ended, or is no longer what was written:
 * the edition EDITION of its history, the name NAME (or NULL) and no checkpoints. */
gboolean sessions_leave (struct session *session, guint64 edition, const char *name);

/* Returns FALSE and sets ADDER_ERROR_BUSY if OWNER's session NAME is moving to another node or has moved. */
gboolean sessions_check_stays (struct sessions *sessions, const char *owner, const char *name,
                               GError **error);

/* Gives up SESSION, which the caller holds and which now lives on NODE. Requests for it here get
 * ADDER_ERROR_BUSY. Returns FALSE if it had ended; it is given up all the same. */
gboolean sessions_move (struct session *session, const char *node);

/* Returns the ids of the sessions that were handed over to this process. Those that have ended are included
 * while they are remembered, since the node that they left knows only that they moved. */
json_t *sessions_guests (struct sessions *sessions);

/* {OWNER: how many live}. The caller's. */
json_t *sessions_owners (struct sessions *sessions);

/* Sends SIGINT to the code of the cell NUMBER, or of a question (0), by the holder of the session. */
void sessions_signal (struct session *session, guint64 number);

guint64 sessions_grace_us (const struct session *session);
