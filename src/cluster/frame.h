/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of tunnels (tunnel.h), sealed: a byte that says what it is, its number, the first half of an
 * HMAC-SHA256 of all that and its bytes, and the bytes. */
#pragma once

#include <glib.h>

#define FRAME_SEAL_BYTES   16
#define FRAME_BEFORE_BYTES (1 + 8 + FRAME_SEAL_BYTES) /* of the bytes */
#define FRAME_KEY_BYTES    32

enum frame_kind {
  FRAME_TAKEN = 'T',  /* down: a node would start it; its tag, a blank, the address of its end */
  FRAME_GO = 'G',     /* up: that node starts it */
  FRAME_DATA = 'D',   /* both: bytes */
  FRAME_END = 'E',    /* down: the reply is whole */
  FRAME_FAILED = 'F', /* down: why there is none, or no more of it; a code in digits, a blank, words */
  FRAME_SEEN = 'S',   /* both: how many bytes were taken in all, in digits */
  FRAME_ASK = 'A',    /* up: whether the node is still there; it answers by SEEN */
  FRAME_LEFT = 'L',   /* up: nobody waits for more */
};

struct frame_key {
  guint8 bytes[FRAME_KEY_BYTES];
};

struct frame {
  enum frame_kind kind;
  const char *bytes;
  gsize length;
};

/* The key of frames to the end with that ADDRESS, whose random part makes it a key of this end alone. */
void frame_make_key (const char *secret, const char *address, struct frame_key *ret_key);

/* The frame with that NUMBER, of those in its direction; the caller's. */
char *frame_seal (const struct frame_key *key, guint64 number, enum frame_kind kind, const char *bytes,
                  gsize length, gsize *ret_length);

/* Opens the frame DATA, which should have that NUMBER; FRAME has bytes of it. FRAME_STRANGE: it is none of
 * this key, or one from before, sent again by somebody. FRAME_GAP: one or more before it are lost. */
enum frame_opened { FRAME_NEXT, FRAME_STRANGE, FRAME_GAP };
enum frame_opened frame_open (const struct frame_key *key, guint64 number, const char *data, gsize length,
                              struct frame *ret_frame);

/* A number in DIGITS, of LENGTH bytes, at most MOST. FALSE: it is none. */
gboolean frame_number (const char *digits, gsize length, guint64 most, guint64 *ret_number);
