/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a sandbox that is ready for it: a parked sandbox, its limits, the files, its isolation.
 * What was fixed at parking (its spec) stays. */
#pragma once

#include <glib.h>

#include "engine/engine_parts.h"
#include "engine/pool/pool.h"
#include "engine/request/request.h"

/* Findings on the way, also when it ended early. */
struct lease {
  gboolean refused;         /* this host lacks the required isolation */
  enum isolation isolation; /* the chosen kind: the requested one, or its fallback */
  char *fallback;           /* why a request for a container has none, and the alternative; or NULL */
  struct zygote_info *info; /* as its zygote reported; NULL: there was none */
  gboolean has_isolation;
  guint isolation_level;
  GPtrArray *missing;                  /* static strings */
  GHashTable *files;                   /* those that were put in, as of then: struct workspace_file by path */
  guint left_out;                      /* from input folders: entries that are not files */
  GArray *given;                       /* struct input: put in and kept for a replay, not yet taken */
  gboolean bind_mounted[INPUT_PLACES]; /* linked inputs come with the spec: they need no copies */
};
void lease_init (struct lease *lease);
void lease_clear (struct lease *lease);

/* The pool for REQUEST, or for a SESSION that it describes, if this host may run it; for pools_put. */
struct pool *lease_pool (struct lease *lease, struct engine *engine, const struct run_request *request,
                         gboolean session, GError **error);

/* The spec of a sandbox for it, in that pool. */
struct sandbox_spec lease_spec (const struct lease *lease, const struct engine *engine,
                                const struct run_request *request, gboolean session);

/* Whether to call lease_pool again, because ERROR, which is then cleared, says that there is no container for
 * REQUEST, which can do without. */
gboolean lease_fall_back (struct lease *lease, const struct run_request *request, GError **error);

/* Takes a sandbox of POOL for REQUEST, or for a session that it describes, and applies the limits of SPEC.
 * The caller's, to be discarded; NULL with ERROR. */
struct sandbox *lease_acquire (struct lease *lease, struct engine *engine, struct pool *pool,
                               const struct run_request *request, const struct sandbox_spec *spec,
                               struct interrupt *interrupt, GError **error);

/* Puts the request's files into SANDBOX. */
gboolean lease_put_files (struct lease *lease, struct sandbox *sandbox, const struct host *host,
                          const struct run_request *request, struct interrupt *interrupt, GError **error);

/* Warnings about all that for the caller, once. */
void lease_warn (struct lease *lease, GPtrArray *warnings);

/* The deadline for reading the caller's data: it may take as long as the run itself. */
gint64 lease_deadline_us (const struct run_request *request);
