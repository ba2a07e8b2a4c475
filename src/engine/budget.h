/* SPDX-License-Identifier: Apache-2.0 */
/* How much may be in use at once: sandboxes, and their memory. Arithmetic alone, without a lock of its own.
 *
 * A run reserves its memory limit from hand-out until its box is buried, for it may use all of it at any
 * time. A box that no run has reserves BUDGET_PARKED_BYTES from its making to its burial, or in a container
 * BUDGET_CONTAINER_BYTES. Parked boxes have a
 * quarter of the whole at most, and the memory that callers wait for is not given to them.
 *
 * Who is first in the queue and finds too little memory free would never have it as long as smaller runs took
 * whatever becomes free. So he may be overtaken, but only as many times as sandboxes may run at once: by then
 * each that ran when he came could have been replaced, so it is not the moment that is unlucky. From then on
 * what becomes free is kept for him, until he is served or has waited as long as anybody may. */
#pragma once

#include <glib.h>

/* 4.3 MB of its own, 0.4 of page tables and 0.4 in the kernel: of 200 with pandas loaded, by /proc/meminfo on
 * Linux 6.18. Rounded up. */
#define BUDGET_PARKED_BYTES ((guint64)6 << 20)

/* A container shares nothing with others but the image's files: its interpreter with the packages loaded. */
#define BUDGET_CONTAINER_BYTES ((guint64)128 << 20)

struct budget {
  guint64 max_running, max_bytes;
  guint64 running;       /* boxes that runs have, or had and that are not buried */
  guint64 running_bytes; /* what they reserve */
  guint64 parked_bytes;  /* what the others reserve */
};

/* Whether a run of BYTES fits when it is alone. */
gboolean budget_can_hold (const struct budget *budget, guint64 bytes);

/* Whether one more box of BYTES may be parked while PROMISED bytes are to go to callers soon. */
gboolean budget_may_park (const struct budget *budget, guint64 bytes, guint64 promised);

void budget_park (struct budget *budget, guint64 bytes);

/* A run of BYTES takes a box for which PARKED bytes were reserved. */
void budget_run (struct budget *budget, guint64 parked, guint64 bytes);

/* A run of BYTES takes a box that a session kept, for which nothing was reserved. */
void budget_resume (struct budget *budget, guint64 bytes);

/* That many boxes that runs had were buried or are kept without a run, and so many bytes of them and of
 * others are free. */
void budget_release (struct budget *budget, guint64 runs, guint64 running_bytes, guint64 parked_bytes);

/* ---- going through the queue ---- */

/* A caller who waits. */
struct budget_claim {
  guint64 bytes;
  guint64 overtaken; /* by others, while it was the first that lacked memory */
};

/* Begins as {.budget = ...}, and lasts as long as the lock is held. */
struct budget_round {
  const struct budget *budget;
  guint64 held, held_bytes;         /* kept for callers who were asked about before */
  struct budget_claim *first_short; /* the first who lacks memory */
};

enum budget_answer {
  BUDGET_ROOM,
  BUDGET_SHORT, /* too little memory for this one */
  BUDGET_END,   /* and nothing for those behind it */
};

/* Whether CLAIM may be served now; the claims of a round come in the order of the queue. SPARE: bytes that
 * are reserved for its box already. */
enum budget_answer budget_ask (struct budget_round *round, struct budget_claim *claim, guint64 spare);

/* CLAIM, for which there is ROOM, is served later: those behind it do not have what it needs. */
void budget_hold (struct budget_round *round, const struct budget_claim *claim);

/* Whether nothing more may be taken from CLAIM. */
gboolean budget_is_due (const struct budget *budget, const struct budget_claim *claim);

/* One was served: another claim than those that were SHORT. */
void budget_note_served (struct budget_round *round);
