/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/frame.h"

#include <string.h>

#include "common/constant_time.h"

#define DIGITS_MAX 20 /* of 64 bits */

void
frame_make_key (const char *secret, const char *address, struct frame_key *ret_key)
{
  gsize length = FRAME_KEY_BYTES;
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, (const guchar *)secret, strlen (secret));
  g_autofree char *name = g_strconcat ("frames to ", address, NULL);
  g_hmac_update (hmac, (const guchar *)name, (gssize)strlen (name));
  g_hmac_get_digest (hmac, ret_key->bytes, &length);
}

/* The seal of a frame that begins with HEAD: what it is, and its number. */
static void
frame_make_seal (const struct frame_key *key, const char head[9], const char *bytes, gsize length,
                 guint8 ret_seal[FRAME_KEY_BYTES])
{
  gsize size = FRAME_KEY_BYTES;
  g_autoptr (GHmac) hmac = g_hmac_new (G_CHECKSUM_SHA256, key->bytes, sizeof key->bytes);
  g_hmac_update (hmac, (const guchar *)head, 9);
  g_hmac_update (hmac, (const guchar *)bytes, (gssize)length);
  g_hmac_get_digest (hmac, ret_seal, &size);
}

char *
frame_seal (const struct frame_key *key, guint64 number, enum frame_kind kind, const char *bytes,
            gsize length, gsize *ret_length)
{
  guint8 seal[FRAME_KEY_BYTES];
  char *data = g_malloc (FRAME_BEFORE_BYTES + length);
  guint64 big = GUINT64_TO_BE (number);
  data[0] = (char)kind;
  memcpy (data + 1, &big, sizeof big);
  frame_make_seal (key, data, bytes, length, seal);
  memcpy (data + 1 + sizeof big, seal, FRAME_SEAL_BYTES);
  memcpy (data + FRAME_BEFORE_BYTES, bytes, length);
  *ret_length = FRAME_BEFORE_BYTES + length;
  return data;
}

enum frame_opened
frame_open (const struct frame_key *key, guint64 number, const char *data, gsize length,
            struct frame *ret_frame)
{
  guint8 seal[FRAME_KEY_BYTES];
  guint64 big;
  if (length < FRAME_BEFORE_BYTES)
    return FRAME_STRANGE;
  const char *given = data + 1 + sizeof big;
  *ret_frame = (struct frame){(guchar)data[0], data + FRAME_BEFORE_BYTES, length - FRAME_BEFORE_BYTES};
  frame_make_seal (key, data, ret_frame->bytes, ret_frame->length, seal);
  memcpy (&big, data + 1, sizeof big);
  if (!constant_time_equal (given, seal, FRAME_SEAL_BYTES) || GUINT64_FROM_BE (big) < number)
    return FRAME_STRANGE;
  return GUINT64_FROM_BE (big) == number ? FRAME_NEXT : FRAME_GAP;
}

gboolean
frame_number (const char *digits, gsize length, guint64 most, guint64 *ret_number)
{
  char text[DIGITS_MAX + 1];
  if (length > DIGITS_MAX || memchr (digits, '\0', length))
    return FALSE;
  memcpy (text, digits, length);
  text[length] = '\0';
  return g_ascii_string_to_unsigned (text, 10, 0, most, ret_number, NULL);
}
