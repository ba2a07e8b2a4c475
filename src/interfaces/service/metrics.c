/* SPDX-License-Identifier: Apache-2.0 */
/* What interfaces count. Rows are few, as many as there are routes and statuses, and stay. */
#include "interfaces/service/metrics.h"

#include "interfaces/service/metrics_private.h"

static guint
row_hash (gconstpointer data)
{
  const struct metrics_row *row = data;
  return g_direct_hash (row->path) ^ g_direct_hash (row->method) ^ (guint)row->status;
}

/* The names are static, so that they are the same when they are at the same place. */
static gboolean
row_equal (gconstpointer left, gconstpointer right)
{
  const struct metrics_row *a = left, *b = right;
  return a->path == b->path && a->method == b->method && a->status == b->status;
}

struct metrics *
metrics_new (void)
{
  struct metrics *metrics = g_new0 (struct metrics, 1);
  g_mutex_init (&metrics->lock);
  for (gsize i = 0; i < METRICS_INTERFACES; i++)
    metrics->interfaces[i] = g_hash_table_new_full (row_hash, row_equal, g_free, NULL);
  return metrics;
}

void
metrics_free (struct metrics *metrics)
{
  UNSHARED (metrics);
  for (gsize i = 0; i < METRICS_INTERFACES; i++)
    g_hash_table_unref (metrics->interfaces[i]);
  g_mutex_clear (&metrics->lock);
  g_free (metrics);
}

static void
metrics_count (struct metrics *metrics, enum metrics_interface interface, const char *method,
               const char *path, int status, gint64 us)
{
  const struct metrics_row wanted = {.method = method, .path = path, .status = status};
  g_mutex_lock (&metrics->lock);
  struct metrics_row *row = g_hash_table_lookup (metrics->interfaces[interface], &wanted);
  if (!row) {
    row = g_memdup2 (&wanted, sizeof wanted);
    g_hash_table_add (metrics->interfaces[interface], row);
  }
  g_mutex_unlock (&metrics->lock);
  histogram_add (&row->time, us);
}

void
metrics_count_http (struct metrics *metrics, const char *method, const char *path, int status, gint64 us)
{
  metrics_count (metrics, METRICS_HTTP, method, path, status, us);
}

void
metrics_count_mcp (struct metrics *metrics, const char *method, gboolean is_error, gint64 us)
{
  metrics_count (metrics, METRICS_MCP, method, NULL, is_error, us);
}
