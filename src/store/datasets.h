/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets: a table (Parquet) and its description (JSON), under a name of its owner's. Both are files of the
 * store, kept until somebody removes them; a data set exists whole or not at all. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "store/store.h"

#define DATASET_NAME_MAX     64
#define DATASET_VERSIONS_MAX 100   /* of a name */
#define DATASETS_MAX         10000 /* of an owner */

struct dataset {
  char *owner, *name;
  gint64 version; /* from 1 */
  gint64 created_ms;
  char *table_id, *facts_id; /* stored files "NAME.parquet", "NAME.json" */
  guint64 rows, bytes;
  gboolean complete;
};
void dataset_free (struct dataset *dataset);

/* A letter, digit or "_" and then those and "-." */
gboolean dataset_name_check (const char *name, GError **error);

struct dataset_new {
  const char *owner, *conversation, *name;
  int table_fd;        /* a regular file; the caller's */
  const json_t *facts; /* docs/data.md; version, digest and time are filled in */
  guint64 rows;
  gboolean complete;
  gboolean keep_versions; /* keeps the previous version; otherwise it goes once this one exists */
};
/* The new one, the caller's. */
struct dataset *dataset_put (struct store *store, const struct dataset_new *put, GError **error);

/* "tio2" the newest, "tio2:2" that version; OWNER's. ADDER_ERROR_NOT_FOUND suggests the intended one. */
struct dataset *dataset_find (struct store *store, const char *owner, const char *text, GError **error);
/* The description. A new reference. */
json_t *dataset_facts (struct store *store, const struct dataset *dataset, GError **error);
/* By name, then the newest first; ALL_VERSIONS FALSE: the newest of each. Array of struct dataset. */
GPtrArray *datasets_list (struct store *store, const char *owner, gboolean all_versions, GError **error);
/* NAME as for dataset_find: without a version, removes all. */
gboolean dataset_remove (struct store *store, const char *owner, const char *name, GError **error);
