/* SPDX-License-Identifier: Apache-2.0 */
/* Start-time fair queueing with runs of equal weight: a place gets the round after the last one of its owner,
 * or the present round when the owner has nothing waiting; places are served by round, then in order of
 * arrival. */
#include "engine/queue.h"

struct queue {
  gsize most;
  guint64 round;   /* of the place that was served last */
  guint64 arrived; /* places that ever entered */
  GQueue places;
  GHashTable *owners; /* name -> struct owner, of those who wait */
};

struct owner {
  gsize waiting;
  guint64 last_round;
};

struct queue *
queue_new (gsize most)
{
  struct queue *queue = g_new0 (struct queue, 1);
  queue->most = most;
  g_queue_init (&queue->places);
  queue->owners = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return queue;
}

void
queue_free (struct queue *queue)
{
  if (!queue)
    return;
  g_hash_table_unref (queue->owners);
  g_free (queue);
}

static struct owner *
get_owner (struct queue *queue, const char *name)
{
  struct owner *owner = g_hash_table_lookup (queue->owners, name);
  if (!owner) {
    owner = g_new0 (struct owner, 1);
    owner->last_round = queue->round;
    g_hash_table_insert (queue->owners, g_strdup (name), owner);
  }
  return owner;
}

static gboolean
is_before (const struct queue_place *a, const struct queue_place *b)
{
  return a->round != b->round ? a->round < b->round : a->number < b->number;
}

gboolean
queue_enter (struct queue *queue, struct queue_place *place)
{
  if (queue->places.length >= queue->most)
    return FALSE;
  struct owner *owner = get_owner (queue, place->owner);
  owner->waiting++;
  owner->last_round = MAX (owner->last_round, queue->round) + 1;
  place->round = owner->last_round;
  place->number = queue->arrived++;
  place->link = (GList){.data = place};

  /* Most places belong at the end or near it. */
  GList *after = queue->places.tail;
  while (after && is_before (place, after->data))
    after = after->prev;
  if (after)
    g_queue_insert_after_link (&queue->places, after, &place->link);
  else
    g_queue_push_head_link (&queue->places, &place->link);
  return TRUE;
}

void
queue_leave (struct queue *queue, struct queue_place *place)
{
  g_queue_unlink (&queue->places, &place->link);
  struct owner *owner = g_hash_table_lookup (queue->owners, place->owner);
  if (--owner->waiting == 0)
    g_hash_table_remove (queue->owners, place->owner);
}

void
queue_serve (struct queue *queue, struct queue_place *place)
{
  queue->round = MAX (queue->round, place->round);
  queue_leave (queue, place);
}

gsize
queue_length (const struct queue *queue)
{
  return queue->places.length;
}

struct queue_place *
queue_first (const struct queue *queue)
{
  return queue->places.head ? queue->places.head->data : NULL;
}

struct queue_place *
queue_next (const struct queue_place *place)
{
  return place->link.next ? place->link.next->data : NULL;
}
