/* SPDX-License-Identifier: Apache-2.0 */
/* How long things took, counted in buckets. Added to from any thread, without a lock. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define HISTOGRAM_BUCKETS 20

struct histogram {
  guint64 counts[HISTOGRAM_BUCKETS + 1]; /* the last: longer than all bounds */
  guint64 sum_us;
};

/* What each bucket holds at most, in microseconds. */
extern const guint64 histogram_bounds_us[HISTOGRAM_BUCKETS];

void histogram_add (struct histogram *histogram, gint64 us);

/* {"bounds_us": [...], "counts": [...], "sum_us"}: one count more than bounds. The caller's. */
json_t *histogram_to_json (const struct histogram *histogram);
