/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to a sandbox that is ready for it: a parked box, its limits, the files, what is known of its
 * isolation. What was fixed when it was parked (its shape) is not touched. */
#pragma once

#include <glib.h>

#include "engine/engine.h"
#include "engine/request.h"

/* What was found out on the way, also when it ended early. */
struct handout {
  gboolean refused;         /* nothing that this host has is what is insisted on */
  enum isolation isolation; /* that was chosen: of the request's, or what stands in for it */
  char *fallback;           /* why a request for a container has none, and what else there is; or NULL */
  struct zygote_info *info; /* what its zygote told; NULL: there was none */
  gboolean has_isolation;
  guint isolation_level;
  GPtrArray *missing;          /* static strings */
  GHashTable *files;           /* those that were put in, as they were then: struct workspace_file by path */
  guint left_out;              /* of folders that were put in: what is no file */
  GArray *given;               /* struct input: what was put in and is kept for a replay, and not yet taken */
  gboolean lent[INPUT_PLACES]; /* linked inputs come with the shape: they need no copies */
};
void handout_init (struct handout *handout);
void handout_clear (struct handout *handout);

/* The pool for REQUEST, or for a SESSION that it describes, when this host may run it. */
struct pool *handout_pool (struct handout *handout, struct engine *engine, const struct run_request *request,
                           gboolean session, GError **error);

/* The shape of a sandbox for it, in that pool. */
struct shape handout_shape (const struct handout *handout, const struct engine *engine,
                            const struct run_request *request, gboolean session);

/* Whether handout_pool is to be asked again, because ERROR, which is cleared then, says that there is no
 * container for REQUEST, and it can do without. */
gboolean handout_fall_back (struct handout *handout, const struct run_request *request, GError **error);

/* Takes a box of POOL for REQUEST, or for a session that it describes, and makes it ready, with the limits of
 * SHAPE in force. The caller's, to be discarded; NULL with ERROR. */
struct box *handout_take (struct handout *handout, struct engine *engine, struct pool *pool,
                          const struct run_request *request, const struct shape *shape,
                          struct interrupt *interrupt, GError **error);

/* Puts the request's files into BOX. */
gboolean handout_put_files (struct handout *handout, struct box *box, const struct host *host,
                            const struct run_request *request, struct interrupt *interrupt, GError **error);

/* What of that the caller should know, once. */
void handout_warn (struct handout *handout, GPtrArray *warnings);

/* When reading what the caller sends must be over: it may take as long as the run itself. */
gint64 handout_deadline_us (const struct run_request *request);
