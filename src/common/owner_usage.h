/* SPDX-License-Identifier: Apache-2.0 */
/* Usage per owner: how much of something each has. Its user locks. */
#pragma once

#include <glib.h>

struct owner_usage;

struct owner_usage *owner_usage_new (void);
/* NULL is allowed. */
void owner_usage_free (struct owner_usage *usage);

/* OWNER has AMOUNT more, or gives it back: as much as they have at most. */
void owner_usage_add (struct owner_usage *usage, const char *owner, guint64 amount);
void owner_usage_remove (struct owner_usage *usage, const char *owner, guint64 amount);

guint64 owner_usage_of (const struct owner_usage *usage, const char *owner);
guint64 owner_usage_sum (const struct owner_usage *usage);
/* Who has the most; NULL: nobody has anything. The table's, until it changes. */
const char *owner_usage_greatest (const struct owner_usage *usage);
