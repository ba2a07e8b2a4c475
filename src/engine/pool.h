/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: for each environment a thread that keeps sandboxes parked, and for all of them together the one
 * queue of callers that wait. A caller takes a box, hands it out to a run, and discards it; a box serves
 * once. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/box.h"
#include "engine/host.h"
#include "engine/interrupt.h"

struct pools;
struct pool;

struct pools *pools_new (struct host *host);

/* Ends all zygotes and all sandboxes and waits for them; callers that wait get ADDER_ERROR_CANCELLED, and so
 * does every later one. Boxes that are still with a run are dead afterwards, and the run discards them as
 * ever. */
void pools_close (struct pools *pools);
gboolean pools_are_closed (struct pools *pools);

/* After pools_close, and when no run holds a box any more. NULL is allowed. */
void pools_free (struct pools *pools);

/* The pool of the environment NAME with sandboxes of ISOLATION (ISOLATION_AUTO: the host's best) that can
 * have NETWORK, or of containers, whatever NAME is, made when it is first asked for; good until pools_free.
 */
struct pool *pools_get (struct pools *pools, const char *name, enum isolation isolation, enum network network,
                        GError **error);

/* The kind of its sandboxes, never ISOLATION_AUTO. */
enum isolation pool_isolation (const struct pool *pool);

/* Takes a parked box of SHAPE, to run CODE. While the environment's modules are still being loaded, code that
 * names one of them waits, and other code has a box without them; who waits for the modules in any case, as
 * sessions do, has no code to show (NULL). Only where sandboxes have namespaces is SHAPE's session anything.
 * At once when there
 * is one and the host may run another sandbox; else waits its turn among the owners, not past the configured
 * wait: ADDER_ERROR_BUSY, also when too many wait already. ADDER_ERROR_CANCELLED when the caller goes away
 * meanwhile; other errors say why there can be no sandbox. */
struct box *pool_take (struct pool *pool, const char *owner, const struct shape *shape, const char *code,
                       struct interrupt *interrupt, GError **error);

/* Whether a run with LIMITS can ever have the memory that it may use: FALSE with ADDER_ERROR_UNSUPPORTED. */
gboolean pools_check_memory (struct pools *pools, const struct limits *limits, GError **error);

/* Has a zygote started, and waits until a box of it is parked, with the modules loaded: takes no place in the
 * queue. */
gboolean pool_warm (struct pool *pool, GError **error);

/* Gives back a used one: what lives in it is killed at once, and what it was is removed by the pool's thread,
 * later. */
void pool_discard (struct box *box);

/* A box that is kept between the cells of a session counts as running, and has memory reserved, only while
 * one runs. pool_rest: none does, from now on; pool_resume waits its turn as pool_take does, with the same
 * errors, for a run of BYTES. Both by who has the box. */
/* A session goes on with another box: what counts for OLD counts for BOX. */
void pool_replace (struct box *old, struct box *box);

void pool_rest (struct box *box);
gboolean pool_resume (struct box *box, const char *owner, guint64 bytes, struct interrupt *interrupt,
                      GError **error);

/* {"running": n, "waiting": n, "memory": {"max_bytes": n, ...}, "pools": [{"environment": "science",
 * "parked": n, ...}]}. The caller's. */
json_t *pools_status (struct pools *pools);
