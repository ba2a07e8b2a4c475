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
  const char *owner, *conversation, *front_end, *role; /* who; each may be NULL */
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

/* Within TRANSACTION: the next row of this node's chain. Texts that are too long are cut; a run that is on
 * record already is no error, and nothing is added. */
gboolean records_add (struct store *store, struct transaction *transaction, const struct record *record,
                      GError **error);

/* Removes what [store] says is too old or too much, from the beginning of this node's chain, and leaves an
 * anchor. Called by the store's thread. */
gboolean records_retain (struct store *store, GError **error);

/* ---- looking at them ----
 *
 * OWNER NULL: everybody's. FILTERS is an object or NULL (records_filter.c has the table). What is returned is
 * the caller's, or NULL with ERROR: ADDER_ERROR_INVALID where a filter is wrong, ADDER_ERROR_UNSUPPORTED
 * where nothing is kept. */

/* {"records": [...], "next": text or null}: the newest first, with the beginning of their code. */
json_t *records_list (struct store *store, const char *owner, const json_t *filters, GError **error);
/* One, whole. ADDER_ERROR_NOT_FOUND. */
json_t *records_show (struct store *store, const char *owner, const char *run_id, GError **error);
/* How many, by what, and how long they took. */
json_t *records_stats (struct store *store, const char *owner, const json_t *filters, GError **error);
/* Writes all of them to FD, the oldest first, as "jsonl" or "csv". {"records", "bytes", "damaged"}. */
json_t *records_export (struct store *store, const char *owner, const json_t *filters, const char *format,
                        int fd, GError **error);
/* Goes through the chains of all nodes. HEAD (may be NULL): "SEQ:DIGEST" or "NODE:SEQ:DIGEST", as an earlier
 * answer had it. {"ok": bool, "nodes": [{"node", "records", "head", "anchor", "written_head",
 * "problem_count", "problems": [{"kind", "seq", "run_id", "text"}]}]}. */
json_t *records_verify (struct store *store, const char *head, GError **error);
