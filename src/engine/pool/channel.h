/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's own socket, from the daemon's side: frames out and in, never blocking, so that a sandbox that
 * does not read or stops in the middle of a frame blocks only itself. */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "base/frame.h"

struct channel {
  int socket_fd; /* the sandbox's */
  /* out */
  char *out; /* one frame with its header, or NULL when all is sent */
  gsize out_length, out_sent;
  int out_fd; /* sent with the first byte; -1: none */
  /* in */
  struct frame_header header;
  gsize header_got;
  char *in; /* grows as bytes arrive, not as the header announces */
  gsize in_got, in_room;
  gboolean takes_fd; /* a descriptor may come with a frame, then it is in_fd (-1: none) */
  int in_fd;
};

enum channel_state {
  CHANNEL_FRAME, /* a whole frame arrived */
  CHANNEL_WAIT,  /* nothing more for now */
  CHANNEL_END,   /* the peer hung up; also in the middle of a frame */
  CHANNEL_BAD,   /* a frame that is too long for its kind, or of an unexpected kind */
};

void channel_init (struct channel *channel, int socket_fd);
void channel_clear (struct channel *channel);

/* Makes LENGTH bytes of TEXT the frame that channel_flush sends; no other may be pending. FD, which may be
 * -1, is the channel's from now on. */
void channel_send (struct channel *channel, uint32_t kind, const char *text, gsize length, int fd);

/* Sends what the socket takes; call it again when it is writable. Returns 0, or a negative errno when the
 * peer is gone. */
int channel_flush (struct channel *channel);
gboolean channel_is_sending (const struct channel *channel);

/* The maximum length of a frame of KIND, or -1 when it is unexpected. */
typedef gint64 (*channel_bound) (uint32_t kind);

/* Reads what is there, up to the end of one frame. With CHANNEL_FRAME, *RET_KIND, *RET_LENGTH and *RET_DATA
 * are set; the data is the caller's (g_free) and a zero byte follows it. The kernel closes descriptors that
 * were sent along, unless the channel takes one. */
enum channel_state channel_receive (struct channel *channel, channel_bound bound, uint32_t *ret_kind,
                                    char **ret_data, gsize *ret_length);
