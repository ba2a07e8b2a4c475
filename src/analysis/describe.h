/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in words, for a model: all that it gets to know of them. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "analysis/state.h"

/* Bounds of what a model is told, so that a wide table does not fill its context. */
#define DESCRIBE_COLUMNS_MAX     200 /* of one table that are named */
#define DESCRIBE_CELLS_MAX       60  /* columns of the sample */
#define DESCRIBE_CELL_CHARACTERS 60
#define DESCRIBE_SAMPLE_BYTES    24000 /* of the sample rows of one table */

/* The tables of ANALYSIS: columns, types, ROWS sample rows at most, and what is odd about each. The caller's.
 */
char *describe_tables (const struct analysis *analysis, guint rows);

/* A line for each table of ANALYSIS that names its columns, of many the first. The caller's. */
char *describe_columns (const struct analysis *analysis);

/* RESULT as a model reads it, with what was printed. The caller's. */
char *describe_result (const struct analysis *analysis);

/* A JSON scalar as people write it, at most MOST characters (0: any) in one line; "" for null. The caller's.
 */
char *describe_scalar (const json_t *value, glong most);
