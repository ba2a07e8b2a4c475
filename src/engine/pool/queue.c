/* SPDX-License-Identifier: Apache-2.0 */
/* Start-time fair queueing with runs of equal weight: a place gets the round after the last one of its owner,
 * or after the present round when the owner has nothing waiting; places are served by round, then in order of
 * arrival.
 *
 * In a full queue, an owner with one place fewer than another gets none of theirs: the two would only swap
 * roles, and the next newcomer would swap them back, each time at the cost of a waiter. */
#include "engine/pool/queue.h"

struct queue {
  gsize most;
  guint64 round;      /* of the place served last */
  guint64 arrived;    /* places that ever entered */
  GSequence *places;  /* in the order of service */
  GHashTable *owners; /* name -> GQueue of places, oldest first; of waiting owners */
};

static void
free_owner (gpointer places)
{
  g_queue_init (places); /* its links are the places' own */
  g_free (places);
}

struct queue *
queue_new (gsize most)
{
  struct queue *queue = g_new0 (struct queue, 1);
  queue->most = most;
  queue->places = g_sequence_new (NULL);
  queue->owners = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_owner);
  return queue;
}

void
queue_free (struct queue *queue)
{
  if (!queue)
    return;
  g_hash_table_unref (queue->owners);
  g_sequence_free (queue->places);
  g_free (queue);
}

static struct queue_place *
newest (const GQueue *owner)
{
  return owner->tail->data;
}

/* Of the owner with the most places, if that is at least two more than COUNT. */
static struct queue_place *
find_displaced (const struct queue *queue, gsize count)
{
  struct queue_place *found = NULL;
  gsize most = count + 2;
  GHashTableIter iter;
  gpointer owner;
  g_hash_table_iter_init (&iter, queue->owners);
  while (g_hash_table_iter_next (&iter, NULL, &owner)) {
    const GQueue *places = owner;
    if (places->length < most)
      continue;
    if (!found || places->length > most || newest (places)->number > found->number)
      found = newest (places);
    most = places->length;
  }
  return found;
}

static int
queue_compare (gconstpointer a, gconstpointer b, G_GNUC_UNUSED gpointer data)
{
  const struct queue_place *one = a, *other = b;
  if (one->round != other->round)
    return one->round < other->round ? -1 : 1;
  return one->number < other->number ? -1 : one->number > other->number;
}

gboolean
queue_enter (struct queue *queue, struct queue_place *place, struct queue_place **ret_displaced)
{
  GQueue *owner = g_hash_table_lookup (queue->owners, place->owner);
  struct queue_place *displaced = NULL;
  if (queue_length (queue) >= queue->most) {
    displaced = find_displaced (queue, owner ? owner->length : 0);
    if (!displaced)
      return FALSE;
    queue_leave (queue, displaced);
  }
  if (!owner) {
    owner = g_new0 (GQueue, 1);
    g_hash_table_insert (queue->owners, g_strdup (place->owner), owner);
  }
  place->round = MAX (owner->length > 0 ? newest (owner)->round : 0, queue->round) + 1;
  place->number = queue->arrived++;
  place->of_owner = (GList){.data = place};
  g_queue_push_tail_link (owner, &place->of_owner);
  place->at = g_sequence_insert_sorted (queue->places, place, queue_compare, NULL);
  *ret_displaced = displaced;
  return TRUE;
}

void
queue_leave (struct queue *queue, struct queue_place *place)
{
  g_sequence_remove (place->at);
  GQueue *owner = g_hash_table_lookup (queue->owners, place->owner);
  g_queue_unlink (owner, &place->of_owner);
  if (owner->length == 0)
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
  return (gsize)g_sequence_get_length (queue->places);
}

static struct queue_place *
place_at (GSequenceIter *at)
{
  return g_sequence_iter_is_end (at) ? NULL : g_sequence_get (at);
}

struct queue_place *
queue_first (const struct queue *queue)
{
  return place_at (g_sequence_get_begin_iter (queue->places));
}

struct queue_place *
queue_next (const struct queue_place *place)
{
  return place_at (g_sequence_iter_next (place->at));
}
