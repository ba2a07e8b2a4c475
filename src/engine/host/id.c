/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host/id.h"

#include <glib.h>
#include <string.h>

#include "common/random_bytes.h"

#define DIGITS 6 /* of a node */

static guint id_of_node = ID_NODES; /* atomic; ID_NODES: none */

void
id_set_node (guint32 node)
{
  g_atomic_int_set (&id_of_node, node);
}

guint32
id_ending (const char *text)
{
  gsize length = strlen (text);
  const char *digits = text + length - MIN (length, DIGITS);
  if (strspn (digits, "0123456789abcdef") != DIGITS)
    return ID_NODES;
  return (guint32)g_ascii_strtoull (digits, NULL, 16);
}

guint32
id_node (const char *id)
{
  return g_uuid_string_is_valid (id) ? id_ending (id) : ID_NODES;
}

void
id_digits (char ret_digits[DIGITS + 1])
{
  guint node = (guint)g_atomic_int_get (&id_of_node);
  *ret_digits = '\0';
  if (node < ID_NODES)
    g_snprintf (ret_digits, DIGITS + 1, "%06x", node);
}

static void
id_make_of (guint node, char ret_id[ID_BYTES])
{
  guint8 bytes[16];
  random_bytes (bytes, sizeof bytes);
  guint64 us = (guint64)g_get_real_time ();
  guint fraction = (guint)(us % 1000 * 4096 / 1000); /* 12 bits of a millisecond: section 6.2, method 3 */
  for (int i = 0; i < 6; i++)
    bytes[i] = (guint8)((us / 1000) >> (40 - 8 * i));
  bytes[6] = (guint8)(0x70 | fraction >> 8);
  bytes[7] = (guint8)fraction;
  bytes[8] = (guint8)(0x80 | (bytes[8] & 0x3f));
  for (int i = 0; node < ID_NODES && i < 3; i++)
    bytes[13 + i] = (guint8)(node >> (16 - 8 * i));

  char *at = ret_id;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *at++ = '-';
    *at++ = "0123456789abcdef"[bytes[i] >> 4];
    *at++ = "0123456789abcdef"[bytes[i] & 0xf];
  }
  *at = '\0';
}

void
id_make (char ret_id[ID_BYTES])
{
  id_make_of ((guint)g_atomic_int_get (&id_of_node), ret_id);
}

void
id_make_queued (char ret_id[ID_BYTES])
{
  id_make_of (ID_QUEUED, ret_id);
}

gboolean
id_is_queued (const char *id)
{
  return id_node (id) == ID_QUEUED;
}
