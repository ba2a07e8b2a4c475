/* SPDX-License-Identifier: Apache-2.0 */
/* Records: one row for each run and cell, in a chain of digests for each node, so that changed or removed
 * rows are noticed. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "store/database.h"
#include "store/store.h"

/* What a record holds, in the order of its columns: TEXT (member, NUMBER) or INTEGER (member, NUMBER), where
 * RECORD_NUMBER is the column. A new one is a row here, one of record_fields.h, where its value comes from
 * (library/run_record.c), and a version of the tables (schema.c). */
/* clang-format off */
#define RECORD_MEMBERS(TEXT, INTEGER) \
  TEXT (run_id, RUN_ID) \
  INTEGER (started_ms, STARTED_MS)     /* since 1970 */ \
  TEXT (owner, OWNER)                  /* who; this and the next three may be NULL */ \
  TEXT (conversation, CONVERSATION) \
  TEXT (front_end, FRONT_END) \
  TEXT (role, ROLE) \
  TEXT (tool, TOOL)                    /* NULL: none */ \
  TEXT (session, SESSION)              /* NULL: none */ \
  INTEGER (cell, CELL)                 /* 0: none */ \
  TEXT (profile, PROFILE) \
  TEXT (environment, ENVIRONMENT) \
  TEXT (code, CODE)                    /* NULL: not kept */ \
  TEXT (code_sha256, CODE_SHA256) \
  TEXT (outcome, OUTCOME) \
  INTEGER (exit_code, EXIT_CODE) \
  INTEGER (wall_us, WALL_US) \
  INTEGER (cpu_us, CPU_US) \
  INTEGER (queue_us, QUEUE_US) \
  INTEGER (peak_bytes, PEAK_BYTES) \
  INTEGER (level, LEVEL)               /* of isolation; -1: nothing ran */ \
  TEXT (approval, APPROVAL)            /* its id, "accepted all" or NULL */
/* clang-format on */

#define RECORD_TEXT_MEMBER(member, number)    const char *member;
#define RECORD_INTEGER_MEMBER(member, number) gint64 member;

struct record {
  RECORD_MEMBERS (RECORD_TEXT_MEMBER, RECORD_INTEGER_MEMBER)
  const json_t *more; /* an object: arguments, limits, missing, files, description, error, network ... */
};

/* Within TRANSACTION: adds the next row of this node's chain. Long texts are cut; a run already on record is
 * no error, and nothing is added. */
gboolean records_add (struct store *store, struct transaction *transaction, const struct record *record,
                      GError **error);
/* The same for the chain of NODE, which is gone. */
gboolean records_add_of (struct store *store, const char *node, struct transaction *transaction,
                         const struct record *record, GError **error);

/* Removes records beyond [store]'s age and size limits, from the beginning of this node's chain, and leaves
 * an anchor. Called by the store's thread. */
gboolean records_retain (struct store *store, GError **error);

/* ---- looking at them ----
 *
 * OWNER NULL: everybody's. FILTERS is an object or NULL (records_filter.c has the table). What is returned is
 * the caller's, or NULL with ERROR: ADDER_ERROR_INVALID where a filter is wrong, ADDER_ERROR_UNSUPPORTED
 * where nothing is kept. */

/* {"records": [...], "next": text or null}: the newest first, with the beginning of their code. */
json_t *records_list (struct store *store, const char *owner, const json_t *filters, GError **error);
/* One, whole, by its run's id. ADDER_ERROR_NOT_FOUND. */
json_t *records_show (struct store *store, const char *owner, const char *run_id, GError **error);
/* The same by the beginning of an id as well, for a person. ADDER_ERROR_INVALID: several begin so. */
json_t *records_search (struct store *store, const char *owner, const char *beginning, GError **error);
/* How many, by what, and how long they took. */
json_t *records_stats (struct store *store, const char *owner, const json_t *filters, GError **error);
/* Writes all of them to FD, the oldest first, as "jsonl" or "csv". {"records", "bytes", "damaged"}. */
json_t *records_export (struct store *store, const char *owner, const json_t *filters, const char *format,
                        int fd, GError **error);
/* Goes through the chains of all nodes. HEAD (may be NULL): "SEQ:DIGEST" or "NODE:SEQ:DIGEST", from an
 * earlier answer. {"ok": bool, "nodes": [{"node", "records", "head", "anchor", "written_head",
 * "problem_count", "problems": [{"kind", "seq", "run_id", "text"}]}]}. */
json_t *records_verify (struct store *store, const char *head, GError **error);
