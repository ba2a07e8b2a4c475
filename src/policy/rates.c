/* SPDX-License-Identifier: Apache-2.0 */
/* Token buckets. A key with a full bucket and nothing active is the same as an unknown one, so those make
 * room. */
#include "policy/rates.h"

#include "common/guarded.h"

/* The burst, as a fraction of a period's allowance. */
#define BURST_PART 6

struct entry {
  double left; /* the remaining allowance */
  double most;
  double each_us; /* refill per microsecond */
  gint64 at_us;   /* the time of LEFT */
  guint64 inside;
};

LOCK_CLASS (rates);

struct rates {
  MUTEX (rates) lock;
  GUARDED_BY (rates) GHashTable *entries; /* key -> struct entry */
  guint most;
  gint64 period_us;
};

struct rates *
rates_new (guint most, gint64 period_us)
{
  struct rates *rates = g_new0 (struct rates, 1);
  g_mutex_init (&rates->lock);
  rates->entries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  rates->most = most;
  rates->period_us = period_us;
  return rates;
}

void
rates_free (struct rates *rates)
{
  if (!rates)
    return;
  UNSHARED (rates);
  g_hash_table_unref (rates->entries);
  g_mutex_clear (&rates->lock);
  g_free (rates);
}

static double
left_at (const struct entry *entry, gint64 now_us)
{
  return MIN (entry->most, entry->left + (double)(now_us - entry->at_us) * entry->each_us);
}

/* Removes a key that is equivalent to an unknown one; else, of those without activity, the one that came
 * longest ago. FALSE when all are busy. */
REQUIRES (rates)
static gboolean
rates_make_room (struct rates *rates, gint64 now_us)
{
  GHashTableIter iter;
  gpointer key, value, oldest = NULL;
  gint64 oldest_us = G_MAXINT64;
  g_hash_table_iter_init (&iter, rates->entries);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    const struct entry *entry = value;
    if (entry->inside > 0)
      continue;
    if (left_at (entry, now_us) >= entry->most)
      g_hash_table_iter_remove (&iter);
    else if (entry->at_us < oldest_us) {
      oldest_us = entry->at_us;
      oldest = key;
    }
  }
  if (g_hash_table_size (rates->entries) >= rates->most && oldest)
    g_hash_table_remove (rates->entries, oldest);
  return g_hash_table_size (rates->entries) < rates->most;
}

/* NULL: there is no room. */
REQUIRES (rates)
static struct entry *
entry_of (struct rates *rates, const char *key, guint64 often, gint64 now_us)
{
  double most = MAX ((double)often / BURST_PART, 1);
  struct entry *entry = g_hash_table_lookup (rates->entries, key);
  if (!entry) {
    if (g_hash_table_size (rates->entries) >= rates->most && !rates_make_room (rates, now_us))
      return NULL;
    entry = g_new0 (struct entry, 1);
    entry->left = most;
    entry->at_us = now_us;
    entry->most = most;
    g_hash_table_insert (rates->entries, g_strdup (key), entry);
  }
  entry->left = left_at (entry, now_us);
  entry->at_us = now_us;
  /* Their token's rate may have changed meanwhile. */
  entry->most = most;
  entry->left = MIN (entry->left, most);
  entry->each_us = (double)often / (double)rates->period_us;
  return entry;
}

/* Seconds until the next token. */
static guint
wait_of (const struct entry *entry, double left)
{
  return (guint)((1 - left) / entry->each_us / G_USEC_PER_SEC) + 1;
}

enum rates_answer
rates_enter (struct rates *rates, const char *key, guint64 often, guint64 at_once, gint64 now_us,
             guint *ret_wait_s)
{
  enum rates_answer answer = RATES_YES;
  *ret_wait_s = 0;
  g_mutex_lock (&rates->lock);
  struct entry *entry = entry_of (rates, key, often, now_us);
  if (!entry || (at_once > 0 && entry->inside >= at_once)) {
    answer = RATES_TOO_MANY;
    *ret_wait_s = 1;
  } else if (entry->left < 1) {
    answer = RATES_TOO_OFTEN;
    *ret_wait_s = wait_of (entry, entry->left);
  } else {
    entry->left -= 1;
    entry->inside += at_once > 0;
  }
  g_mutex_unlock (&rates->lock);
  return answer;
}

void
rates_leave (struct rates *rates, const char *key)
{
  g_mutex_lock (&rates->lock);
  struct entry *entry = g_hash_table_lookup (rates->entries, key);
  if (entry && entry->inside > 0)
    entry->inside--;
  g_mutex_unlock (&rates->lock);
}

gboolean
rates_has_left (struct rates *rates, const char *key, gint64 now_us, guint *ret_wait_s)
{
  *ret_wait_s = 0;
  g_mutex_lock (&rates->lock);
  const struct entry *entry = g_hash_table_lookup (rates->entries, key);
  double left = entry ? left_at (entry, now_us) : 1;
  if (entry && left < 1)
    *ret_wait_s = wait_of (entry, left);
  g_mutex_unlock (&rates->lock);
  return left >= 1;
}

guint
rates_kept (struct rates *rates)
{
  g_mutex_lock (&rates->lock);
  guint kept = g_hash_table_size (rates->entries);
  g_mutex_unlock (&rates->lock);
  return kept;
}
