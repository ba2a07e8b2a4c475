/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: for each environment a thread that keeps sandboxes parked, and for all of them together the one
 * queue of callers that wait. A caller acquires a sandbox for a run, and discards it; a sandbox serves
 * once. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/host/host.h"
#include "engine/host/interrupt.h"
#include "engine/pool/sandbox.h"

struct pools;
struct pool;

struct pools *pools_new (struct host *host);

/* Ends all zygotes and all sandboxes and waits for them; callers that wait get ADDER_ERROR_CANCELLED, and so
 * does every later one. Sandboxes that are still with a run are dead afterwards, and the run discards them as
 * ever. */
void pools_close (struct pools *pools);
gboolean pools_are_closed (struct pools *pools);

/* After pools_close, and when no run holds a sandbox any more. NULL is allowed. */
void pools_free (struct pools *pools);

/* The pool of the environment NAME with sandboxes of ISOLATION (ISOLATION_AUTO: the host's best) that can
 * have NETWORK, or of containers, whatever NAME is, made when it is first asked for, for OWNER (NULL:
 * nobody). Good until pools_put, and for its sandboxes until they are discarded. One of an environment with
 * packages of runs is freed when others need its place; ADDER_ERROR_BUSY: all are in use. */
struct pool *pools_get (struct pools *pools, const char *name, enum isolation isolation, enum network network,
                        const char *owner, GError **error);

/* Its caller asks POOL, which may be NULL, for no more sandboxes. */
void pools_put (struct pool *pool);

/* Zygotes of environments with packages of runs end where nobody uses their sandboxes, until somebody asks
 * for some again. */
void pools_rest_idle (struct pools *pools);

/* What is bind-mounted serves for one sandbox. POOL_ERROR_LOST: that one was lost before it was leased,
 * as with its zygote; the caller may bind-mount anew and ask again. */
#define POOL_ERROR (pool_error_quark ())
GQuark pool_error_quark (void);
enum pool_error { POOL_ERROR_LOST };

/* The kind of its sandboxes, never ISOLATION_AUTO. */
enum isolation pool_isolation (const struct pool *pool);

/* Takes a parked sandbox of SPEC, to run CODE. While the environment's modules are still being loaded, code
 * that names one of them waits, and other code has a sandbox without them; who waits for the modules in any
 * case, as sessions do, has no code to show (NULL). Only where sandboxes have namespaces is SPEC's session
 * anything. At once when there is one and the host may run another sandbox; else waits its turn among the
 * owners, not past the configured wait: ADDER_ERROR_BUSY, also when too many wait already.
 * ADDER_ERROR_CANCELLED when the caller goes away meanwhile; POOL_ERROR_LOST; other errors say why there can
 * be no sandbox. */
struct sandbox *pool_take (struct pool *pool, const char *owner, const struct sandbox_spec *spec,
                           const char *code, struct interrupt *interrupt, GError **error);

/* Whether a run with LIMITS can ever have the memory that it may use: FALSE with ADDER_ERROR_UNSUPPORTED. */
gboolean pools_check_memory (struct pools *pools, const struct limits *limits, GError **error);

/* Has a zygote started, and waits until a sandbox of it is parked, with the modules loaded: takes no place in
 * the queue. */
gboolean pool_warm (struct pool *pool, GError **error);

/* Gives back a used one: what lives in it is killed at once, and what it was is removed by the pool's thread,
 * later. */
void pool_discard (struct sandbox *sandbox);

/* A sandbox that is kept between the cells of a session counts as running, and has memory reserved, only
 * while one runs: else it is idle. pool_set_idle: none does, from now on; pool_reactivate waits its turn as
 * pool_take does, with the same errors, for a run of BYTES. Both by who has the sandbox. */
/* A session goes on with another sandbox: what counts for OLD counts for SANDBOX. */
void pool_replace (struct sandbox *old, struct sandbox *sandbox);

void pool_set_idle (struct sandbox *sandbox);
gboolean pool_reactivate (struct sandbox *sandbox, const char *owner, guint64 bytes,
                          struct interrupt *interrupt, GError **error);

/* {"running": n, "waiting": n, "memory": {"max_bytes": n, ...}, "pools": [{"environment": "science",
 * "parked": n, ...}]}. The caller's. */
json_t *pools_status (struct pools *pools);
