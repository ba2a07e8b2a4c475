/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing what somebody gave with a secret: the time that it takes does not tell how much of it is right.
 */
#pragma once

#include <glib.h>

/* Whether the LENGTH bytes at A and B are equal. */
static inline gboolean
constant_time_equal (gconstpointer a, gconstpointer b, gsize length)
{
  const guint8 *one = a, *other = b;
  guint8 differ = 0;
  for (gsize i = 0; i < length; i++)
    differ |= (guint8)(one[i] ^ other[i]);
  return differ == 0;
}
