/* SPDX-License-Identifier: Apache-2.0 */
/* A gate: what one sandbox may reach through the proxy, what it did, and what it was refused. The proxy's
 * threads (proxy.h) and the run that tells of it share it. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/network_rules.h"
#include "sandbox/limits.h"

struct proxy;

struct gate {
  gatomicrefcount references;
  struct proxy *proxy; /* whose it is */
  guint64 number;
  int listener_fd;
  int closed_fd; /* eventfd: readable when the sandbox is no more */
  struct network_rules *rules;
  gint lookups; /* of names, under way; atomic */

  GMutex lock;
  gboolean closed;
  struct limits limits;
  guint connections; /* now */
  guint64 in_bytes, out_bytes;
  guint32 limits_met; /* 1 << enum limit */
  GPtrArray *visits;  /* struct gate_visit */
  json_t *denials;    /* {"kind", "detail", "hint"} */
};

/* LISTENER_FD is duplicated. NULL with ERROR when descriptors are short. */
struct gate *gate_new (guint64 number, int listener_fd, struct network_rules *rules,
                       const struct limits *limits, GError **error);
struct gate *gate_ref (struct gate *gate);
void gate_unref (struct gate *gate); /* NULL is allowed */

/* A cell begins, with LIMITS of its own. */
void gate_begin (struct gate *gate, const struct limits *limits);

/* No connection lives on, and nothing more is counted. */
void gate_close (struct gate *gate);

/* What was reached since the last report, between cells too: [{"host", "port", "connections", "in_bytes",
 * "out_bytes"}], and what was refused; both the caller's. Counting begins anew. */
void gate_report (struct gate *gate, json_t **ret_visits, json_t **ret_denials, guint32 *ret_limits_met);

/* ---- for the proxy's threads ---- */

/* One more connection, unless there are as many as there may be. */
gboolean gate_enter (struct gate *gate);
void gate_leave (struct gate *gate);

/* A connection to PORT of HOST was made. Returns what gate_count needs. */
guint gate_visit (struct gate *gate, const char *host, guint16 port);

/* So many bytes more came in or go out. Returns how many of them may. */
gsize gate_count_in (struct gate *gate, guint visit, gsize bytes);
gsize gate_count_out (struct gate *gate, guint visit, gsize bytes);

enum gate_refusal {
  GATE_HOST,    /* the list has no such host, or not that port of it */
  GATE_ADDRESS, /* its name leads to an address that is not public */
  GATE_REQUEST, /* the request cannot be understood, or in two ways */
  GATE_KEY,     /* the key for its header cannot be read */
};

/* Notes what was refused: DETAIL as "connect example.org:443". */
void gate_deny (struct gate *gate, enum gate_refusal refusal, const char *detail);

/* LIMIT was met. */
void gate_meet (struct gate *gate, enum limit limit);

/* How long a connection may last. */
gint64 gate_time_us (struct gate *gate);
