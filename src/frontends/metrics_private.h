/* SPDX-License-Identifier: Apache-2.0 */
/* What counting and showing share. */
#pragma once

#include <glib.h>

#include "common/histogram.h"

enum metrics_door { METRICS_HTTP, METRICS_MCP, METRICS_DOORS };

struct metrics_row {
  const char *method, *path;
  int status;
  struct histogram time;
};

struct metrics {
  GMutex lock;
  GHashTable *doors[METRICS_DOORS]; /* of struct metrics_row, each its own key; none goes */
};
