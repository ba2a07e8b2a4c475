/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a sandbox that is ready for it: a parked sandbox, its limits, the files, what is known of
 * its isolation. What was fixed when it was parked (its spec) is not touched. */
#pragma once

#include <glib.h>

#include "engine/engine_parts.h"
#include "engine/pool/pool.h"
#include "engine/request/request.h"

/* What was found out on the way, also when it ended early. */
struct lease {
  gboolean refused;         /* nothing that this host has is what is insisted on */
  enum isolation isolation; /* that was chosen: of the request's, or what stands in for it */
  char *fallback;           /* why a request for a container has none, and what else there is; or NULL */
  struct zygote_info *info; /* what its zygote told; NULL: there was none */
  gboolean has_isolation;
  guint isolation_level;
  GPtrArray *missing; /* static strings */
  GHashTable *files;  /* those that were put in, as they were then: struct workspace_file by path */
  guint left_out;     /* of folders that were put in: what is no file */
  GArray *given;      /* struct input: what was put in and is kept for a replay, and not yet taken */
  gboolean bind_mounted[INPUT_PLACES]; /* linked inputs come with the spec: they need no copies */
};
void lease_init (struct lease *lease);
void lease_clear (struct lease *lease);

/* The pool for REQUEST, or for a SESSION that it describes, when this host may run it; for pools_put. */
struct pool *lease_pool (struct lease *lease, struct engine *engine, const struct run_request *request,
                         gboolean session, GError **error);

/* The spec of a sandbox for it, in that pool. */
struct sandbox_spec lease_spec (const struct lease *lease, const struct engine *engine,
                                const struct run_request *request, gboolean session);

/* Whether lease_pool is to be asked again, because ERROR, which is cleared then, says that there is no
 * container for REQUEST, and it can do without. */
gboolean lease_fall_back (struct lease *lease, const struct run_request *request, GError **error);

/* Takes a sandbox of POOL for REQUEST, or for a session that it describes, and makes it ready, with the
 * limits of SPEC in force. The caller's, to be discarded; NULL with ERROR. */
struct sandbox *lease_acquire (struct lease *lease, struct engine *engine, struct pool *pool,
                               const struct run_request *request, const struct sandbox_spec *spec,
                               struct interrupt *interrupt, GError **error);

/* Puts the request's files into SANDBOX. */
gboolean lease_put_files (struct lease *lease, struct sandbox *sandbox, const struct host *host,
                          const struct run_request *request, struct interrupt *interrupt, GError **error);

/* What of that the caller should know, once. */
void lease_warn (struct lease *lease, GPtrArray *warnings);

/* When reading what the caller sends must be over: it may take as long as the run itself. */
gint64 lease_deadline_us (const struct run_request *request);
