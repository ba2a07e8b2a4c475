/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of a node as the others receive it, and whether it can be believed.
 *
 * Theory of operation. What nodes believe of each other decides where requests for a session that moved go,
 * and whether a node is gone, so that its queued runs are run again. Others who may publish to the NATS
 * server must not decide that. So an entry is signed with the secret that all nodes share, for the key that
 * it is under; it stays an object of JSON, whose last member is the signature.
 *
 * A signature does not show that an entry is new: somebody may have recorded it. Clocks of nodes may differ,
 * so each entry has a number above all that its node had seen before (a Lamport clock), and at least that
 * node's time, so that a cluster that starts anew does not begin with numbers that it had before. Whatever a
 * node sends is then above all that others sent some seconds ago, and those who listen ignore
 * - an entry that is not above the one that they have of this key,
 * - one that is not above what they had heard from anybody ENTRY_OLD_MS ago.
 * The last entry of a dead node, sent again, makes it look alive for some seconds longer, no more. A node
 * whose clock is behind is ignored until it has heard another one, at most a second.
 *
 * A node leaves with a signed entry as well ("state": "left"). The empty message that follows, by which
 * JetStream removes the key, needs no secret, and means nothing.
 *
 * What is not signed, or with another secret. Nodes of versions before signatures are such, and they must
 * work with those of this version. So their entries are listed, get requests, and keep the requests that they
 * forwarded alive, until they fall silent or say by the empty message that they left. But they take no place
 * of a signed entry, have no guests, are given no sessions and no share of the limits of owners, and hold no
 * queued run, none of which the earlier versions need. A later version can drop them. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* ENTRY, with its "number", as it is sent under KEY; the caller's. */
char *entry_sign (const char *secret, const char *key, const json_t *entry);

/* TEXT of LENGTH bytes as it came under KEY, without its signature; the caller's. NULL: it is no entry of
 * that key. */
json_t *entry_parse (const char *secret, const char *key, const char *text, gsize length,
                     gboolean *ret_is_signed);

#define ENTRY_OLD_MS 3000

/* The numbers that a process has heard and sent. */
struct entry_clock {
  gint64 highest;
  gint64 marked, marked_us; /* the highest, then */
  gint64 old;               /* the highest, ENTRY_OLD_MS before that at least */
};

/* The number of the next entry, at REAL_US of this node's clock. */
gint64 entry_clock_next (struct entry_clock *clock, gint64 real_us);
/* A signed entry with that NUMBER has come, at NOW_US, a monotonic time. FALSE: it is old. */
gboolean entry_clock_hear (struct entry_clock *clock, gint64 number, gint64 now_us);
