/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about records share: the columns of a row, in the one order in which they are stored, read
 * and digested. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "store/chain.h"
#include "store/database.h"
#include "store/records.h"

#define RECORD_COLUMN_NUMBER(member, number) RECORD_##number,

enum record_column {
  RECORD_NODE,
  RECORD_SEQ,
  RECORD_MEMBERS (RECORD_COLUMN_NUMBER, RECORD_COLUMN_NUMBER) /* of struct record */
  RECORD_MORE,                                                /* a JSON object */
  RECORD_BYTES,                                               /* of the texts of the row */
  RECORD_DIGEST,                                              /* over all columns before it */
  RECORD_COLUMNS,
};

struct record_column_row {
  const char *name;
  gboolean is_integer; /* else a text */
  gboolean is_member;  /* of struct record, at OFFSET */
  gsize offset;
};
extern const struct record_column_row record_table[RECORD_COLUMNS];

/* The names of all columns, with commas between; of BRIEF rows, the beginning of the code and nothing more.
 * Static. */
const char *record_columns (gboolean brief);

/* Reads the head of NODE's chain and, in a transaction that writes, locks it until that ends. FALSE without
 * ERROR: there is none yet. */
struct record_head {
  gint64 seq; /* of the last row */
  char digest[CHAIN_DIGEST_BYTES];
  gint64 records, bytes; /* that are there now */
};
gboolean record_head_lock (struct transaction *transaction, const char *node, struct record_head *ret_head,
                           GError **error);

/* A store's cache of the chain that it adds to. */
struct record_memory;
struct record_memory *record_memory_new (void);
void record_memory_free (struct record_memory *memory);

/* ---- reading ---- */

/* A transaction for a person's query, which may scan all rows and so may take longer than the steps that a
 * run waits for. NULL with ERROR. */
struct transaction *record_begin (struct database *database, GError **error);

/* ---- choosing ---- */

/* Selected records: a WHERE with its values. */
struct record_filter {
  GString *where; /* empty, or "WHERE ..." */
  GArray *values; /* of struct sql_value */
  GPtrArray *texts;
  gint64 limit; /* the maximum rows of a list */
};

/* FILTERS (an object; may be NULL): "since", "until" (as moment_parse of common/moment.h has them),
 * "outcome", "tool", "profile", "environment", "front_end", "session", "conversation", "node" (exact texts),
 * "code" (a text that the code holds, in either case of its letters), "limit" (a number) and "before" (the
 * `next` of a list). OWNER NULL: everybody's. ADDER_ERROR_INVALID says which is wrong. */
gboolean record_filter_init (struct record_filter *filter, const char *owner, const json_t *filters,
                             GError **error);
void record_filter_clear (struct record_filter *filter);

/* Adds "AND" or "WHERE" and CONDITION, in which each '?' stands for the next of the values that follow. */
void record_filter_add (struct record_filter *filter, const char *condition, ...);
/* Adds VALUE without a condition, for what follows the WHERE; its number (of "$n"). */
guint record_filter_value (struct record_filter *filter, struct sql_value value);

/* ---- showing ---- */

/* What a field of JSON (record_fields.h) shows: a column, in its marks. 0: none. */
#define RECORD_FIELD_MARK(column)  ((guint)(column) + 1)
#define RECORD_FIELD_COLUMN(field) ((enum record_column) ((field)->marks - 1))

/* One row with all columns as an object; the caller's. BRIEF: "code" is the row's excerpt, and there is no
 * "more". A damaged row has "damaged": true and "damaged_columns", their names; their values are null. */
json_t *record_to_json (const struct sql_value *stored, gboolean brief);

/* The columns of ROW with values of a kind that Adder never writes there, as bits (1 << column).
 * records_verify checks the values themselves. */
guint record_find_damage (const struct sql_value *row);
/* The names of the columns in DAMAGE with spaces between; the caller's. */
char *record_damage_names (guint damage);

/* Whether ROW can be found again by its time and its id, to continue a list after it. */
gboolean record_has_place (const struct sql_value *row);
