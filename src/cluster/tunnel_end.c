/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/tunnel_end.h"

#include <string.h>

#include "adder_types.h"
#include "common/random_bytes.h"

#define RANDOM_BYTES 16
#define ADDRESS_MAX  80
#define LOST         "a message between nodes was lost"

LOCK_CLASS (tunnel_ends);

struct tunnel_ends {
  struct cluster *cluster;
  struct bus_subscription *subscription;

  MUTEX (tunnel_ends) lock;
  GCond heard;
  GUARDED_BY (tunnel_ends) GHashTable *ends; /* of struct tunnel_end, by address */
  GUARDED_BY (tunnel_ends) const struct tunnel_end *hearing;
};

/* ---- what comes ---- */

/* A node took too late what has been given up; it need not wait to start it. */
static void
tunnel_ends_refuse (struct tunnel_ends *ends, const char *address, const struct bus_message *message)
{
  struct tunnel_end end = {.cluster = ends->cluster};
  struct frame frame;
  frame_make_key (ends->cluster->secret, address, &end.in);
  const char *from = NULL;
  if (frame_open (&end.in, 0, message->data, message->length, &frame) == FRAME_NEXT &&
      frame.kind == FRAME_TAKEN)
    from = memchr (frame.bytes, ' ', frame.length);
  if (!from)
    return;
  g_autofree char *other = g_strndup (from + 1, (gsize)(frame.bytes + frame.length - from - 1));
  g_mutex_init (&end.lock);
  if (tunnel_end_bind (&end, other))
    tunnel_end_send (&end, FRAME_LEFT, "", 0);
  g_mutex_clear (&end.lock);
  g_free (end.to);
}

static void
tunnel_end_hear (struct tunnel_end *end, const struct bus_message *message)
{
  struct frame frame;
  if (message->nobody) {
    if (end->received == 0)
      end->hear (end, NULL);
    return;
  }
  switch (frame_open (&end->in, end->received, message->data, message->length, &frame)) {
  case FRAME_NEXT:
    end->received++;
    end->hear (end, &frame);
    break;
  case FRAME_GAP: {
    char reason[64];
    g_snprintf (reason, sizeof reason, "%d %s", ADDER_ERROR_UNAVAILABLE, LOST);
    end->hear (end, &(struct frame){FRAME_FAILED, reason, strlen (reason)});
    break;
  }
  case FRAME_STRANGE:
  default:
    break;
  }
}

static void
tunnel_ends_hear (gpointer data, const struct bus_message *message)
{
  struct tunnel_ends *ends = data;
  const char *address = message->subject + strlen (TUNNEL_END);
  g_mutex_lock (&ends->lock);
  struct tunnel_end *end = g_hash_table_lookup (ends->ends, address);
  ends->hearing = end;
  g_mutex_unlock (&ends->lock);
  if (!end) {
    tunnel_ends_refuse (ends, address, message);
    return;
  }
  tunnel_end_hear (end, message);
  g_mutex_lock (&ends->lock);
  ends->hearing = NULL;
  g_cond_broadcast (&ends->heard);
  g_mutex_unlock (&ends->lock);
}

/* ---- one end ---- */

void
tunnel_end_add (struct tunnel_end *end, struct cluster *cluster,
                void (*hear) (struct tunnel_end *end, const struct frame *frame))
{
  struct tunnel_ends *ends = cluster->ends;
  guint64 random[RANDOM_BYTES / sizeof (guint64)];
  random_bytes (random, sizeof random);
  end->cluster = cluster;
  end->hear = hear;
  end->address = g_strdup_printf ("%s.%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                                  cluster->instance, random[0], random[1]);
  frame_make_key (cluster->secret, end->address, &end->in);
  g_mutex_init (&end->lock);
  g_mutex_lock (&ends->lock);
  g_hash_table_insert (ends->ends, end->address, end);
  g_mutex_unlock (&ends->lock);
}

void
tunnel_end_remove (struct tunnel_end *end)
{
  struct tunnel_ends *ends = end->cluster->ends;
  g_mutex_lock (&ends->lock);
  g_hash_table_remove (ends->ends, end->address);
  while (ends->hearing == end)
    g_cond_wait (&ends->heard, &ends->lock);
  g_mutex_unlock (&ends->lock);
  UNSHARED (tunnel_end);
  g_mutex_clear (&end->lock);
  g_free (end->to);
  g_free (end->address);
}

gboolean
tunnel_end_bind (struct tunnel_end *end, const char *address)
{
  if (strlen (address) > ADDRESS_MAX || strspn (address, "0123456789abcdef-.") != strlen (address) ||
      !strchr (address, '.') || strchr (address, '.') != strrchr (address, '.'))
    return FALSE;
  g_mutex_lock (&end->lock);
  end->to = g_strconcat (TUNNEL_END, address, NULL);
  frame_make_key (end->cluster->secret, address, &end->out);
  g_mutex_unlock (&end->lock);
  return TRUE;
}

void
tunnel_end_send (struct tunnel_end *end, enum frame_kind kind, const char *bytes, gsize length)
{
  const struct cluster *cluster = end->cluster;
  gsize size;
  g_mutex_lock (&end->lock);
  if (end->to) {
    g_autofree char *data = frame_seal (&end->out, end->sent++, kind, bytes, length, &size);
    (void)cluster->binding->publish (cluster->bus, end->to, NULL, data, size, NULL);
  }
  g_mutex_unlock (&end->lock);
}

void
tunnel_end_send_number (struct tunnel_end *end, enum frame_kind kind, guint64 number)
{
  char digits[24];
  g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, number);
  tunnel_end_send (end, kind, digits, strlen (digits));
}

/* ---- all of them ---- */

struct tunnel_ends *
tunnel_ends_new (struct cluster *cluster, GError **error)
{
  struct tunnel_ends *ends = g_new0 (struct tunnel_ends, 1);
  g_autofree char *subject = g_strconcat (TUNNEL_END, cluster->instance, ".*", NULL);
  ends->cluster = cluster;
  g_mutex_init (&ends->lock);
  g_cond_init (&ends->heard);
  ends->ends = g_hash_table_new (g_str_hash, g_str_equal);
  ends->subscription =
      cluster->binding->subscribe (cluster->bus, subject, NULL, 0, tunnel_ends_hear, ends, error);
  if (ends->subscription)
    return ends;
  tunnel_ends_free (ends);
  return NULL;
}

void
tunnel_ends_free (struct tunnel_ends *ends)
{
  if (!ends)
    return;
  if (ends->subscription)
    ends->cluster->binding->unsubscribe (ends->subscription);
  UNSHARED (tunnel_ends);
  g_hash_table_unref (ends->ends);
  g_mutex_clear (&ends->lock);
  g_cond_clear (&ends->heard);
  g_free (ends);
}
