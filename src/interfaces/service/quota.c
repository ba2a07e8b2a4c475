/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/service/quota.h"

#include "common/guarded.h"
#include "common/owner_usage.h"

LOCK_CLASS (quota);

struct quota {
  gint references;
  guint64 most, owner_most;
  MUTEX (quota) lock;
  GUARDED_BY (quota) struct owner_usage *usage;
};

struct reservation {
  gint references;
  struct quota *quota;
  char *owner;
  guint64 bytes; /* with the quota's lock */
};

struct quota *
quota_new (guint64 most, guint64 owner_most)
{
  struct quota *quota = g_new0 (struct quota, 1);
  quota->references = 1;
  quota->most = most;
  quota->owner_most = MIN (owner_most, most);
  g_mutex_init (&quota->lock);
  quota->usage = owner_usage_new ();
  return quota;
}

void
quota_unref (struct quota *quota)
{
  if (!quota || !g_atomic_int_dec_and_test (&quota->references))
    return;
  UNSHARED (quota);
  owner_usage_free (quota->usage);
  g_mutex_clear (&quota->lock);
  g_free (quota);
}

guint64
quota_owner_most (const struct quota *quota)
{
  return quota->owner_most;
}

struct reservation *
reservation_new (struct quota *quota, const char *owner)
{
  struct reservation *reservation = g_new0 (struct reservation, 1);
  reservation->references = 1;
  reservation->quota = quota;
  reservation->owner = g_strdup (owner);
  g_atomic_int_inc (&quota->references);
  return reservation;
}

gboolean
reservation_add (struct reservation *reservation, guint64 bytes, gboolean *ret_of_owner)
{
  struct quota *quota = reservation->quota;
  g_mutex_lock (&quota->lock);
  /* Neither is ever past its bound. */
  gboolean fits = bytes <= quota->most - owner_usage_sum (quota->usage);
  gboolean fits_owner = bytes <= quota->owner_most - owner_usage_of (quota->usage, reservation->owner);
  if (fits && fits_owner) {
    owner_usage_add (quota->usage, reservation->owner, bytes);
    reservation->bytes += bytes;
  }
  g_mutex_unlock (&quota->lock);
  if (ret_of_owner)
    *ret_of_owner = !fits_owner;
  return fits && fits_owner;
}

struct reservation *
reservation_ref (struct reservation *reservation)
{
  if (reservation)
    g_atomic_int_inc (&reservation->references);
  return reservation;
}

void
reservation_unref (struct reservation *reservation)
{
  if (!reservation || !g_atomic_int_dec_and_test (&reservation->references))
    return;
  g_mutex_lock (&reservation->quota->lock);
  owner_usage_remove (reservation->quota->usage, reservation->owner, reservation->bytes);
  g_mutex_unlock (&reservation->quota->lock);
  quota_unref (reservation->quota);
  g_free (reservation->owner);
  g_free (reservation);
}
