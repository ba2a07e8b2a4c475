/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of tunnels in this process: one subscription receives the frames of all, and a table tells whose
 * they are. */
#pragma once

#include "cluster/cluster_private.h"
#include "cluster/frame.h"

#define TUNNEL_PREFIX      "adder.1."
#define TUNNEL_ANY         TUNNEL_PREFIX "any"
#define TUNNEL_NODE        TUNNEL_PREFIX "node."
#define TUNNEL_FREE        TUNNEL_PREFIX "free"
#define TUNNEL_END         TUNNEL_PREFIX "end."

#define TUNNEL_FIRST_BYTES (512 * 1024) /* of a body, in the first message */
#define TUNNEL_FRAME_BYTES (128 * 1024)
#define TUNNEL_WINDOW      (1024 * 1024) /* sent and not yet taken */

LOCK_CLASS (tunnel_end);

struct tunnel_end {
  struct cluster *cluster;
  char *address; /* an instance, ".", and random digits */
  /* A frame, in a thread of the bus, one after the other. Where some are lost it is FRAME_FAILED; NULL:
   * nobody received what was sent with this address to reply to. */
  void (*hear) (struct tunnel_end *end, const struct frame *frame);
  struct frame_key in;
  guint64 received; /* the bus's thread alone */

  MUTEX (tunnel_end) lock;
  GUARDED_BY (tunnel_end) char *to; /* the subject of the other end; NULL: it is not known */
  GUARDED_BY (tunnel_end) struct frame_key out;
  GUARDED_BY (tunnel_end) guint64 sent;
};

/* END has an address, and hears from now on what comes there. */
void tunnel_end_add (struct tunnel_end *end, struct cluster *cluster,
                     void (*hear) (struct tunnel_end *end, const struct frame *frame));
/* It hears no more when this returns. Not for `hear`. */
void tunnel_end_remove (struct tunnel_end *end);

/* Frames of END go to the end with the ADDRESS. FALSE: that is no address. */
gboolean tunnel_end_bind (struct tunnel_end *end, const char *address);
/* Nothing where END is not bound. */
void tunnel_end_send (struct tunnel_end *end, enum frame_kind kind, const char *bytes, gsize length);
void tunnel_end_send_number (struct tunnel_end *end, enum frame_kind kind, guint64 number);
