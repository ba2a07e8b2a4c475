/* SPDX-License-Identifier: Apache-2.0 */
/* Records counted: by outcome, tool, profile, owner and day, and how long runs took. */
#include "adder_types.h"
#include "common/json.h"
#include "common/text.h"
#include "store/records_private.h"

#define GROUPS_MAX 100 /* the largest of each */
#define DAY_MS     "86400000"

/* What records are counted by: columns of the one question. */
enum group { GROUP_OUTCOME, GROUP_TOOL, GROUP_PROFILE, GROUP_OWNER, GROUP_FRONT_END, GROUP_DAY, GROUPS };

static const char *const group_names[GROUPS] = {
    [GROUP_OUTCOME] = "outcome", [GROUP_TOOL] = "tool",           [GROUP_PROFILE] = "profile",
    [GROUP_OWNER] = "owner",     [GROUP_FRONT_END] = "front_end", [GROUP_DAY] = "day",
};

/* Of one value of a group. */
struct tally {
  char *name; /* NULL: none */
  gint64 records, wall_us, cpu_us;
};

struct counting {
  struct transaction *transaction;
  struct record_filter *filter;
  GHashTable *groups[GROUPS]; /* name (or "") -> struct tally */
  gint64 records, ran, first_ms, last_ms, wall_us, cpu_us, peak_bytes;
};

static void
tally_free (gpointer data)
{
  struct tally *tally = data;
  g_free (tally->name);
  g_free (tally);
}

static gboolean
records_stats_run (struct counting *counting, const char *sql, sql_row row, gpointer data, GError **error)
{
  const GArray *values = counting->filter->values;
  return transaction_run (counting->transaction, sql, (const struct sql_value *)(void *)values->data,
                          values->len, row, data, NULL, error);
}

/* ---- counting ---- */

enum sum {
  SUM_RECORDS = GROUPS,
  SUM_RAN,
  SUM_WALL_US,
  SUM_CPU_US,
  SUM_FIRST_MS,
  SUM_LAST_MS,
  SUM_PEAK_BYTES,
};

/* The text of VALUE in GROUP; the caller's, or NULL. */
static char *
records_stats_name_of (enum group group, const struct sql_value *value)
{
  if (group != GROUP_DAY)
    return g_strdup (value->text);
  char *day = text_time (value->integer * G_TIME_SPAN_DAY);
  day[sizeof "2026-11-22" - 1] = '\0';
  return day;
}

static void
add_to_group (struct counting *counting, enum group group, const struct sql_value *row)
{
  g_autofree char *name = records_stats_name_of (group, &row[group]);
  const char *key = name ? name : "";
  struct tally *tally = g_hash_table_lookup (counting->groups[group], key);
  if (!tally) {
    tally = g_new0 (struct tally, 1);
    g_hash_table_insert (counting->groups[group], g_strdup (key), tally);
    tally->name = g_steal_pointer (&name);
  }
  tally->records += row[SUM_RECORDS].integer;
  tally->wall_us += row[SUM_WALL_US].integer;
  tally->cpu_us += row[SUM_CPU_US].integer;
}

static gboolean
take_sums (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct counting *counting = data;
  for (guint i = 0; i < GROUPS; i++)
    add_to_group (counting, i, row);
  gboolean first = counting->records == 0;
  counting->first_ms =
      first ? row[SUM_FIRST_MS].integer : MIN (counting->first_ms, row[SUM_FIRST_MS].integer);
  counting->last_ms = MAX (counting->last_ms, row[SUM_LAST_MS].integer);
  counting->peak_bytes = MAX (counting->peak_bytes, row[SUM_PEAK_BYTES].integer);
  counting->records += row[SUM_RECORDS].integer;
  counting->ran += row[SUM_RAN].integer;
  counting->wall_us += row[SUM_WALL_US].integer;
  counting->cpu_us += row[SUM_CPU_US].integer;
  return TRUE;
}

/* Unknown values of a run, -1, are skipped. */
#define KNOWN_SUM(column) "CAST(sum(CASE WHEN " column " > 0 THEN " column " ELSE 0 END) AS BIGINT)"

/* All groups at once, in a single scan. */
static gboolean
records_stats_count_groups (struct counting *counting, GError **error)
{
  g_autofree char *sql = g_strdup_printf (
      "SELECT outcome, tool, profile, owner, front_end, started_ms / " DAY_MS ", count(*), "
      "CAST(sum(CASE WHEN level >= 0 THEN 1 ELSE 0 END) AS BIGINT), " KNOWN_SUM ("wall_us") ", " KNOWN_SUM (
          "cpu_us") ", min(started_ms), max(started_ms), max(peak_bytes) "
                    "FROM records %s GROUP BY 1, 2, 3, 4, 5, 6",
      counting->filter->where->str);
  return records_stats_run (counting, sql, take_sums, counting, error);
}

/* ---- percentiles ---- */

static const struct {
  const char *name;
  gint64 percent;
} percentile_table[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};

/* By nearest rank. */
static gint64
rank_of (gint64 percent, gint64 count)
{
  return MAX ((count * percent + 99) / 100, 1);
}

struct ranks {
  gint64 ran;
  gint64 wall_us[G_N_ELEMENTS (percentile_table)];
};

static gboolean
take_rank (gpointer data, const struct sql_value *row, guint columns G_GNUC_UNUSED)
{
  struct ranks *ranks = data;
  for (gsize i = 0; i < G_N_ELEMENTS (percentile_table); i++)
    if (row[0].integer == rank_of (percentile_table[i].percent, ranks->ran))
      ranks->wall_us[i] = row[1].integer;
  return TRUE;
}

/* Over the runs that had a sandbox: the others took no time. */
static json_t *
count_percentiles (struct counting *counting, GError **error)
{
  struct ranks ranks = {.ran = counting->ran};
  const GString *where = counting->filter->where;
  g_autoptr (GString) wanted = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (percentile_table); i++)
    g_string_append_printf (wanted, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "",
                            rank_of (percentile_table[i].percent, counting->ran));
  g_autofree char *sql = g_strdup_printf (
      "SELECT place, wall_us FROM (SELECT wall_us, row_number() OVER (ORDER BY wall_us) AS place "
      "FROM records %s %s level >= 0) AS ranked WHERE place IN (%s)",
      where->str, where->len > 0 ? "AND" : "WHERE", wanted->str);
  if (!records_stats_run (counting, sql, take_rank, &ranks, error))
    return NULL;
  json_t *percentiles = json_object ();
  for (gsize i = 0; i < G_N_ELEMENTS (percentile_table); i++)
    json_object_set_new (percentiles, percentile_table[i].name,
                         counting->ran > 0 ? json_real ((double)ranks.wall_us[i] / 1000.0) : json_null ());
  return percentiles;
}

/* ---- as JSON ---- */

static gint
compare_tallies (gconstpointer left, gconstpointer right)
{
  const struct tally *a = *(const struct tally *const *)left, *b = *(const struct tally *const *)right;
  if (a->records != b->records)
    return a->records > b->records ? -1 : 1;
  return g_strcmp0 (a->name, b->name);
}

/* The largest first. */
static json_t *
group_to_json (GHashTable *group)
{
  g_autoptr (GPtrArray) tallies = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer each;
  g_hash_table_iter_init (&iter, group);
  while (g_hash_table_iter_next (&iter, NULL, &each))
    g_ptr_array_add (tallies, each);
  g_ptr_array_sort (tallies, compare_tallies);
  json_t *list = json_array ();
  for (guint i = 0; i < MIN (tallies->len, GROUPS_MAX); i++) {
    const struct tally *tally = tallies->pdata[i];
    json_array_append_new (list, json_pack ("{s:o, s:I, s:f, s:f}", "name", json_text_or_null (tally->name),
                                            "records", (json_int_t)tally->records, "wall_ms",
                                            (double)tally->wall_us / 1000.0, "cpu_ms",
                                            (double)tally->cpu_us / 1000.0));
  }
  return list;
}

static json_t *
time_or_null (const struct counting *counting, gint64 ms)
{
  g_autofree char *text = counting->records > 0 ? text_time (ms * 1000) : NULL;
  return json_text_or_null (text);
}

static json_t *
count_all (struct counting *counting, GError **error)
{
  json_t *percentiles =
      records_stats_count_groups (counting, error) ? count_percentiles (counting, error) : NULL;
  if (!percentiles)
    return NULL;
  json_t *stats =
      json_pack ("{s:I, s:I, s:o, s:o, s:f, s:f, s:I, s:o}", "records", (json_int_t)counting->records, "ran",
                 (json_int_t)counting->ran, "first", time_or_null (counting, counting->first_ms), "last",
                 time_or_null (counting, counting->last_ms), "wall_ms_total",
                 (double)counting->wall_us / 1000.0, "cpu_ms_total", (double)counting->cpu_us / 1000.0,
                 "peak_memory_bytes", (json_int_t)counting->peak_bytes, "wall_ms", percentiles);
  json_t *groups = json_object ();
  json_object_set_new (stats, "by", groups);
  for (guint i = 0; i < GROUPS; i++)
    json_object_set_new (groups, group_names[i], group_to_json (counting->groups[i]));
  return stats;
}

json_t *
records_stats (struct store *store, const char *owner, const json_t *filters, GError **error)
{
  struct record_filter filter;
  struct database *database = store_database (store, error);
  if (!database || !record_filter_init (&filter, owner, filters, error))
    return NULL;
  struct counting counting = {.transaction = record_begin (database, error), .filter = &filter};
  for (guint i = 0; i < GROUPS; i++)
    counting.groups[i] = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, tally_free);
  json_t *stats = counting.transaction ? count_all (&counting, error) : NULL;
  for (guint i = 0; i < GROUPS; i++)
    g_hash_table_unref (counting.groups[i]);
  transaction_end (counting.transaction);
  record_filter_clear (&filter);
  return stats;
}
