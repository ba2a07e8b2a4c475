/* SPDX-License-Identifier: Apache-2.0 */
/* Queued runs of a cluster: each has a row, from when it is accepted until it is on record. The queue
 * (cluster/work_queue.h) holds the requests and tells nodes that there is work; the row decides whether a
 * node may run it. So messages that are forged, or delivered or sent again, run nothing: a run begins when
 * its row is claimed, by one daemon at a time, and a run without a row is over. Each message names the
 * database that has its row, and a daemon that was configured with another one leaves it to others.
 *
 *     queued --claim--> claimed --start--> started --settle--> no row, the record is there
 *       |                  |                  |
 *       | cancel           | its daemon is gone: another one claims it, up to the number of tries;
 *       v                  v                    after that it is recorded as lost
 *     no row, a record: cancelled
 *
 * A run with `once` has one try. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/host/id.h"
#include "store/departed.h"

struct queued_new {
  const char *id, *owner;
  gboolean once;
  const char *note;         /* departed_note_text */
  const json_t *shown;      /* as run.show has it, without "state", "can_follow", "result" and "record" */
  guint64 bytes;            /* of its request */
  guint64 most, most_bytes; /* of the owner's rows */
};

/* RET_DATABASE identifies the database that has the row. ADDER_ERROR_BUSY: the owner has too many. */
gboolean queued_add (struct store *store, const struct queued_new *made, char ret_database[ID_BYTES],
                     GError **error);
/* Removes a run that was not accepted after all. RET_REMOVED is FALSE if a node has it. */
gboolean queued_remove (struct store *store, const char *id, gboolean *ret_removed, GError **error);

/* Where a run is, or was until its daemon died; both "": it waits. */
struct queued_place {
  char tag[8], instance[ID_BYTES];
  gboolean cancelled;
};

/* Returns a run of OWNER (NULL: anybody's) that has a row, with "state" queued or running; the caller owns
 * it. ADDER_ERROR_NOT_FOUND: there is no row. RET_PLACE may be NULL. */
json_t *queued_show (struct store *store, const char *owner, const char *id, struct queued_place *ret_place,
                     GError **error);
#define QUEUED_LISTED 1000
/* Adds the waiting runs to the array LIST, at most QUEUED_LISTED, the oldest first. */
gboolean queued_list (struct store *store, const char *owner, json_t *list, GError **error);

/* Ends a waiting run as END says. A run that a daemon has is marked, and that daemon ends it.
 * ADDER_ERROR_NOT_FOUND: there is no row. */
gboolean queued_cancel (struct store *store, const char *owner, const char *id,
                        const struct departed_end *end, GError **error);

/* ---- for the daemon that runs it ---- */

struct queued_holder {
  const char *instance, *tag;
  guint64 tries; /* the most tries of a run */
  gboolean (*is_alive) (gpointer data, const char *id, const char *instance);
  gpointer data;
  const struct departed_end *cancelled; /* how a run ends that was cancelled meanwhile */
};

enum queued_claim {
  QUEUED_TAKEN,     /* the holder has it now: run it */
  QUEUED_OVER,      /* there is no row, or no longer one */
  QUEUED_HELD,      /* a living daemon has it */
  QUEUED_ELSEWHERE, /* its row is in another database */
  QUEUED_FAILED,    /* with ERROR */
};
/* DATABASE, as queued_add told it; NULL: this one. */
enum queued_claim queued_claim (struct store *store, const char *id, const char *database,
                                const struct queued_holder *holder, GError **error);
/* Records that the run has begun on INSTANCE. RET_CANCELLED: it was cancelled meanwhile.
 * ADDER_ERROR_NOT_FOUND: INSTANCE no longer has it. */
gboolean queued_start (struct store *store, const char *id, const char *instance, gboolean *ret_cancelled,
                       GError **error);
/* Records that the run has ended. RET_OVER is FALSE if it is not on record and so waits again; with UNTRIED
 * this try does not count. */
gboolean queued_settle (struct store *store, const char *id, const char *instance, gboolean untried,
                        gboolean *ret_over, GError **error);
/* Ends a run as END says, without running it. */
gboolean queued_end (struct store *store, const char *id, const char *instance,
                     const struct departed_end *end, GError **error);

/* Ends runs that are so old that the queue has dropped them, unless a living daemon has them. */
gboolean queued_sweep (struct store *store, const struct queued_holder *holder, GError **error);
