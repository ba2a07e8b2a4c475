/* SPDX-License-Identifier: Apache-2.0 */
/* How much of something each owner has. Its user locks. */
#pragma once

#include <glib.h>

struct shares;

struct shares *shares_new (void);
/* NULL is allowed. */
void shares_free (struct shares *shares);

/* OWNER has AMOUNT more, or gives it back: as much as he has at most. */
void shares_add (struct shares *shares, const char *owner, guint64 amount);
void shares_remove (struct shares *shares, const char *owner, guint64 amount);

guint64 shares_of (const struct shares *shares, const char *owner);
guint64 shares_sum (const struct shares *shares);
/* Who has the most; NULL: nobody has anything. The table's, until it changes. */
const char *shares_greatest (const struct shares *shares);
