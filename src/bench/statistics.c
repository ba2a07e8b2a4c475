/* SPDX-License-Identifier: Apache-2.0 */
/* Series of samples and what is told of them. */
#include <math.h>

#include "bench/bench.h"

GArray *
bench_series_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (double));
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double
bench_quantile (GArray *series, double q)
{
  if (series->len == 0)
    return 0;
  g_array_sort (series, compare_doubles);
  double rank = ceil (q * series->len);
  return g_array_index (series, double, (guint)CLAMP (rank, 1, series->len) - 1);
}

json_t *
bench_series_json (GArray *series, gboolean more_is_better)
{
  static const struct {
    const char *name;
    double q;
  } told[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
  json_t *object = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (told); i++)
    json_object_set_new (object, told[i].name,
                         json_real (bench_quantile (series, more_is_better ? 1 - told[i].q : told[i].q)));
  json_object_set_new (object, "samples", json_integer (series->len));
  return object;
}
