/* SPDX-License-Identifier: Apache-2.0 */
/* The cells that a session ran, within a bound of bytes: the oldest are forgotten first. No lock of its
 * own. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder_types.h"
#include "sandbox/limits.h"

struct history {
  GQueue cells; /* struct history_cell, the oldest first */
  gsize bytes, most;
  gsize result_bytes, most_results;
  guint64 dropped;
  guint64 edition; /* differs after each change */
};

struct history_cell {
  guint64 number;
  char *code;
  gsize length;
  AdderOutcome outcome;
  gint64 started_us; /* g_get_real_time */
  gint64 wall_us;
  struct limits limits; /* of those, the cell's own: 1 << enum limit */
  guint32 limits_set;
  GArray *given;   /* struct input (inputs.h): files that came with it; or NULL */
  json_t *digests; /* of its result, by part: equal digests mean equal results */
  gboolean ended_session;
  GBytes *result;    /* as the caller got it, as JSON; NULL: none is kept, or no longer */
  gsize result_size; /* what it counts as (history_keep_result) */
  GList link;
};

/* MOST bytes of code, and MOST_RESULTS of results. */
void history_init (struct history *history, gsize most, gsize most_results);
void history_clear (struct history *history);

/* Takes over what CELL points to. */
void history_add (struct history *history, const struct history_cell *cell);

/* Keeps TEXT as the result of the cell NUMBER that began at STARTED_US, unless it is gone or TEXT alone is
 * too long; the oldest results make room for it. One of many values counts as what they take in memory, since
 * history_to_json reads it. */
void history_keep_result (struct history *history, guint64 number, gint64 started_us, const char *text);

/* Forgets the oldest results until those that are left have at most MOST bytes. */
void history_limit_results (struct history *history, gsize most);

/* Forgets all cells. */
void history_truncate (struct history *history);

/* A copy of the cells. *RET_COPY is to be cleared. */
void history_copy (const struct history *history, struct history *ret_copy);

/* {"cells": [{"cell", "code", "outcome", "started", "wall_ms"}], "dropped": n}; WITH_RESULTS each cell has
 * its `result`, null if it is not kept. The caller's. */
json_t *history_to_json (const struct history *history, gboolean with_results);
