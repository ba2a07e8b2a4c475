/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that a cluster's queue has: a row for each, from when it is accepted until it is on record. The queue
 * (cluster/work_queue.h) holds the requests and tells nodes that there is work; the row says whether a node
 * may run it. So a message that comes again, or that somebody made or repeated, runs nothing: a run begins
 * when its row is claimed, which one daemon at a time can do, and one without a row is over. A daemon that
 * was configured with another database than those that queue has no rows: the message says which it is, and
 * such a daemon leaves it to others.
 *
 *     queued --claim--> claimed --start--> started --settle--> no row, the record is there
 *       |                  |                  |
 *       | cancel           | its daemon is gone: claimed by the next, as often as it may be tried;
 *       v                  v                    after that it is recorded as lost
 *     no row, a record: cancelled
 *
 * A run that may run once may be tried once. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/host/id.h"
#include "store/departed.h"

struct queued_new {
  const char *id, *owner;
  gboolean once;
  const char *note;    /* departed_note_text */
  const json_t *shown; /* what a run shows of itself, without "state", "can_follow", "result" and "record" */
  guint64 bytes;       /* of its request */
  guint64 most, most_bytes; /* of the owner's rows */
};

/* RET_DATABASE tells the database that has the row from others. FALSE with ERROR: ADDER_ERROR_BUSY where the
 * owner has too many. */
gboolean queued_add (struct store *store, const struct queued_new *made, char ret_database[ID_BYTES],
                     GError **error);
/* It was not accepted after all. *RET_REMOVED FALSE: a node has it. */
gboolean queued_remove (struct store *store, const char *id, gboolean *ret_removed, GError **error);

/* Where one runs, or did until its daemon died; both "": it waits. */
struct queued_place {
  char tag[8], instance[ID_BYTES];
  gboolean cancelled;
};

/* A run of OWNER (NULL: of any) that has a row, with "state" queued or running; the caller's. NULL with
 * ERROR: ADDER_ERROR_NOT_FOUND where there is no row. RET_PLACE may be NULL. */
json_t *queued_show (struct store *store, const char *owner, const char *id, struct queued_place *ret_place,
                     GError **error);
#define QUEUED_LISTED 1000
/* Adds those that wait to the array LIST: of more than QUEUED_LISTED the oldest. */
gboolean queued_list (struct store *store, const char *owner, json_t *list, GError **error);

/* One that waits ends, as END says; one that a daemon has is marked, and that daemon ends it. FALSE with
 * ERROR: ADDER_ERROR_NOT_FOUND where there is no row. */
gboolean queued_cancel (struct store *store, const char *owner, const char *id,
                        const struct departed_end *end, GError **error);

/* ---- for the daemon that runs it ---- */

struct queued_holder {
  const char *instance, *tag;
  guint64 tries; /* how often a run is tried, at most */
  gboolean (*is_alive) (gpointer data, const char *id, const char *instance);
  gpointer data;
  const struct departed_end *cancelled; /* how one ends that was cancelled meanwhile */
};

enum queued_claim {
  QUEUED_TAKEN,     /* it is the holder's: run it */
  QUEUED_OVER,      /* there is no row, or there is none any more */
  QUEUED_HELD,      /* a daemon that lives has it */
  QUEUED_ELSEWHERE, /* its row is in another database */
  QUEUED_FAILED,    /* with ERROR */
};
/* DATABASE, as queued_add told it; NULL: this one. */
enum queued_claim queued_claim (struct store *store, const char *id, const char *database,
                                const struct queued_holder *holder, GError **error);
/* It has begun: others find it here. *RET_CANCELLED: it was cancelled meanwhile. FALSE with ERROR: it is not
 * this holder's any more. */
gboolean queued_start (struct store *store, const char *id, const char *instance, gboolean *ret_cancelled,
                       GError **error);
/* It has ended. *RET_OVER FALSE: it is not on record, and waits again; UNTRIED: as if it had not been
 * tried. */
gboolean queued_settle (struct store *store, const char *id, const char *instance, gboolean untried,
                        gboolean *ret_over, GError **error);
/* It ends as END says, without having run. */
gboolean queued_end (struct store *store, const char *id, const char *instance,
                     const struct departed_end *end, GError **error);

/* Ends those that are so old that the queue has forgotten them, and that no daemon has that lives. */
gboolean queued_sweep (struct store *store, const struct queued_holder *holder, GError **error);
