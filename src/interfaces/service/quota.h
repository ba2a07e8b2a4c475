/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas of bytes that many reserve at once, with a bound for all of them and one for those of an owner. May
 * be used from any number of threads; a reservation may outlive who made the quota. */
#pragma once

#include <glib.h>

struct quota;
struct reservation;

/* All may reserve MOST, one owner OWNER_MAX. */
struct quota *quota_new (guint64 most, guint64 owner_most);
/* It lives on until the last of its reservations is given back. NULL is allowed. */
void quota_unref (struct quota *quota);
guint64 quota_owner_most (const struct quota *quota);

/* A reservation of nothing. OWNER is copied. */
struct reservation *reservation_new (struct quota *quota, const char *owner);
/* BYTES more, all or none of them. FALSE: they would be more than may be; *RET_OF_OWNER (may be NULL): of
 * this owner. */
gboolean reservation_add (struct reservation *reservation, guint64 bytes, gboolean *ret_of_owner);
/* The last reference gives back all of it. NULL is allowed, and is what NULL gives. */
struct reservation *reservation_ref (struct reservation *reservation);
void reservation_unref (struct reservation *reservation);
