/* SPDX-License-Identifier: Apache-2.0 */
/* What the callers' side of the pools (pool.c) and their threads (pool_thread.c) share.
 *
 * One lock guards all that callers touch: the queue, the counts, the lists of parked and of discarded boxes.
 * It is held for list operations only, never over a system call that waits. A box is in one list at a time,
 * by its `link`:
 *
 *     parking  -> parked -> (a run has it) -> discarded -> ending -> freed
 *     thread's    lock      nobody            lock         thread's
 */
#pragma once

#include "engine/environment.h"
#include "engine/pool.h"
#include "engine/queue.h"
#include "engine/zygote.h"

struct pools {
  const struct host *host;
  GMutex lock;
  GCond parked; /* a box was parked, or will not be */
  struct queue *queue;
  guint running; /* boxes that runs have, or had and that are not dead yet */
  gboolean closed;
  GHashTable *pools; /* name -> struct pool */
};

struct pool {
  struct pools *pools;
  char *name;
  GThread *thread;
  int wake_fd; /* eventfd */

  /* The environment as the newest zygote sees it. Written by the thread, read by callers who look whether it
   * changed. */
  GRWLock environment_lock;
  struct environment *environment;
  char *fingerprint;

  /* under pools->lock */
  GQueue parked, discarded;
  gboolean wanted;  /* somebody asked for a sandbox since the last failed start */
  gboolean stale;   /* the environment changed: no sandbox of the present zygote may be handed out */
  gboolean serving; /* there is a zygote that serves */
  GError *failure;  /* why the last start failed; gone with the next one that does not */
  gint64 retry_us;  /* when the next start may be tried */
  guint zygotes, parking_count;
  guint64 starts, parkings, refusals; /* refusals: times that callers were told of an error */

  /* the thread's own */
  struct zygote *current, *next;
  GPtrArray *draining; /* zygotes that are replaced or dead, and whose boxes are not all gone */
  GQueue parking, ending;
  guint failures;      /* in a row: starts and parkings */
  gint64 spawn_us;     /* when a sandbox may be asked for again, after a failure */
  gboolean old_parked; /* boxes of a replaced zygote are still parked */
};

/* A caller in the queue. */
struct waiter {
  struct queue_place place; /* first, so that the one is the other */
  struct pool *pool;
  const struct limits *limits;
  struct interrupt *interrupt;
  struct box *box;
  GError *error;
  gboolean done; /* BOX or ERROR is set */
};

/* Whether the pool keeps boxes of this shape parked; others are made on demand. */
gboolean pool_keeps_shape (const struct limits *limits);

/* With the lock held: hands parked boxes to waiting callers, in their order. */
void pools_dispatch (struct pools *pools);

/* With the lock held: all who wait for POOL get a copy of ERROR. */
void pool_fail_waiters (struct pool *pool, const GError *error);

void pool_wake (struct pool *pool);

/* The thread's function; DATA is the pool. */
gpointer pool_thread (gpointer data);
