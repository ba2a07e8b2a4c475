/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes for ids and keys, from the kernel. */
#pragma once

#include <glib.h>
#include <sys/random.h>

/* Fills BYTES with LENGTH of them, at most 256: so many come whole. Waits only before the kernel's generator
 * is first seeded, at boot. */
static inline void
random_bytes (gpointer bytes, gsize length)
{
  while (getrandom (bytes, length, 0) != (gssize)length)
    ;
}
