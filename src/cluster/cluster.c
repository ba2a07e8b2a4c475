/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_private.h"
#include "cluster/tunnel_end.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adder_types.h"
#include "build-config.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/module.h"
#include "common/secret_file.h"
#include "common/text.h"
#include "engine/host/id.h"

#define BUCKET        "adder-nodes"
#define SUBJECT       "$KV." BUCKET "."
#define TAG_MIN       (ID_QUEUED + 1u)
#define TAG_MAX       0xffffffu
#define SECRET_MIN    32
#define OWN_SILENT_US ((gint64)(CLUSTER_SILENT_MS - CLUSTER_BEAT_MS) * 1000) /* without an own entry */
#define STATE_LEFT    "left"
#define AGAIN_MS      5000 /* between logins, when the servers refuse them */

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

static guint32
tag_of (const char *node)
{
  guint8 digest[32];
  gsize length = sizeof digest;
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_checksum_update (checksum, (const guchar *)node, -1);
  g_checksum_get_digest (checksum, digest, &length);
  return MAX ((guint32)(digest[0] << 16 | digest[1] << 8 | digest[2]), TAG_MIN);
}

static void
tag_text (guint32 tag, char ret_text[8])
{
  g_snprintf (ret_text, 8, "%06x", tag);
}

/* ---- what others tell ---- */

static gboolean
member_is_silent (const struct member *member, gint64 now_us)
{
  return now_us - member->seen_us > (gint64)CLUSTER_SILENT_MS * 1000;
}

REQUIRES (cluster)
static void
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

static guint32
cluster_tag (struct cluster *cluster)
{
  g_mutex_lock (&cluster->lock);
  guint32 tag = cluster->tag;
  g_mutex_unlock (&cluster->lock);
  return tag;
}

/* That of this process. A connection that is cut off is noticed late, and what was sent meanwhile may come
 * after all: who is not known then need not be gone. */
REQUIRES (cluster)
static void
cluster_hear_own (struct cluster *cluster)
{
  gint64 now_us = g_get_monotonic_time ();
  if (now_us - cluster->heard_us >= OWN_SILENT_US)
    cluster->hears_us = now_us;
  cluster->heard_us = now_us;
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
    cluster->doors_us = g_hash_table_remove (cluster->members, key) ? 0 : cluster->doors_us;
    json_decref (entry);
    return;
  }
  struct member *member = g_new (struct member, 1);
  *member = (struct member){entry, cluster->guests, is_signed,
                            json_integer_value (json_object_get (entry, "number")), g_get_monotonic_time ()};
  if (g_hash_table_replace (cluster->members, g_strdup (key), member))
    cluster->doors_us = 0;
  member_index_guests (member);
  g_cond_broadcast (&cluster->heard);
}

/* An entry without a state only claims the tag: it is heard even where JetStream refuses it. */
static void
cluster_hear (gpointer data, const struct bus_message *message)
{
  struct cluster *cluster = data;
  const char *key = message->subject + strlen (SUBJECT);
  gboolean is_signed;
  g_autoptr (json_t) entry = entry_parse (cluster->secret, key, message->data, message->length, &is_signed);
  g_mutex_lock (&cluster->lock);
  if (message->length == 0)
    cluster_hear_removal (cluster, key);
  else if (entry && json_object_get (entry, "state") && cluster_believes (cluster, key, entry, is_signed))
    cluster_hear_entry (cluster, key, g_steal_pointer (&entry), is_signed);
  g_mutex_unlock (&cluster->lock);
}

static void
cluster_hear_free (gpointer data, const struct bus_message *message)
{
  (void)message;
  struct cluster *cluster = data;
  g_mutex_lock (&cluster->lock);
  cluster->frees++;
  g_cond_broadcast (&cluster->freed);
  g_mutex_unlock (&cluster->lock);
}

void
cluster_wait_free (struct cluster *cluster, guint64 ms)
{
  gint64 end_us = g_get_monotonic_time () + (gint64)ms * 1000;
  g_atomic_int_inc (&cluster->waiting);
  g_mutex_lock (&cluster->lock);
  guint64 before = cluster->frees;
  while (cluster->frees == before && g_cond_wait_until (&cluster->freed, &cluster->lock, end_us))
    ;
  g_mutex_unlock (&cluster->lock);
  g_atomic_int_add (&cluster->waiting, -1);
}

void
cluster_add_waiting (struct cluster *cluster, json_t *status)
{
  json_int_t waiting = json_integer_value (json_object_get (status, "waiting"));
  json_object_set_new (status, "waiting", json_integer (waiting + g_atomic_int_get (&cluster->waiting)));
}

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
cluster_has_heard (struct cluster *cluster)
{
  g_mutex_lock (&cluster->lock);
  gint64 now_us = g_get_monotonic_time (), since_us = MAX (cluster->claimed_us, cluster->hears_us);
  gboolean heard = cluster->claimed && now_us - cluster->heard_us < OWN_SILENT_US &&
                   now_us - since_us >= (gint64)CLUSTER_SILENT_MS * 1000;
  g_mutex_unlock (&cluster->lock);
  return heard;
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
    const json_t *entry = ((const struct member *)value)->entry;
    if (strcmp (json_member_text (entry, "instance"), cluster->instance) != 0)
      count += json_integer_value (json_object_get (json_object_get (entry, "owners"), owner));
  }
  g_mutex_unlock (&cluster->lock);
  return (guint)CLAMP (count, 0, G_MAXINT);
}

REQUIRES (cluster)
static guint
cluster_count_doors (struct cluster *cluster)
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
  return MAX (all == 0 ? cluster->doors : gateways == 0 ? all : gateways + !is_gateway, 1);
}

/* Each request asks, so they are counted when one comes or leaves, and once in a second for those that die.
 */
guint
cluster_doors (struct cluster *cluster)
{
  gint64 now_us = g_get_monotonic_time ();
  g_mutex_lock (&cluster->lock);
  if (cluster->doors_us == 0 || now_us - cluster->doors_us > (gint64)CLUSTER_BEAT_MS * 1000) {
    cluster->doors = cluster_count_doors (cluster);
    cluster->doors_us = now_us;
  }
  guint doors = cluster->doors;
  g_mutex_unlock (&cluster->lock);
  return doors;
}

const char *
cluster_instance (const struct cluster *cluster)
{
  return cluster->instance;
}

guint32
cluster_own_tag (const struct cluster *cluster)
{
  return cluster_tag ((struct cluster *)(guintptr)cluster);
}

gboolean
cluster_tag_text (struct cluster *cluster, char ret_text[8])
{
  g_mutex_lock (&cluster->lock);
  tag_text (cluster->tag, ret_text);
  gboolean claimed = cluster->claimed;
  g_mutex_unlock (&cluster->lock);
  return claimed;
}

void
cluster_watch_tag (struct cluster *cluster, int event_fd)
{
  g_mutex_lock (&cluster->lock);
  cluster->tag_fd = event_fd;
  g_mutex_unlock (&cluster->lock);
}

/* ---- what this one tells ---- */

static void
cluster_set_problem (struct cluster *cluster, const char *problem)
{
  g_mutex_lock (&cluster->lock);
  /* Why there is no connection may be told in several ways in turn. */
  gboolean is_new = g_strcmp0 (cluster->problem, problem) != 0 &&
                    !(problem && cluster->problem && g_str_has_prefix (problem, CLUSTER_AWAY) &&
                      g_str_has_prefix (cluster->problem, CLUSTER_AWAY));
  g_free (cluster->problem);
  cluster->problem = g_strdup (problem);
  g_mutex_unlock (&cluster->lock);
  if (is_new && problem)
    log_warning ("cluster: %s", problem);
}

/* An entry with MORE, under KEY, as it is sent next; the caller's. */
static char *
cluster_entry (struct cluster *cluster, const char *key, json_t *more)
{
  g_mutex_lock (&cluster->lock);
  gint64 number = entry_clock_next (&cluster->clock, g_get_real_time ());
  g_mutex_unlock (&cluster->lock);
  g_autoptr (json_t) entry =
      json_pack ("{s:s, s:s, s:s, s:s, s:i, s:s, s:I}", "node", cluster->node, "tag", key, "instance",
                 cluster->instance, "version", ADDER_VERSION, "protocol", CLUSTER_PROTOCOL, "started",
                 cluster->started, "number", (json_int_t)number);
  json_object_update (entry, more);
  return entry_sign (cluster->secret, key, entry);
}

static void
cluster_send_entry (struct cluster *cluster, const char *key, json_t *more)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *subject = g_strconcat (SUBJECT, key, NULL);
  g_autofree char *text = cluster_entry (cluster, key, more);
  if (!cluster->binding->publish (cluster->bus, subject, NULL, text, strlen (text), &problem))
    cluster_set_problem (cluster, problem->message);
}

static void
cluster_take_tag (struct cluster *cluster, guint32 tag, gboolean claimed)
{
  g_mutex_lock (&cluster->lock);
  cluster->tag = tag;
  if (claimed && !cluster->claimed)
    cluster->claimed_us = g_get_monotonic_time ();
  cluster->claimed = claimed;
  cluster->woken = TRUE;
  if (claimed)
    cluster->had_tag = tag;
  g_mutex_unlock (&cluster->lock);
  cluster->options.tagged (tag);
  g_mutex_lock (&cluster->lock);
  if (cluster->tag_fd >= 0)
    (void)eventfd_write (cluster->tag_fd, 1);
  g_mutex_unlock (&cluster->lock);
  if (claimed)
    log_info ("cluster: this is the node %s (%06x)", cluster->node, tag);
}

/* Whether ENTRY is what a node says of itself now. */
static gboolean
cluster_is_current (struct cluster *cluster, const json_t *entry, gboolean is_signed)
{
  g_mutex_lock (&cluster->lock);
  gboolean is_current =
      is_signed && entry_clock_hear (&cluster->clock, json_integer_value (json_object_get (entry, "number")),
                                     g_get_monotonic_time ());
  g_mutex_unlock (&cluster->lock);
  return is_current;
}

/* TEXT is under KEY already: what this node put there before the connection broke, or somebody else. The
 * claim of a node that has just died stands until its entry expires. A name that another daemon keeps
 * claiming is never ours; the number of another name only happens to be the same. What anybody could have put
 * there does not take away the tag that this node already had. */
static void
cluster_see_claim (struct cluster *cluster, guint32 tag, const char *key, const char *text)
{
  gboolean is_signed = FALSE;
  g_autoptr (json_t) other = entry_parse (cluster->secret, key, text, strlen (text), &is_signed);
  gboolean is_current = cluster_is_current (cluster, other, is_signed);
  gboolean is_ours = is_current ? strcmp (json_member_text (other, "instance"), cluster->instance) == 0
                                : cluster->had_tag == tag;
  if (is_ours) {
    cluster_take_tag (cluster, tag, TRUE);
    cluster_set_problem (cluster, NULL);
  } else if (strcmp (json_member_text (other, "node"), cluster->node) == 0)
    cluster_set_problem (cluster, "another daemon is the node of this name, or was until just now; each "
                                  "needs a [store] node of its own");
  else
    cluster_take_tag (cluster, tag == TAG_MAX ? TAG_MIN : tag + 1, FALSE);
}

static void
cluster_claim_tag (struct cluster *cluster)
{
  g_autoptr (GError) problem = NULL;
  guint32 tag = cluster_tag (cluster);
  char key[8];
  tag_text (tag, key);
  g_autofree char *text = cluster_entry (cluster, key, NULL);
  g_autofree char *value = NULL;
  switch (cluster->binding->put_new (cluster->bus, BUCKET, key, text, &value, &problem)) {
  case BUS_PUT:
    cluster_take_tag (cluster, tag, TRUE);
    cluster_set_problem (cluster, NULL);
    break;
  case BUS_TAKEN:
    cluster_see_claim (cluster, tag, key, value);
    break;
  case BUS_FAILED:
  default:
    cluster_set_problem (cluster, problem->message);
  }
}

static void
cluster_claim (struct cluster *cluster)
{
  g_autoptr (GError) problem = NULL;
  if (cluster->binding->keep_bucket (cluster->bus, BUCKET, CLUSTER_SILENT_MS, &problem))
    cluster_claim_tag (cluster);
  else
    cluster_set_problem (cluster, problem->message);
}

static void
cluster_beat (struct cluster *cluster)
{
  char key[8];
  tag_text (cluster_tag (cluster), key);
  g_autoptr (json_t) more = cluster->options.describe (cluster->options.data);
  cluster_add_waiting (cluster, more);
  cluster_send_entry (cluster, key, more);
}

void
cluster_tell (struct cluster *cluster)
{
  if (!cluster)
    return;
  g_mutex_lock (&cluster->lock);
  cluster->woken = TRUE;
  g_cond_signal (&cluster->changed);
  g_mutex_unlock (&cluster->lock);
}

/* A server that was restarted has forgotten the bucket. */
static void
cluster_changed (gpointer data)
{
  struct cluster *cluster = data;
  g_mutex_lock (&cluster->lock);
  cluster->claimed = FALSE;
  cluster->woken = TRUE;
  g_atomic_int_set (&cluster->queue_kept, FALSE);
  g_cond_signal (&cluster->changed);
  g_mutex_unlock (&cluster->lock);
}

char *
cluster_away (struct cluster *cluster)
{
  g_autofree char *why = cluster->binding->is_over (cluster->bus)
                             ? g_strdup ("it refuses the login of this daemon")
                             : cluster->binding->last_problem (cluster->bus);
  return g_strdup_printf (CLUSTER_AWAY " (%s): %s", cluster->servers, why);
}

const char *
cluster_told (const GError *problem)
{
  static const struct {
    const char *begin, *told; /* NULL: as it is */
    gboolean is_logged;
  } known[] = {
      {"node_lost: ", NULL, FALSE},
      {"a node of the cluster ", NULL, FALSE},
      {"a message between nodes ", NULL, FALSE},
      {CLUSTER_AWAY, "the cluster is not connected at the moment: try again later", FALSE},
      {BUS_PROBLEM, "the cluster cannot do this at the moment: try again later (the daemon's log says why)",
       TRUE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_error_matches (problem, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE) &&
        g_str_has_prefix (problem->message, known[i].begin)) {
      if (known[i].is_logged)
        log_warning_once ("cluster", problem->message);
      return known[i].told ? known[i].told : problem->message;
    }
  return NULL;
}

/* ---- the thread ---- */

/* Servers that refuse a login may accept it later: what they know, or the file of credentials, was put right.
 */
static void
cluster_connect_again (struct cluster *cluster, gint64 *last_us)
{
  gint64 now_us = g_get_monotonic_time ();
  if (!cluster->binding->is_over (cluster->bus) || now_us - *last_us < AGAIN_MS * 1000)
    return;
  *last_us = now_us;
  (void)cluster->binding->open_again (cluster->bus, NULL);
}

static gpointer
cluster_live (gpointer data)
{
  struct cluster *cluster = data;
  gint64 again_us = g_get_monotonic_time ();
  g_mutex_lock (&cluster->lock);
  while (!cluster->ending) {
    gboolean claimed = cluster->claimed;
    g_mutex_unlock (&cluster->lock);
    gboolean connected = cluster->binding->is_connected (cluster->bus);
    if (!connected) {
      g_autofree char *away = cluster_away (cluster);
      cluster_set_problem (cluster, away);
      cluster_connect_again (cluster, &again_us);
    } else if (claimed)
      cluster_beat (cluster);
    else
      cluster_claim (cluster);
    gint64 next = g_get_monotonic_time () + (gint64)CLUSTER_BEAT_MS * 1000;
    g_mutex_lock (&cluster->lock);
    cluster_prune (cluster);
    while (!cluster->ending && !cluster->woken && g_cond_wait_until (&cluster->changed, &cluster->lock, next))
      ;
    cluster->woken = FALSE;
  }
  g_mutex_unlock (&cluster->lock);
  return NULL;
}

/* libnats would find out when it connects, again and again. */
static gboolean
cluster_check (const struct config *config, GError **error)
{
  const struct {
    const char *key, *path;
  } files[] = {{"credentials", config->cluster_credentials},
               {"ca", config->cluster_ca},
               {"certificate", config->cluster_certificate},
               {"key", config->cluster_key}};
  g_auto (GStrv) servers = g_strsplit (config->cluster_nats, " ", -1);
  for (char **server = servers; *server; server++)
    if (!g_str_has_prefix (*server, "nats://") && !g_str_has_prefix (*server, "tls://")) {
      g_autofree char *shown = text_without_password (*server);
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                   "[cluster] nats: \"%s\" begins neither with nats:// nor with tls://", shown);
      return FALSE;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    if (files[i].path && access (files[i].path, R_OK) != 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "[cluster] %s: cannot read %s: %s", files[i].key,
                   files[i].path, g_strerror (errno));
      return FALSE;
    }
  const char *problem = NULL;
  if (!config->cluster_certificate != !config->cluster_key)
    problem = "[cluster] certificate and key are of use only together";
  else if (!config->cluster_secret_file)
    problem =
        "[cluster] secret_file is missing: all nodes share a secret, such as openssl rand -hex 32 prints";
  if (problem)
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_INVALID, problem);
  return !problem;
}

/* SERVERS without names and passwords; the caller's. */
static char *
cluster_shown_servers (const char *servers)
{
  g_auto (GStrv) list = g_strsplit (servers, " ", -1);
  GString *shown = g_string_new (NULL);
  for (char **server = list; *server; server++) {
    const char *at = strrchr (*server, '@'), *host = strstr (*server, "://") + strlen ("://");
    g_string_append (shown, shown->len > 0 ? ", " : "");
    g_string_append_len (shown, *server, host - *server);
    g_string_append (shown, at ? at + 1 : host);
  }
  return g_string_free (shown, FALSE);
}

struct cluster *
cluster_new (const struct cluster_options *options, GError **error)
{
  const struct config *config = options->config;
  const struct bus_binding *binding =
      cluster_check (config, error) ? module_load (BUS_MODULE, BUS_SYMBOL, error) : NULL;
  if (!binding)
    return NULL;
  g_autofree char *secret = secret_file_read (config->cluster_secret_file, "[cluster] secret_file", error);
  if (!secret)
    return NULL;
  if (strlen (secret) < SECRET_MIN) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "[cluster] secret_file: it has fewer than %d characters", SECRET_MIN);
    return NULL;
  }
  char instance[ID_BYTES];
  id_make (instance);
  struct cluster *cluster = g_new0 (struct cluster, 1);
  cluster->binding = binding;
  cluster->options = *options;
  cluster->node = g_strdup (options->node);
  cluster->instance = g_strdup (instance);
  cluster->secret = g_steal_pointer (&secret);
  work_queue_name (cluster);
  cluster->servers = cluster_shown_servers (config->cluster_nats);
  cluster->started = text_time (g_get_real_time ());
  g_mutex_init (&cluster->lock);
  g_cond_init (&cluster->changed);
  g_cond_init (&cluster->freed);
  g_cond_init (&cluster->heard);
  cluster->members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, member_free);
  cluster->guests = g_hash_table_new (g_str_hash, g_str_equal);
  cluster->tag = tag_of (cluster->node);
  cluster->tag_fd = -1;
  options->tagged (cluster->tag);
  const struct bus_options bus_options = {
      .servers = config->cluster_nats,
      .credentials = config->cluster_credentials,
      .ca = config->cluster_ca,
      .certificate = config->cluster_certificate,
      .key = config->cluster_key,
      .name = cluster->node,
      .changed = cluster_changed,
      .data = cluster,
  };
  cluster->bus = binding->open (&bus_options, error);
  if (cluster->bus)
    cluster->beats = binding->subscribe (cluster->bus, SUBJECT "*", NULL, 0, cluster_hear, cluster, error);
  if (cluster->beats)
    cluster->frees_heard =
        binding->subscribe (cluster->bus, TUNNEL_FREE, NULL, 0, cluster_hear_free, cluster, error);
  if (cluster->frees_heard)
    cluster->ends = tunnel_ends_new (cluster, error);
  if (!cluster->ends) {
    cluster_free (cluster);
    return NULL;
  }
  log_info ("cluster: libnats %s", binding->version ());
  cluster->thread = g_thread_new ("cluster", cluster_live, cluster);
  return cluster;
}

static void
cluster_leave (struct cluster *cluster)
{
  char key[8];
  g_mutex_lock (&cluster->lock);
  cluster->ending = TRUE;
  g_cond_signal (&cluster->changed);
  g_mutex_unlock (&cluster->lock);
  g_thread_join (cluster->thread);
  g_mutex_lock (&cluster->lock);
  tag_text (cluster->tag, key);
  gboolean claimed = cluster->claimed;
  g_mutex_unlock (&cluster->lock);
  if (!claimed || !cluster->binding->is_connected (cluster->bus))
    return;
  g_autoptr (json_t) left = json_pack ("{s:s}", "state", STATE_LEFT);
  cluster_send_entry (cluster, key, left);
  cluster->binding->remove (cluster->bus, BUCKET, key);
}

void
cluster_free (struct cluster *cluster)
{
  if (!cluster)
    return;
  if (cluster->thread)
    cluster_leave (cluster);
  if (cluster->beats)
    cluster->binding->unsubscribe (cluster->beats);
  if (cluster->frees_heard)
    cluster->binding->unsubscribe (cluster->frees_heard);
  tunnel_ends_free (cluster->ends);
  if (cluster->bus)
    cluster->binding->close (cluster->bus);
  UNSHARED (cluster);
  g_hash_table_unref (cluster->members);
  g_hash_table_unref (cluster->guests);
  g_mutex_clear (&cluster->lock);
  g_cond_clear (&cluster->changed);
  g_cond_clear (&cluster->freed);
  g_cond_clear (&cluster->heard);
  g_free (cluster->problem);
  g_free (cluster->secret);
  g_free (cluster->queue_subject);
  g_free (cluster->queue_pullers);
  g_free (cluster->servers);
  g_free (cluster->node);
  g_free (cluster->instance);
  g_free (cluster->started);
  g_free (cluster);
}

/* ---- what is known ---- */

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
