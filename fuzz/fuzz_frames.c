/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as they come over a socket, in pieces: both readers, the blocking one and the one that never blocks,
 * must take the same frames out of the same bytes. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/frame.h"
#include "engine/pool/channel.h"
#include "fuzz/fuzz.h"

#define FRAME_MAX 65536

static gint64
bound (uint32_t kind)
{
  return kind <= 16 ? FRAME_MAX : -1;
}

/* The socket that FROM is read from; the bytes fit its buffer, and the writing end is closed. */
static int
socket_with (const uint8_t *data, size_t size)
{
  int ends[2];
  FUZZ_REQUIRE (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  FUZZ_REQUIRE (send (ends[1], data, size, MSG_DONTWAIT) == (ssize_t)size);
  close (ends[1]);
  return ends[0];
}

/* Adds kind, length and bytes of each frame to SEEN. */
static void
note (GByteArray *seen, uint32_t kind, const char *text, gsize length)
{
  guint64 head[2] = {kind, length};
  FUZZ_REQUIRE (length <= FRAME_MAX && text[length] == '\0');
  g_byte_array_append (seen, (const guint8 *)head, sizeof head);
  g_byte_array_append (seen, (const guint8 *)text, (guint)length);
}

static void
read_channel (int fd, GByteArray *seen)
{
  struct channel channel;
  uint32_t kind;
  gsize length;
  char *text;
  channel_init (&channel, fd);
  while (channel_receive (&channel, bound, &kind, &text, &length) == CHANNEL_FRAME) {
    note (seen, kind, text, length);
    g_free (text);
  }
  channel_clear (&channel);
}

static void
read_blocking (int fd, GByteArray *seen)
{
  struct frame_header header;
  char *text;
  size_t count;
  while (frame_receive (fd, FRAME_MAX, 1000, &header, &text, NULL, 0, &count) == 0) {
    if (bound (header.kind) >= 0)
      note (seen, header.kind, text, header.length);
    free (text);
    if (bound (header.kind) < 0)
      return;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size > FRAME_MAX)
    return 0;
  g_autoptr (GByteArray) one = g_byte_array_new ();
  g_autoptr (GByteArray) other = g_byte_array_new ();
  int fd = socket_with (data, size);
  read_channel (fd, one);
  close (fd);
  fd = socket_with (data, size);
  read_blocking (fd, other);
  close (fd);
  FUZZ_REQUIRE (one->len == other->len && (one->len == 0 || memcmp (one->data, other->data, one->len) == 0));
  return 0;
}
