/* SPDX-License-Identifier: Apache-2.0 */
/* Beds: a store of its own for each test of kept files, on every pair of a database and a place for blobs. */
#pragma once

#include <glib.h>

#include "common/config.h"
#include "common/json.h"
#include "store/files.h"
#include "store_world.h"

/* A database and a place for blobs. */
struct pair {
  const struct store_world_kind *database, *blobs;
};

/* A store of its own in a fresh folder. */
struct bed {
  store_world *world;
  struct config *config;
  struct store *store;
  char *blobs;
};

void bed_open (struct bed *bed);
/* FALSE: this host lacks one of the servers. */
gboolean bed_init (struct bed *bed, const struct pair *pair, const char *more); /* MORE: of [store] */
void bed_close (struct bed *bed);
void bed_clear (struct bed *bed);
gboolean pair_has_directory (const struct pair *pair);
/* A file that holds CONTENT, with its digest; the descriptor is the caller's. */
struct file_new bed_make_file (const char *name, const char *content, const char *owner, char **ret_sha256);
/* Keeps them in one transaction, which FAILS after that. */
gboolean bed_keep (struct bed *bed, struct file_new *files, gsize count, gboolean fails);
/* Keeps one file and tells its id. */
void bed_put (struct bed *bed, const char *name, const char *content, const char *owner,
              char ret_id[ID_BYTES]);
gboolean bed_has (struct bed *bed, const char *owner, const char *id);
guint bed_count_blobs (struct bed *bed);
/* Rows in any state. */
gint64 bed_count_rows (struct bed *bed);
json_t *bed_check (struct bed *bed, gboolean deep, gboolean force);
/* Nothing is lost, and nothing is left. */
void bed_assert_whole (struct bed *bed);
void bed_run_sql (struct bed *bed, const char *sql);
void assert_no_warnings (const GPtrArray *warnings);
json_int_t number_in (const json_t *object, const char *name);

struct bed_case {
  const char *name;
  void (*run) (gconstpointer pair);
};
/* Runs COUNT cases on each pair, and what MORE (may be NULL) adds; the program's exit code. */
int bed_main (int argc, char **argv, const char *program, const struct bed_case *cases, gsize count,
              void (*more) (void));
