/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host/id.h"

#include <glib.h>
#include <string.h>
#include <sys/random.h>

void
id_make (char ret_id[ID_BYTES])
{
  guint8 bytes[16];
  /* Blocks only before the kernel's generator is first seeded, at boot; 16 bytes always come whole. */
  while (getrandom (bytes, sizeof bytes, 0) != (gssize)sizeof bytes)
    ;
  guint64 us = (guint64)g_get_real_time ();
  guint fraction = (guint)(us % 1000 * 4096 / 1000); /* 12 bits of a millisecond: section 6.2, method 3 */
  for (int i = 0; i < 6; i++)
    bytes[i] = (guint8)((us / 1000) >> (40 - 8 * i));
  bytes[6] = (guint8)(0x70 | fraction >> 8);
  bytes[7] = (guint8)fraction;
  bytes[8] = (guint8)(0x80 | (bytes[8] & 0x3f));

  char *at = ret_id;
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      *at++ = '-';
    *at++ = "0123456789abcdef"[bytes[i] >> 4];
    *at++ = "0123456789abcdef"[bytes[i] & 0xf];
  }
  *at = '\0';
}
