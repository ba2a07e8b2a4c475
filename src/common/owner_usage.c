/* SPDX-License-Identifier: Apache-2.0 */
#include "common/owner_usage.h"

struct owner_usage {
  GHashTable *by_owner; /* their name -> guint64, never 0 */
  guint64 sum;
};

struct owner_usage *
owner_usage_new (void)
{
  struct owner_usage *usage = g_new0 (struct owner_usage, 1);
  usage->by_owner = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return usage;
}

void
owner_usage_free (struct owner_usage *usage)
{
  if (!usage)
    return;
  g_hash_table_unref (usage->by_owner);
  g_free (usage);
}

void
owner_usage_add (struct owner_usage *usage, const char *owner, guint64 amount)
{
  guint64 *has = g_hash_table_lookup (usage->by_owner, owner);
  if (amount == 0)
    return;
  if (!has) {
    has = g_new0 (guint64, 1);
    g_hash_table_insert (usage->by_owner, g_strdup (owner), has);
  }
  *has += amount;
  usage->sum += amount;
}

void
owner_usage_remove (struct owner_usage *usage, const char *owner, guint64 amount)
{
  guint64 *has = g_hash_table_lookup (usage->by_owner, owner);
  if (!has)
    return;
  amount = MIN (amount, *has);
  *has -= amount;
  usage->sum -= amount;
  if (*has == 0)
    g_hash_table_remove (usage->by_owner, owner);
}

guint64
owner_usage_of (const struct owner_usage *usage, const char *owner)
{
  const guint64 *has = g_hash_table_lookup (usage->by_owner, owner);
  return has ? *has : 0;
}

guint64
owner_usage_sum (const struct owner_usage *usage)
{
  return usage->sum;
}

const char *
owner_usage_greatest (const struct owner_usage *usage)
{
  GHashTableIter iter;
  gpointer owner, has;
  const char *greatest = NULL;
  guint64 most = 0;
  g_hash_table_iter_init (&iter, usage->by_owner);
  while (g_hash_table_iter_next (&iter, &owner, &has))
    if (*(const guint64 *)has > most) {
      most = *(const guint64 *)has;
      greatest = owner;
    }
  return greatest;
}
