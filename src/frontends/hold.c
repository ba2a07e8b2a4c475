/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/hold.h"

#include "frontends/shares.h"

struct room {
  gint references;
  guint64 most, owner_most;
  GMutex lock; /* what follows */
  struct shares *shares;
};

struct hold {
  gint references;
  struct room *room;
  char *owner;
  guint64 bytes; /* with the room's lock */
};

struct room *
room_new (guint64 most, guint64 owner_most)
{
  struct room *room = g_new0 (struct room, 1);
  room->references = 1;
  room->most = most;
  room->owner_most = MIN (owner_most, most);
  room->shares = shares_new ();
  g_mutex_init (&room->lock);
  return room;
}

void
room_unref (struct room *room)
{
  if (!room || !g_atomic_int_dec_and_test (&room->references))
    return;
  shares_free (room->shares);
  g_mutex_clear (&room->lock);
  g_free (room);
}

guint64
room_owner_most (const struct room *room)
{
  return room->owner_most;
}

struct hold *
hold_new (struct room *room, const char *owner)
{
  struct hold *hold = g_new0 (struct hold, 1);
  hold->references = 1;
  hold->room = room;
  hold->owner = g_strdup (owner);
  g_atomic_int_inc (&room->references);
  return hold;
}

gboolean
hold_add (struct hold *hold, guint64 bytes, gboolean *ret_of_owner)
{
  struct room *room = hold->room;
  g_mutex_lock (&room->lock);
  /* Neither is ever past its bound. */
  gboolean fits = bytes <= room->most - shares_sum (room->shares);
  gboolean fits_owner = bytes <= room->owner_most - shares_of (room->shares, hold->owner);
  if (fits && fits_owner) {
    shares_add (room->shares, hold->owner, bytes);
    hold->bytes += bytes;
  }
  g_mutex_unlock (&room->lock);
  if (ret_of_owner)
    *ret_of_owner = !fits_owner;
  return fits && fits_owner;
}

struct hold *
hold_ref (struct hold *hold)
{
  if (hold)
    g_atomic_int_inc (&hold->references);
  return hold;
}

void
hold_unref (struct hold *hold)
{
  if (!hold || !g_atomic_int_dec_and_test (&hold->references))
    return;
  g_mutex_lock (&hold->room->lock);
  shares_remove (hold->room->shares, hold->owner, hold->bytes);
  g_mutex_unlock (&hold->room->lock);
  room_unref (hold->room);
  g_free (hold->owner);
  g_free (hold);
}
