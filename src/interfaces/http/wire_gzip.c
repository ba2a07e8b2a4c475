/* SPDX-License-Identifier: Apache-2.0 */
/* gzip (RFC 1952) for the module adder-http: zlib alone. */
#include <string.h>
#include <zlib.h>

#include "interfaces/http/wire.h"
#include "interfaces/http/wire_gzip.h"

#define GZIP_WINDOW 31          /* the largest, with the head and the tail of gzip */
#define MEMORY      8           /* zlib's own default */
#define PIECE_BYTES (16 * 1024) /* unpacked at once: one byte can become a thousand */

struct wire_gunzip {
  z_stream stream;
  gboolean ended; /* the input so far is complete */
};

char *
wire_gzip (const char *text, gsize length, gsize *ret_length)
{
  z_stream stream = {0};
  if (length > G_MAXUINT32 ||
      deflateInit2 (&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    return NULL;
  char *packed = g_malloc (length);
  stream.next_in = (Bytef *)(guintptr)text;
  stream.avail_in = (uInt)length;
  stream.next_out = (Bytef *)packed;
  stream.avail_out = (uInt)length;
  gboolean shorter = deflate (&stream, Z_FINISH) == Z_STREAM_END;
  *ret_length = stream.total_out;
  deflateEnd (&stream);
  if (shorter)
    return packed;
  g_free (packed);
  return NULL;
}

struct wire_gunzip *
wire_gunzip_new (void)
{
  struct wire_gunzip *gunzip = g_new0 (struct wire_gunzip, 1);
  if (inflateInit2 (&gunzip->stream, GZIP_WINDOW) == Z_OK)
    return gunzip;
  g_free (gunzip);
  return NULL;
}

/* Concatenated members form one file (RFC 1952, section 2.2). */
static gboolean
gunzip_step (struct wire_gunzip *gunzip)
{
  z_stream *stream = &gunzip->stream;
  if (gunzip->ended && inflateReset (stream) != Z_OK)
    return FALSE;
  int r = inflate (stream, Z_NO_FLUSH);
  gunzip->ended = r == Z_STREAM_END;
  return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR;
}

gboolean
wire_gunzip_add (struct wire_gunzip *gunzip, const char *bytes, gsize length,
                 gboolean (*take) (gpointer data, const char *bytes, gsize length), gpointer data)
{
  char piece[PIECE_BYTES];
  z_stream *stream = &gunzip->stream;
  stream->next_in = (Bytef *)(guintptr)bytes;
  stream->avail_in = (uInt)length;
  do {
    stream->next_out = (Bytef *)piece;
    stream->avail_out = sizeof piece;
    if (!gunzip_step (gunzip))
      return FALSE;
    gsize made = sizeof piece - stream->avail_out;
    if (made > 0 && !take (data, piece, made))
      return TRUE;
  } while (stream->avail_in > 0 || (stream->avail_out == 0 && !gunzip->ended));
  return TRUE;
}

gboolean
wire_gunzip_is_whole (const struct wire_gunzip *gunzip)
{
  return gunzip->ended;
}

void
wire_gunzip_free (struct wire_gunzip *gunzip)
{
  if (!gunzip)
    return;
  inflateEnd (&gunzip->stream);
  g_free (gunzip);
}
