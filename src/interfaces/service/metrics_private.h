/* SPDX-License-Identifier: Apache-2.0 */
/* What counting and showing share. */
#pragma once

#include <glib.h>

#include "common/guarded.h"
#include "common/histogram.h"

enum metrics_interface { METRICS_HTTP, METRICS_MCP, METRICS_INTERFACES };

struct metrics_row {
  const char *method, *path;
  int status;
  struct histogram time;
};

LOCK_CLASS (metrics);

struct metrics {
  MUTEX (metrics) lock;
  GUARDED_BY (metrics)
  GHashTable *interfaces[METRICS_INTERFACES]; /* of struct metrics_row, each its own key; none goes */
};
