/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles, read at most once a second. A change of a file is seen within that time, without a watch or a
 * restart. */
#include "library/library.h"

#define FRESH_US G_USEC_PER_SEC

struct profile_entry {
  struct profile *profile;
  gint64 read_us;
};

static void
clear_entry (gpointer data)
{
  struct profile_entry *entry = data;
  profile_free (entry->profile);
}

void
profile_entry_unref (struct profile_entry *entry)
{
  if (entry)
    g_atomic_rc_box_release_full (entry, clear_entry);
}

void
profile_cache_init (struct profile_cache *cache)
{
  g_mutex_init (&cache->lock);
  cache->entries =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)profile_entry_unref);
}

void
profile_cache_clear (struct profile_cache *cache)
{
  UNSHARED (profile_cache);
  g_hash_table_unref (cache->entries);
  g_mutex_clear (&cache->lock);
}

static struct profile_entry *
profile_cache_find (struct profile_cache *cache, const char *name)
{
  g_mutex_lock (&cache->lock);
  struct profile_entry *entry = g_hash_table_lookup (cache->entries, name);
  if (entry && g_get_monotonic_time () - entry->read_us < FRESH_US)
    g_atomic_rc_box_acquire (entry);
  else
    entry = NULL;
  g_mutex_unlock (&cache->lock);
  return entry;
}

const struct profile *
profile_cache_get (struct profile_cache *cache, const char *name, struct profile_entry **ret_entry,
                   GError **error)
{
  struct profile_entry *entry = profile_cache_find (cache, name);
  if (!entry) {
    struct profile *profile = profile_load (name, error);
    if (!profile)
      return NULL;
    entry = g_atomic_rc_box_new0 (struct profile_entry);
    entry->profile = profile;
    entry->read_us = g_get_monotonic_time ();
    g_mutex_lock (&cache->lock);
    g_hash_table_replace (cache->entries, g_strdup (name), g_atomic_rc_box_acquire (entry));
    g_mutex_unlock (&cache->lock);
  }
  *ret_entry = entry;
  return entry->profile;
}
