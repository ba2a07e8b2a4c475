/* SPDX-License-Identifier: Apache-2.0 */
/* Egress: what one sandbox may reach through the proxy, what it did, and what it was refused. The proxy's
 * threads (proxy.h) and the run that tells of it share it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/guarded.h"
#include "engine/network/network_rules.h"
#include "sandbox/limits.h"

struct proxy;

LOCK_CLASS (egress);

struct egress {
  gatomicrefcount references;
  struct proxy *proxy; /* whose it is */
  guint64 number;
  int listener_fd;
  int closed_fd; /* eventfd: readable when the sandbox is no more */
  struct network_rules *rules;
  gint lookups; /* of names, under way; atomic */

  MUTEX (egress) lock;
  GUARDED_BY (egress) gboolean closed;
  GUARDED_BY (egress) struct limits limits;
  GUARDED_BY (egress) guint connections; /* now */
  GUARDED_BY (egress) guint64 in_bytes, out_bytes;
  GUARDED_BY (egress) guint32 limits_met;      /* 1 << enum limit */
  GUARDED_BY (egress) GPtrArray *destinations; /* struct egress_destination */
  GUARDED_BY (egress) json_t *denials;         /* {"kind", "detail", "hint"} */
};

/* LISTENER_FD is duplicated. NULL with ERROR when descriptors are short. */
struct egress *egress_new (guint64 number, int listener_fd, struct network_rules *rules,
                           const struct limits *limits, GError **error);
struct egress *egress_ref (struct egress *egress);
void egress_unref (struct egress *egress); /* NULL is allowed */

/* A cell begins, with LIMITS of its own. */
void egress_begin (struct egress *egress, const struct limits *limits);

/* No connection lives on, and nothing more is counted. */
void egress_close (struct egress *egress);

/* What was reached since the last report, between cells too: [{"host", "port", "connections", "in_bytes",
 * "out_bytes"}], and what was refused; both the caller's. Counting begins anew. */
void egress_report (struct egress *egress, json_t **ret_destinations, json_t **ret_denials,
                    guint32 *ret_limits_met);

/* ---- for the proxy's threads ---- */

/* One more connection, unless there are as many as there may be. */
gboolean egress_enter (struct egress *egress);
void egress_leave (struct egress *egress);

/* A connection to PORT of HOST was made. Returns what egress_count needs. */
guint egress_connected (struct egress *egress, const char *host, guint16 port);

/* So many bytes more came in or go out. Returns how many of them may. */
gsize egress_count_in (struct egress *egress, guint destination, gsize bytes);
gsize egress_count_out (struct egress *egress, guint destination, gsize bytes);

enum egress_refusal {
  EGRESS_HOST,    /* the list has no such host, or not that port of it */
  EGRESS_ADDRESS, /* its name leads to an address that is not public */
  EGRESS_REQUEST, /* the request cannot be understood, or in two ways */
  EGRESS_KEY,     /* the key for its header cannot be read */
};

/* Notes what was refused: DETAIL as "connect example.org:443". */
void egress_deny (struct egress *egress, enum egress_refusal refusal, const char *detail);

/* LIMIT was met. */
void egress_meet (struct egress *egress, enum limit limit);

/* How long a connection may last. */
gint64 egress_time_us (struct egress *egress);
