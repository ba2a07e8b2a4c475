/* SPDX-License-Identifier: Apache-2.0 */
/* Usage per owner: how much of something each has. Its user locks. */
#pragma once

#include <glib.h>

struct owner_usage;

struct owner_usage *owner_usage_new (void);
/* NULL is allowed. */
void owner_usage_free (struct owner_usage *usage);

/* Adds AMOUNT to OWNER's usage, or subtracts it: at most what they have. */
void owner_usage_add (struct owner_usage *usage, const char *owner, guint64 amount);
void owner_usage_remove (struct owner_usage *usage, const char *owner, guint64 amount);

guint64 owner_usage_of (const struct owner_usage *usage, const char *owner);
guint64 owner_usage_sum (const struct owner_usage *usage);
/* The owner with the most; NULL: none. The table's, until it changes. */
const char *owner_usage_greatest (const struct owner_usage *usage);
