/* SPDX-License-Identifier: Apache-2.0 */
#include "common/histogram.h"

#define MS ((guint64)1000)

/* From a run that finds its sandbox parked to the longest that one may take. */
const guint64 histogram_bounds_us[HISTOGRAM_BUCKETS] = {
    100,       250,        500,        1 * MS,     2500,        5 * MS,       10 * MS,
    25 * MS,   50 * MS,    100 * MS,   250 * MS,   500 * MS,    1000 * MS,    2500 * MS,
    5000 * MS, 10000 * MS, 30000 * MS, 60000 * MS, 300000 * MS, 3600000 * MS,
};

void
histogram_add (struct histogram *histogram, gint64 us)
{
  guint64 value = us > 0 ? (guint64)us : 0;
  gsize bucket = 0;
  while (bucket < HISTOGRAM_BUCKETS && value > histogram_bounds_us[bucket])
    bucket++;
  __atomic_add_fetch (&histogram->counts[bucket], 1, __ATOMIC_RELAXED);
  __atomic_add_fetch (&histogram->sum_us, value, __ATOMIC_RELAXED);
}

json_t *
histogram_to_json (const struct histogram *histogram)
{
  json_t *bounds = json_array (), *counts = json_array ();
  for (gsize i = 0; i < HISTOGRAM_BUCKETS; i++)
    json_array_append_new (bounds, json_integer ((json_int_t)histogram_bounds_us[i]));
  for (gsize i = 0; i <= HISTOGRAM_BUCKETS; i++)
    json_array_append_new (
        counts, json_integer ((json_int_t)__atomic_load_n (&histogram->counts[i], __ATOMIC_RELAXED)));
  return json_pack ("{s:o, s:o, s:I}", "bounds_us", bounds, "counts", counts, "sum_us",
                    (json_int_t)__atomic_load_n (&histogram->sum_us, __ATOMIC_RELAXED));
}
