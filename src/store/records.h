/* SPDX-License-Identifier: Apache-2.0 */
/* Records: one row for each run and cell, in a chain of digests for each node, so that a row that was changed
 * or taken away shows. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "store/database.h"
#include "store/store.h"

struct record {
  const char *run_id;
  gint64 started_ms;                                   /* since 1970 */
  const char *owner, *conversation, *front_end, *role; /* who; but for owner, each may be NULL */
  const char *tool, *session;                          /* NULL: none */
  gint64 cell;                                         /* 0: none */
  const char *profile, *environment;
  const char *code, *code_sha256; /* code NULL: not kept */
  const char *outcome;
  int exit_code;
  gint64 wall_us, cpu_us, queue_us, peak_bytes;
  int level;            /* of isolation; -1: nothing ran */
  const char *approval; /* its id, "accepted all" or NULL */
  const json_t *more;   /* an object: arguments, limits, missing, files, description, error, network ... */
};

/* Within TRANSACTION: the next row of this node's chain. */
gboolean records_add (struct store *store, struct transaction *transaction, const struct record *record,
                      GError **error);

/* Removes what [store] says is too old or too much, from the beginning of this node's chain, and leaves an
 * anchor. Called by the store's thread. */
gboolean records_retain (struct store *store, GError **error);
