/* SPDX-License-Identifier: Apache-2.0 */
#include "frontends/shares.h"

struct shares {
  GHashTable *by_owner; /* his name -> guint64, never 0 */
  guint64 sum;
};

struct shares *
shares_new (void)
{
  struct shares *shares = g_new0 (struct shares, 1);
  shares->by_owner = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return shares;
}

void
shares_free (struct shares *shares)
{
  if (!shares)
    return;
  g_hash_table_unref (shares->by_owner);
  g_free (shares);
}

void
shares_add (struct shares *shares, const char *owner, guint64 amount)
{
  guint64 *has = g_hash_table_lookup (shares->by_owner, owner);
  if (amount == 0)
    return;
  if (!has) {
    has = g_new0 (guint64, 1);
    g_hash_table_insert (shares->by_owner, g_strdup (owner), has);
  }
  *has += amount;
  shares->sum += amount;
}

void
shares_remove (struct shares *shares, const char *owner, guint64 amount)
{
  guint64 *has = g_hash_table_lookup (shares->by_owner, owner);
  if (!has)
    return;
  amount = MIN (amount, *has);
  *has -= amount;
  shares->sum -= amount;
  if (*has == 0)
    g_hash_table_remove (shares->by_owner, owner);
}

guint64
shares_of (const struct shares *shares, const char *owner)
{
  const guint64 *has = g_hash_table_lookup (shares->by_owner, owner);
  return has ? *has : 0;
}

guint64
shares_sum (const struct shares *shares)
{
  return shares->sum;
}

const char *
shares_greatest (const struct shares *shares)
{
  GHashTableIter iter;
  gpointer owner, has;
  const char *greatest = NULL;
  guint64 most = 0;
  g_hash_table_iter_init (&iter, shares->by_owner);
  while (g_hash_table_iter_next (&iter, &owner, &has))
    if (*(const guint64 *)has > most) {
      most = *(const guint64 *)has;
      greatest = owner;
    }
  return greatest;
}
