/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes have said of themselves: who is there, and where sessions are that have moved. */
#include <string.h>

#include "adder_types.h"
#include "cluster/cluster_private.h"
#include "common/error.h"
#include "common/json.h"

#define OWN_SILENT_US ((gint64)(CLUSTER_SILENT_MS - CLUSTER_BEAT_MS) * 1000) /* without an own entry */

struct member {
  json_t *entry;
  GHashTable *guests; /* the cluster's */
  gboolean is_signed; /* otherwise of an earlier version, or of anybody: cluster_entry.h */
  gint64 number;      /* of a signed one */
  gint64 seen_us;     /* monotonic */
};

/* What those that are not signed say counts for nothing. */
static const json_t *
member_guests (const struct member *member)
{
  return member->is_signed ? json_object_get (member->entry, "guests") : NULL;
}

/* The keys of the table are texts of the entry. */
static void
member_index_guests (struct member *member)
{
  gsize i;
  json_t *guest;
  json_array_foreach (member_guests (member), i, guest)
  {
    if (json_is_string (guest))
      g_hash_table_replace (member->guests, (gpointer)(guintptr)json_string_value (guest), member);
  }
}

static void
member_free (gpointer data)
{
  struct member *member = data;
  gsize i;
  json_t *guest;
  json_array_foreach (member_guests (member), i, guest)
  {
    const char *id = json_string_value (guest);
    if (id && g_hash_table_lookup (member->guests, id) == member) /* no other node has told of it since */
      g_hash_table_remove (member->guests, id);
  }
  json_decref (member->entry);
  g_free (member);
}

static gboolean
member_is_silent (const struct member *member, gint64 now_us)
{
  return now_us - member->seen_us > (gint64)CLUSTER_SILENT_MS * 1000;
}

void
cluster_prune (struct cluster *cluster)
{
  gint64 now_us = g_get_monotonic_time ();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, cluster->members);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (member_is_silent (value, now_us))
      g_hash_table_iter_remove (&iter);
}

void
cluster_members_init (struct cluster *cluster)
{
  UNSHARED (cluster);
  g_cond_init (&cluster->heard);
  cluster->members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, member_free);
  cluster->guests = g_hash_table_new (g_str_hash, g_str_equal);
}

void
cluster_members_clear (struct cluster *cluster)
{
  UNSHARED (cluster);
  g_hash_table_unref (cluster->members);
  g_hash_table_unref (cluster->guests);
  g_cond_clear (&cluster->heard);
}

/* ---- what comes ---- */

/* That of this process. A connection that is cut off is noticed late, and what was sent meanwhile may come
 * after all: who is not known then need not be gone. */
REQUIRES (cluster)
static void
cluster_hear_own (struct cluster *cluster)
{
  gint64 now_us = g_get_monotonic_time ();
  if (now_us - cluster->own_heard_us >= OWN_SILENT_US)
    cluster->own_since_us = now_us;
  cluster->own_heard_us = now_us;
}

/* The empty message by which JetStream removes KEY. */
REQUIRES (cluster)
static void
cluster_hear_removal (struct cluster *cluster, const char *key)
{
  const struct member *member = g_hash_table_lookup (cluster->members, key);
  if (member && !member->is_signed)
    g_hash_table_remove (cluster->members, key);
}

/* Whether ENTRY takes the place of what is there. */
REQUIRES (cluster)
static gboolean
cluster_believes (struct cluster *cluster, const char *key, const json_t *entry, gboolean is_signed)
{
  gint64 now_us = g_get_monotonic_time ();
  gint64 number = json_integer_value (json_object_get (entry, "number"));
  const struct member *before = g_hash_table_lookup (cluster->members, key);
  if (!is_signed)
    return !before || !before->is_signed || member_is_silent (before, now_us);
  return entry_clock_hear (&cluster->clock, number, now_us) &&
         !(before && before->is_signed && number <= before->number);
}

/* ENTRY is taken. */
REQUIRES (cluster)
static void
cluster_hear_entry (struct cluster *cluster, const char *key, json_t *entry, gboolean is_signed)
{
  if (is_signed && strcmp (json_member_text (entry, "instance"), cluster->instance) == 0)
    cluster_hear_own (cluster);
  if (strcmp (json_member_text (entry, "state"), STATE_LEFT) == 0) {
    cluster->gateways_us = g_hash_table_remove (cluster->members, key) ? 0 : cluster->gateways_us;
    json_decref (entry);
    return;
  }
  struct member *member = g_new (struct member, 1);
  *member = (struct member){entry, cluster->guests, is_signed,
                            json_integer_value (json_object_get (entry, "number")), g_get_monotonic_time ()};
  if (g_hash_table_replace (cluster->members, g_strdup (key), member))
    cluster->gateways_us = 0;
  member_index_guests (member);
  g_cond_broadcast (&cluster->heard);
}

void
cluster_receive_entry (struct cluster *cluster, const char *key, const char *text, gsize length)
{
  gboolean is_signed;
  g_autoptr (json_t) entry = entry_parse (cluster->secret, key, text, length, &is_signed);
  g_mutex_lock (&cluster->lock);
  if (length == 0)
    cluster_hear_removal (cluster, key);
  else if (entry && json_object_get (entry, "state") && cluster_believes (cluster, key, entry, is_signed))
    cluster_hear_entry (cluster, key, g_steal_pointer (&entry), is_signed);
  g_mutex_unlock (&cluster->lock);
}

/* ---- who is there ---- */

static gboolean
member_is_of (const struct member *member, const char *instance)
{
  return strcmp (json_member_text (member->entry, "instance"), instance) == 0;
}

REQUIRES (cluster)
static const struct member *
cluster_find_instance (struct cluster *cluster, const char *instance, gboolean must_be_signed)
{
  GHashTableIter iter;
  gpointer value;
  cluster_prune (cluster);
  g_hash_table_iter_init (&iter, cluster->members);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const struct member *member = value;
    if ((member->is_signed || !must_be_signed) && member_is_of (member, instance))
      return member;
  }
  return NULL;
}

gboolean
cluster_is_alive (struct cluster *cluster, const char *instance)
{
  g_mutex_lock (&cluster->lock);
  gboolean found = cluster_find_instance (cluster, instance, TRUE) != NULL;
  g_mutex_unlock (&cluster->lock);
  return found;
}

gboolean
cluster_lists_instance (struct cluster *cluster, const char *instance)
{
  g_mutex_lock (&cluster->lock);
  gboolean found = cluster_find_instance (cluster, instance, FALSE) != NULL;
  g_mutex_unlock (&cluster->lock);
  return found;
}

gboolean
cluster_lists_tag (struct cluster *cluster, const char *tag)
{
  g_mutex_lock (&cluster->lock);
  const struct member *member = g_hash_table_lookup (cluster->members, tag);
  gboolean found = member && !member_is_silent (member, g_get_monotonic_time ());
  g_mutex_unlock (&cluster->lock);
  return found;
}

gboolean
cluster_view_is_complete (struct cluster *cluster)
{
  g_mutex_lock (&cluster->lock);
  gint64 now_us = g_get_monotonic_time (), since_us = MAX (cluster->claimed_us, cluster->own_since_us);
  gboolean is_complete = cluster->claimed && now_us - cluster->own_heard_us < OWN_SILENT_US &&
                         now_us - since_us >= (gint64)CLUSTER_SILENT_MS * 1000;
  g_mutex_unlock (&cluster->lock);
  return is_complete;
}

guint
cluster_size (struct cluster *cluster)
{
  g_mutex_lock (&cluster->lock);
  guint size = MAX (g_hash_table_size (cluster->members), 1);
  g_mutex_unlock (&cluster->lock);
  return size;
}

/* ---- sessions that moved ---- */

static gboolean
member_has_guest (const struct member *member, const char *id)
{
  gsize i;
  json_t *guest;
  json_array_foreach (member_guests (member), i, guest)
  {
    if (g_strcmp0 (json_string_value (guest), id) == 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
cluster_find_guest (struct cluster *cluster, const char *id, char ret_tag[8])
{
  g_mutex_lock (&cluster->lock);
  const struct member *member = g_hash_table_lookup (cluster->guests, id);
  gboolean found = member && !member_is_silent (member, g_get_monotonic_time ());
  if (found)
    g_strlcpy (ret_tag, json_member_text (member->entry, "tag"), 8);
  g_mutex_unlock (&cluster->lock);
  return found;
}

gboolean
cluster_await_guest (struct cluster *cluster, const char *id, const char *tag, guint64 ms)
{
  gint64 end_us = g_get_monotonic_time () + (gint64)ms * 1000;
  gboolean found = FALSE, waits = TRUE;
  g_mutex_lock (&cluster->lock);
  do {
    const struct member *member = g_hash_table_lookup (cluster->members, tag);
    found = member && member_has_guest (member, id);
    waits = !found && g_cond_wait_until (&cluster->heard, &cluster->lock, end_us);
  } while (waits);
  g_mutex_unlock (&cluster->lock);
  return found;
}

/* ---- limits of owners ---- */

guint
cluster_count_sessions (struct cluster *cluster, const char *owner)
{
  json_int_t count = 0;
  GHashTableIter iter;
  gpointer value;
  g_mutex_lock (&cluster->lock);
  cluster_prune (cluster);
  g_hash_table_iter_init (&iter, cluster->members);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const struct member *member = value;
    if (member->is_signed && !member_is_of (member, cluster->instance))
      count += json_integer_value (json_object_get (json_object_get (member->entry, "owners"), owner));
  }
  g_mutex_unlock (&cluster->lock);
  return (guint)CLAMP (count, 0, G_MAXINT);
}

/* ---- who takes requests of callers ---- */

REQUIRES (cluster)
static guint
cluster_recount_gateways (struct cluster *cluster)
{
  guint gateways = 0, all = 0;
  gboolean is_gateway = FALSE;
  GHashTableIter iter;
  gpointer value;
  cluster_prune (cluster);
  g_hash_table_iter_init (&iter, cluster->members);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const struct member *member = value;
    gboolean is_one = member->is_signed && json_is_true (json_object_get (member->entry, "gateway"));
    all += member->is_signed;
    gateways += is_one;
    is_gateway = is_gateway || (is_one && member_is_of (member, cluster->instance));
  }
  /* Without NATS it is not even known that this one is there: then it is as it was. */
  return MAX (all == 0 ? cluster->gateways : gateways == 0 ? all : gateways + !is_gateway, 1);
}

/* Each request asks, so they are counted when one comes or leaves, and once in a second for those that die.
 */
guint
cluster_count_gateways (struct cluster *cluster)
{
  gint64 now_us = g_get_monotonic_time ();
  g_mutex_lock (&cluster->lock);
  if (cluster->gateways_us == 0 || now_us - cluster->gateways_us > (gint64)CLUSTER_BEAT_MS * 1000) {
    cluster->gateways = cluster_recount_gateways (cluster);
    cluster->gateways_us = now_us;
  }
  guint gateways = cluster->gateways;
  g_mutex_unlock (&cluster->lock);
  return gateways;
}

/* ---- the list ---- */

REQUIRES (cluster)
static json_t *
cluster_shown (struct cluster *cluster, const struct member *member)
{
  json_t *entry = json_deep_copy (member->entry); /* whose references are counted under the lock */
  gint64 silent_us = g_get_monotonic_time () - member->seen_us;
  gboolean here = member->is_signed && member_is_of (member, cluster->instance);
  (void)json_object_del (entry, "number");
  json_object_set_new (entry, "signed", json_boolean (member->is_signed));
  json_object_set_new (entry, "here", json_boolean (here));
  json_object_set_new (entry, "seen_ms", json_integer (silent_us / 1000));
  return entry;
}

/* Of one name those that are signed come first, so that cluster_show finds them. */
static gint
member_compare (gconstpointer a, gconstpointer b)
{
  const struct member *one = a, *other = b;
  gint order = strcmp (json_member_text (one->entry, "node"), json_member_text (other->entry, "node"));
  return order != 0 ? order : other->is_signed - one->is_signed;
}

json_t *
cluster_list (struct cluster *cluster)
{
  json_t *nodes = json_array ();
  gboolean connected = cluster->binding->is_connected (cluster->bus);
  g_mutex_lock (&cluster->lock);
  cluster_prune (cluster);
  g_autoptr (GList) members = g_list_sort (g_hash_table_get_values (cluster->members), member_compare);
  for (const GList *at = members; at; at = at->next)
    json_array_append_new (nodes, cluster_shown (cluster, at->data));
  json_t *list = json_pack ("{s:b, s:o, s:o}", "connected", connected, "problem",
                            json_text_or_null (cluster->problem), "nodes", nodes);
  g_mutex_unlock (&cluster->lock);
  return list;
}

json_t *
cluster_show (struct cluster *cluster, const char *node, GError **error)
{
  g_autoptr (json_t) list = cluster_list (cluster);
  gsize i;
  json_t *entry;
  json_array_foreach (json_object_get (list, "nodes"), i, entry)
  {
    if (strcmp (json_member_text (entry, "node"), node) == 0 ||
        strcmp (json_member_text (entry, "tag"), node) == 0)
      return json_incref (entry);
  }
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no node %s in the cluster", node);
  error_add_advice (error, "; adder node list lists them");
  return NULL;
}
