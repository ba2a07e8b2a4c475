/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that many hold at once, with a bound for all of them and one for those of an owner. May be used from
 * any number of threads; whoever holds some may outlive who made the room. */
#pragma once

#include <glib.h>

struct room;
struct hold;

/* All may hold MOST, one owner OWNER_MOST. */
struct room *room_new (guint64 most, guint64 owner_most);
/* It lives on until the last of its holds is given back. NULL is allowed. */
void room_unref (struct room *room);
guint64 room_owner_most (const struct room *room);

/* A hold of nothing. OWNER is copied. */
struct hold *hold_new (struct room *room, const char *owner);
/* BYTES more, all or none of them. FALSE: they would be more than may be; *RET_OF_OWNER (may be NULL): of
 * this owner. */
gboolean hold_add (struct hold *hold, guint64 bytes, gboolean *ret_of_owner);
/* The last reference gives back all of it. NULL is allowed, and is what NULL gives. */
struct hold *hold_ref (struct hold *hold);
void hold_unref (struct hold *hold);
