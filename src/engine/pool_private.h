/* SPDX-License-Identifier: Apache-2.0 */
/* What the callers' side of the pools (pool.c) and their threads (pool_thread.c, pool_zygotes.c,
 * pool_boxes.c, pool_containers.c) share.
 *
 * One lock guards all that callers touch: the queue, the counts, the lists of parked and of discarded boxes.
 * It is held for list operations only, never over a system call that waits. A box is in one list at a time,
 * by its `link`:
 *
 *     parking  -> parked -> (a run has it) -> discarded -> ending -> freed
 *     thread's    lock      nobody            lock         thread's
 */
#pragma once

#include "engine/budget.h"
#include "engine/environment.h"
#include "engine/pool.h"
#include "engine/queue.h"
#include "engine/zygote.h"

struct pools {
  struct host *host;
  GMutex lock;
  GCond parked; /* a box was parked, or will not be */
  struct queue *queue;
  struct budget budget;
  guint resuming; /* callers in the queue who have a box */
  gboolean closed;
  GHashTable *pools; /* struct pool -> the same, by name, isolation and network */
};

struct pool {
  struct pools *pools;
  char *name; /* of the environment; of containers, which have their image's, POOL_CONTAINERS */
  enum isolation isolation;
  enum network network; /* of its zygotes: the host's (FULL), or NONE */
  GThread *thread;
  int wake_fd;   /* eventfd */
  int parked_fd; /* epoll: the exit pipes of parked boxes, of which there may be hundreds */

  /* The environment as the newest zygote sees it. Written by the thread, read by callers who look whether it
   * changed. Of containers: NULL, and the fingerprint is their image's. */
  GRWLock environment_lock;
  struct environment *environment;
  char *fingerprint;

  /* under pools->lock */
  GQueue parked, discarded;
  gboolean wanted;  /* somebody asked for a sandbox since the last failed start */
  gboolean stale;   /* the environment changed: no sandbox of the present zygote may be handed out */
  gboolean serving; /* there is a zygote that serves */
  gboolean bare;    /* it is a bare one */
  gboolean keeps[SHAPE_KINDS]; /* somebody asked for one of that kind: some are kept parked */
  struct shape kept;           /* of containers: what that is, for there is one kind of them */
  GError *failure;             /* why the last start failed; gone with the next one that does not */
  gint64 retry_us;             /* when the next start may be tried */
  guint zygotes, parking_count;
  guint waiting;                      /* callers in the queue */
  guint64 starts, parkings, refusals; /* refusals: times that callers were told of an error */

  /* the thread's own */
  struct zygote *current, *next;
  struct zygote *bare_next; /* starts beside NEXT when there is no current one, and serves until NEXT does */
  GPtrArray *draining; /* zygotes that are replaced or dead, and whose boxes are not all gone; of containers
                          all */
  GQueue parking, ending;
  guint failures;        /* in a row, until a box is parked: of parkings, and zygotes that died */
  guint start_failures;  /* in a row */
  guint losses;          /* zygotes in a row that died soon after they had begun to serve */
  gint64 serving_us;     /* since when the current one serves */
  gint64 start_took_us;  /* how long the last start took that did not fail */
  gint64 crash_start_us; /* when crashes may have a zygote replaced again */
  gint64 spawn_us;       /* when a sandbox may be asked for again, after a failure */
  gboolean old_parked;   /* boxes of a replaced zygote are still parked */
  int sweep_fd;          /* of containers: pidfd of who removes what earlier daemons left; or -1 */
};

/* A caller in the queue. */
struct waiter {
  struct queue_place place; /* first, so that the one is the other */
  struct pool *pool;
  struct shape shape;
  struct budget_claim claim;
  gboolean needs_modules; /* a box of a bare zygote will not do */
  struct box *kept;       /* it has this one already, and waits for a place among those that run */
  struct interrupt *interrupt;
  struct box *box;
  GError *error;
  gboolean done; /* BOX or ERROR is set */
};

#define POOL_CONTAINERS "container"

/* So many failures to make a box in a row are taken for a passing shortage: callers go on waiting. */
#define POOL_FAILURES_OK 3

/* Whether BOX is what WAITER waits for. */
gboolean pool_box_suits (const struct box *box, const struct waiter *waiter);

/* With the lock held: hands parked boxes to waiting callers, in their order. */
void pools_dispatch (struct pools *pools);

/* With the lock held: another sandbox may run now, perhaps one of a shape that a pool makes only on demand.
 * EXCEPT, which may be NULL, knows. */
void pools_wake_waiting (struct pools *pools, const struct pool *except);

/* With the lock held: all who wait for POOL get a copy of ERROR. */
void pool_fail_waiters (struct pool *pool, const GError *error);

/* Who waits for what SHAPE has beyond those of most runs, a directory or a network, gets a copy of ERROR; of
 * containers, who waits for one of that shape. */
void pool_fail_shape (struct pool *pool, const struct shape *shape, const GError *error);

void pool_wake (struct pool *pool);

/* BOX is parked no more; to be called by who has it now. */
void pool_unwatch (struct pool *pool, struct box *box);

/* ---- the thread's side; by it alone, without the lock ---- */

/* How long to wait after FAILURES in a row (at least one), and the earlier of two moments, of which the first
 * may be -1. */
gint64 pool_retry_delay (gint64 first, gint64 most, guint failures);
gint64 pool_earlier (gint64 deadline_us, gint64 candidate_us);

/* pool_zygotes.c */
void pool_manage_zygotes (struct pool *pool); /* what is due now */
void pool_start_failed (struct pool *pool, const GError *error);
void pool_zygote_serves (struct pool *pool); /* the next one does */
void pool_bare_serves (struct pool *pool);
void pool_lose_bare (struct pool *pool);                        /* before it serves */
void pool_lose_zygote (struct pool *pool, const GError *error); /* the current one */
void pool_end_all (struct pool *pool);
gint64 pool_zygotes_deadline_us (struct pool *pool);

/* pool_boxes.c */
void pool_take_discarded (struct pool *pool);
void pool_bury_ended (struct pool *pool);
void pool_expire_parking (struct pool *pool);
void pool_spawn_next (struct pool *pool);
/* One of a shape with LENT could not be made; 0: without. */
void pool_spawn_failed (struct pool *pool, const struct shape *shape, const GError *error);
void pool_box_spawned (struct pool *pool, struct box *box);
void pool_box_speaks (struct pool *pool, struct box *box); /* while it is being parked */
void pool_parked_boxes_ended (struct pool *pool);          /* when parked_fd can be read */
void pool_box_end (struct pool *pool, struct box *box);    /* it is in no list */
void pool_discard_old (struct pool *pool, guint keep);
void pool_abandon_parking (struct pool *pool, const struct zygote *zygote);
gint64 pool_boxes_deadline_us (struct pool *pool);

/* What is to be made next. */
struct pool_choice {
  struct budget_round round;
  struct shape shape;
  gboolean chosen, waited; /* waited: callers of this pool are there */
  guint64 promised;        /* bytes that are to go to callers soon */
};

/* With the lock held: the shape that the first caller waits for who has room and none in the making. Its
 * descriptors are its own then (shape_keep). */
void pool_choose_waited (struct pool *pool, struct pool_choice *choice);

/* pool_containers.c */
char *pool_image_stamp (const struct config *config); /* what changes with the image; any thread may ask */
void pool_start_containers (struct pool *pool);       /* what is due now */
void pool_sweep_containers (struct pool *pool);       /* once, at its beginning */
void pool_container_failed (struct pool *pool, const struct shape *shape, const GError *error);
void pool_set_late (const struct pool *pool, const struct box *box, GError **error);
void pool_container_news (struct pool *pool, struct zygote *zygote, enum zygote_news news,
                          const GError *error);
gboolean pool_keeps_like (const struct pool *pool, const struct box *box); /* with the lock */
void pool_shed_containers (struct pool *pool);
gint64 pool_containers_deadline_us (struct pool *pool);

/* The thread's function; DATA is the pool. */
gpointer pool_thread (gpointer data);
