/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that wait for a sandbox, in fair order: an owner with a hundred waiting runs does not keep one with
 * a single run waiting for all of them. Bounded, and fair there too: who fills the queue makes room for
 * others. Has no lock of its own; nothing here takes longer than the logarithm of what waits, but for a
 * newcomer at a full queue, who has the owners counted. */
#pragma once

#include <glib.h>

struct queue;

/* A caller's place; embedded in what waits. */
struct queue_place {
  const char *owner; /* the caller's, until it left the queue */
  guint64 round, number;
  GSequenceIter *at; /* among all */
  GList of_owner;    /* among its owner's */
};

struct queue *queue_new (gsize most);
void queue_free (struct queue *queue);

/* FALSE when the queue is full. Where another owner has at least two places more than PLACE's, the newest of
 * the one who has most makes room: it has left the queue, and is *RET_DISPLACED (else NULL). PLACE->owner is
 * set by the caller and stays. */
gboolean queue_enter (struct queue *queue, struct queue_place *place, struct queue_place **ret_displaced);
void queue_leave (struct queue *queue, struct queue_place *place);

gsize queue_length (const struct queue *queue);

/* The places in the order in which they are to be served; NULL after the last. The one that is left next
 * after queue_serve need not be the first: who waits for something else may be passed over. */
struct queue_place *queue_first (const struct queue *queue);
struct queue_place *queue_next (const struct queue_place *place);

/* As queue_leave, and counts as a turn of its owner. */
void queue_serve (struct queue *queue, struct queue_place *place);
