/* SPDX-License-Identifier: Apache-2.0 */
/* What both ends of a tunnel know of its frames. */
#pragma once

#include "cluster/cluster_private.h"
#include "cluster/tunnel.h"

#define TUNNEL_PREFIX      "adder.1."
#define TUNNEL_ANY         TUNNEL_PREFIX "any"
#define TUNNEL_NODE        TUNNEL_PREFIX "node."
#define TUNNEL_FREE        TUNNEL_PREFIX "free"
#define TUNNEL_DOWN        TUNNEL_PREFIX "down."
#define TUNNEL_UP          TUNNEL_PREFIX "up."

#define TUNNEL_FIRST_BYTES (512 * 1024) /* of a body, in the first message */
#define TUNNEL_FRAME_BYTES (128 * 1024)
#define TUNNEL_WINDOW      (1024 * 1024) /* sent and not yet taken */

enum tunnel_frame {
  FRAME_TAKEN = 'T',  /* down: a node has it; its tag */
  FRAME_DATA = 'D',   /* both: bytes */
  FRAME_END = 'E',    /* down: the reply is whole */
  FRAME_FAILED = 'F', /* down: why there is none, or no more of it */
  FRAME_SEEN = 'S',   /* both: how many bytes were taken in all, in decimal digits */
  FRAME_LEFT = 'L',   /* up: nobody waits for more */
};
