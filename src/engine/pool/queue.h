/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that wait for a sandbox, in fair order: an owner with a hundred waiting runs does not keep one with
 * a single run waiting for all of them. Bounded, and fair there too: an owner that fills the queue makes room
 * for others. No lock of its own; everything is logarithmic in the number of places, except that a newcomer
 * at a full queue counts the owners. */
#pragma once

#include <glib.h>

struct queue;

/* A caller's place; embedded in the waiter. */
struct queue_place {
  const char *owner; /* the caller's, until it has left the queue */
  guint64 round, number;
  GSequenceIter *at; /* among all */
  GList of_owner;    /* among its owner's */
};

struct queue *queue_new (gsize most);
void queue_free (struct queue *queue);

/* FALSE when the queue is full. If another owner has at least two places more than PLACE's, the newest place
 * of the owner with the most makes room: it has left the queue, and is *RET_DISPLACED (else NULL).
 * PLACE->owner is set by the caller and stays. */
gboolean queue_enter (struct queue *queue, struct queue_place *place, struct queue_place **ret_displaced);
void queue_leave (struct queue *queue, struct queue_place *place);

gsize queue_length (const struct queue *queue);

/* The places in the order of service; NULL after the last. queue_serve may serve a later one: the first may
 * wait for something else. */
struct queue_place *queue_first (const struct queue *queue);
struct queue_place *queue_next (const struct queue_place *place);

/* As queue_leave, and counts as its owner's turn. */
void queue_serve (struct queue *queue, struct queue_place *place);
