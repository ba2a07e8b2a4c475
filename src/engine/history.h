/* SPDX-License-Identifier: Apache-2.0 */
/* The cells that a session ran, within a bound of bytes: the oldest are forgotten first. Has no lock of its
 * own. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "adder.h"

struct history {
  GQueue cells; /* struct history_cell, the oldest first */
  gsize bytes, most;
  guint64 dropped;
};

struct history_cell {
  guint64 number;
  char *code;
  gsize length;
  AdderOutcome outcome;
  gint64 started_us; /* g_get_real_time */
  gint64 wall_us;
  GList link;
};

void history_init (struct history *history, gsize most);
void history_clear (struct history *history);

/* Takes over CELL's code. */
void history_add (struct history *history, const struct history_cell *cell);

/* The same cells, once more. *RET_COPY is to be cleared. */
void history_copy (const struct history *history, struct history *ret_copy);

/* {"cells": [{"cell", "code", "outcome", "started", "wall_ms"}], "dropped": n}. The caller's. */
json_t *history_to_json (const struct history *history);
