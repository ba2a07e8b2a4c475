/* SPDX-License-Identifier: Apache-2.0 */
/* Records counted: by outcome, tool, profile, owner and day, and how long runs took. */
#include "adder.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

#define GROUPS_MOST "100" /* the largest of each */
#define DAY_MS      "86400000"

struct counting {
  struct transaction *transaction;
  struct record_filter *filter;
};

static gboolean
run (const struct counting *counting, const char *sql, sql_row row, gpointer data, GError **error)
{
  const GArray *values = counting->filter->values;
  return transaction_run (counting->transaction, sql, (const struct sql_value *)(void *)values->data,
                          values->len, row, data, NULL, error);
}

/* ---- groups ---- */

static const struct group_row {
  const char *name;
  const char *expression;
} group_table[] = {
    {"outcome", "outcome"}, {"tool", "tool"},           {"profile", "profile"},
    {"owner", "owner"},     {"front_end", "front_end"}, {"day", "started_ms / " DAY_MS},
};

static json_t *
group_name (const struct sql_value *value)
{
  if (value->kind != SQL_INTEGER)
    return json_text_or_null (value->text);
  g_autofree char *day = text_time (value->integer * G_TIME_SPAN_DAY);
  day[sizeof "2026-11-22" - 1] = '\0';
  return json_string (day);
}

static gboolean
take_group (gpointer data, const struct sql_value *row, guint columns)
{
  if (columns == 4)
    json_array_append_new (data,
                           json_pack ("{s:o, s:I, s:f, s:f}", "name", group_name (&row[0]), "records",
                                      (json_int_t)row[1].integer, "wall_ms", (double)row[2].integer / 1000.0,
                                      "cpu_ms", (double)row[3].integer / 1000.0));
  return TRUE;
}

static json_t *
count_group (const struct counting *counting, const struct group_row *group, GError **error)
{
  g_autofree char *sql = g_strdup_printf (
      "SELECT %s AS name, count(*) AS n, CAST(sum(wall_us) AS BIGINT), CAST(sum(cpu_us) AS BIGINT) "
      "FROM records %s GROUP BY 1 ORDER BY n DESC, name LIMIT " GROUPS_MOST,
      group->expression, counting->filter->where->str);
  json_t *groups = json_array ();
  if (run (counting, sql, take_group, groups, error))
    return groups;
  json_decref (groups);
  return NULL;
}

/* ---- totals ---- */

struct totals {
  gint64 records, ran, first_ms, last_ms, wall_us, cpu_us, peak_bytes;
};

static gboolean
take_totals (gpointer data, const struct sql_value *row, guint columns)
{
  struct totals *totals = data;
  gint64 *const places[] = {&totals->records, &totals->ran,    &totals->first_ms,  &totals->last_ms,
                            &totals->wall_us, &totals->cpu_us, &totals->peak_bytes};
  for (guint i = 0; i < MIN (columns, G_N_ELEMENTS (places)); i++)
    *places[i] = row[i].kind == SQL_INTEGER ? row[i].integer : 0;
  return TRUE;
}

static gboolean
count_totals (const struct counting *counting, struct totals *ret_totals, GError **error)
{
  g_autofree char *sql = g_strdup_printf (
      "SELECT count(*), CAST(sum(CASE WHEN level >= 0 THEN 1 ELSE 0 END) AS BIGINT), min(started_ms), "
      "max(started_ms), CAST(sum(wall_us) AS BIGINT), CAST(sum(cpu_us) AS BIGINT), max(peak_bytes) "
      "FROM records %s",
      counting->filter->where->str);
  return run (counting, sql, take_totals, ret_totals, error);
}

/* ---- percentiles ---- */

static gboolean
take_number (gpointer data, const struct sql_value *row, guint columns)
{
  if (columns == 1 && row[0].kind == SQL_INTEGER)
    *(gint64 *)data = row[0].integer;
  return TRUE;
}

/* By nearest rank, over the runs that had a sandbox: those that never ran took no time. */
static json_t *
count_percentiles (const struct counting *counting, const struct totals *totals, GError **error)
{
  static const struct {
    const char *name;
    gint64 percent;
  } wanted[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};
  g_autoptr (json_t) percentiles = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (wanted); i++) {
    gint64 rank = (totals->ran * wanted[i].percent + 99) / 100, wall_us = 0;
    g_autofree char *sql = g_strdup_printf (
        "SELECT wall_us FROM records %s %s level >= 0 ORDER BY wall_us LIMIT 1 "
        "OFFSET %" G_GINT64_FORMAT,
        counting->filter->where->str, counting->filter->where->len > 0 ? "AND" : "WHERE", MAX (rank, 1) - 1);
    if (!run (counting, sql, take_number, &wall_us, error))
      return NULL;
    json_object_set_new (percentiles, wanted[i].name,
                         totals->ran > 0 ? json_real ((double)wall_us / 1000.0) : json_null ());
  }
  return g_steal_pointer (&percentiles);
}

/* ---- all of it ---- */

static json_t *
time_or_null (const struct totals *totals, gint64 ms)
{
  g_autofree char *text = totals->records > 0 ? text_time (ms * 1000) : NULL;
  return json_text_or_null (text);
}

static json_t *
count_all (const struct counting *counting, GError **error)
{
  struct totals totals = {0};
  if (!count_totals (counting, &totals, error))
    return NULL;
  json_t *percentiles = count_percentiles (counting, &totals, error);
  if (!percentiles)
    return NULL;
  g_autoptr (json_t) stats =
      json_pack ("{s:I, s:I, s:o, s:o, s:f, s:f, s:I, s:o}", "records", (json_int_t)totals.records, "ran",
                 (json_int_t)totals.ran, "first", time_or_null (&totals, totals.first_ms), "last",
                 time_or_null (&totals, totals.last_ms), "wall_ms_total", (double)totals.wall_us / 1000.0,
                 "cpu_ms_total", (double)totals.cpu_us / 1000.0, "peak_memory_bytes",
                 (json_int_t)totals.peak_bytes, "wall_ms", percentiles);
  json_t *groups = json_object ();
  json_object_set_new (stats, "by", groups);
  for (gsize i = 0; i < G_N_ELEMENTS (group_table); i++) {
    json_t *group = count_group (counting, &group_table[i], error);
    if (!group)
      return NULL;
    json_object_set_new (groups, group_table[i].name, group);
  }
  return g_steal_pointer (&stats);
}

json_t *
records_stats (struct store *store, const char *owner, const json_t *filters, GError **error)
{
  struct record_filter filter;
  struct database *database = store_database (store, error);
  if (!database || !record_filter_init (&filter, owner, filters, error))
    return NULL;
  struct counting counting = {record_begin (database, error), &filter};
  json_t *stats = counting.transaction ? count_all (&counting, error) : NULL;
  transaction_end (counting.transaction);
  record_filter_clear (&filter);
  return stats;
}
