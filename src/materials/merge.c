/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with the same source are one first. Then rows that can be the same material stand side by side once
 * they are sorted by formula, sites and volume; pairs of them that are the same are joined, the nearest
 * first, as long as each row of both groups is the same as each of the other, and no provider stands in both:
 * a provider that keeps two entries says that they are two. All orders are of what rows say, so that the
 * groups do not depend on how rows came in. */
#include "materials/merge.h"

#include <glib.h>
#include <string.h>

#include "common/json.h"
#include "materials/same.h"

/* So many neighbours does a row have at most, which keeps the cost at n log n. More of one formula, with as
 * many sites and within the same 4 % of volume, are of providers that have each material many times; those
 * further off stay rows of their own. */
#define NEIGHBOURS_MAX 32

/* Rows that are one. Those with the same source at first; then groups are joined, and the joined one is
 * empty. */
struct group {
  GPtrArray *rows; /* json_t, the one that says most first; the caller's */
  gsize first;     /* the place of the first of them in what came in */
  GArray *facts;   /* struct facts, of each group that was joined; none: it cannot be compared */
  struct group *into;
  guint rank;        /* its place among those that can be compared, once they are sorted */
  gboolean doubtful; /* without a space group, and the same as rows of two */
};

struct pair {
  double distance;
  struct group *a, *b;
};

static struct group *
group_new (gsize first)
{
  struct group *group = g_new0 (struct group, 1);
  group->rows = g_ptr_array_new ();
  group->facts = g_array_new (FALSE, FALSE, sizeof (struct facts));
  group->first = first;
  return group;
}

static void
group_free (gpointer data)
{
  struct group *group = data;
  g_ptr_array_unref (group->rows);
  g_array_unref (group->facts);
  g_free (group);
}

static const char *
source_of (const json_t *row, gsize i)
{
  const char *source = json_string_value (json_array_get (json_object_get (row, "sources"), i));
  return source ? source : "";
}

/* ---- which row stands for others ---- */

static guint
count_said (const json_t *row)
{
  guint said = 0;
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)row, name, value)
  {
    said += !json_is_null (value);
  }
  return said;
}

/* The one that says more first, then the later one, then by name, then by all that it says. */
static int
by_worth (gconstpointer a, gconstpointer b)
{
  const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
  gboolean cell_x = json_is_number (json_object_get (x, "volume")),
           cell_y = json_is_number (json_object_get (y, "volume"));
  if (cell_x != cell_y)
    return cell_x ? -1 : 1;
  guint said_x = count_said (x), said_y = count_said (y);
  if (said_x != said_y)
    return said_x > said_y ? -1 : 1;
  int order = strcmp (json_member_text (y, "last_modified"), json_member_text (x, "last_modified"));
  if (!order)
    order = strcmp (source_of (x, 0), source_of (y, 0));
  if (order)
    return order;
  g_autofree char *text_x = json_dumps (x, JSON_SORT_KEYS), *text_y = json_dumps (y, JSON_SORT_KEYS);
  return g_strcmp0 (text_x, text_y);
}

/* ---- the same source ---- */

/* The root of ROW in PARENTS, where each row names one that it is one with, or itself. */
static gsize
root_of (gsize *parents, gsize row)
{
  while (parents[row] != row)
    row = parents[row] = parents[parents[row]];
  return row;
}

static gsize *
rows_by_source (const json_t *rows)
{
  gsize n = json_array_size (rows), *parents = g_new0 (gsize, n + 1);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; i < n; i++) {
    const json_t *row = json_array_get (rows, i);
    parents[i] = i;
    for (gsize k = 0; k < json_array_size (json_object_get (row, "sources")); k++) {
      const char *source = source_of (row, k);
      gpointer other;
      if (g_hash_table_lookup_extended (seen, source, NULL, &other))
        parents[root_of (parents, i)] = root_of (parents, GPOINTER_TO_SIZE (other));
      else
        g_hash_table_insert (seen, (gpointer)source, GSIZE_TO_POINTER (i));
    }
  }
  return parents;
}

/* Array of struct group, in the order of their first rows. */
static GPtrArray *
groups_by_source (const json_t *rows)
{
  gsize n = json_array_size (rows);
  g_autofree gsize *parents = rows_by_source (rows);
  g_autofree struct group **by_root = g_new0 (struct group *, n + 1);
  GPtrArray *groups = g_ptr_array_new_with_free_func (group_free);
  for (gsize i = 0; i < n; i++) {
    struct group **group = &by_root[root_of (parents, i)];
    if (!*group)
      g_ptr_array_add (groups, *group = group_new (i));
    g_ptr_array_add ((*group)->rows, json_array_get (rows, i));
  }
  for (guint i = 0; i < groups->len; i++) {
    struct group *group = groups->pdata[i];
    struct facts facts;
    g_ptr_array_sort (group->rows, by_worth);
    if (facts_read (group->rows->pdata[0], &facts))
      g_array_append_val (group->facts, facts);
  }
  return groups;
}

/* ---- the same material ---- */

static const struct facts *
merge_facts_of (const struct group *group, guint i)
{
  return &g_array_index (group->facts, struct facts, i);
}

static int
merge_compare (double a, double b)
{
  return (a > b) - (a < b);
}

/* What can be the same stands together, by volume. */
static int
by_facts (gconstpointer a, gconstpointer b)
{
  const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
  const struct facts *f = merge_facts_of (x, 0), *g = merge_facts_of (y, 0);
  int order = strcmp (f->formula, g->formula);
  if (!order)
    order = merge_compare ((double)f->sites, (double)g->sites);
  if (!order)
    order = merge_compare (f->volume, g->volume);
  return order ? order : by_worth (&x->rows->pdata[0], &y->rows->pdata[0]);
}

static gboolean
same_provider (const char *a, const char *b)
{
  gsize length = strcspn (a, ":");
  return length == strcspn (b, ":") && strncmp (a, b, length) == 0;
}

/* Whether a provider stands in X and in Y. */
static gboolean
share_provider (const json_t *x, const json_t *y)
{
  for (gsize i = 0; i < json_array_size (json_object_get (x, "sources")); i++)
    for (gsize k = 0; k < json_array_size (json_object_get (y, "sources")); k++)
      if (same_provider (source_of (x, i), source_of (y, k)))
        return TRUE;
  return FALSE;
}

static gboolean
share_providers (const struct group *a, const struct group *b)
{
  for (guint i = 0; i < a->rows->len; i++)
    for (guint k = 0; k < b->rows->len; k++)
      if (share_provider (a->rows->pdata[i], b->rows->pdata[k]))
        return TRUE;
  return FALSE;
}

/* Array of struct pair: those that are the same and near one another in SORTED. */
static GArray *
find_pairs (const GPtrArray *sorted)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (struct pair));
  for (guint i = 0; i < sorted->len; i++)
    for (guint k = i + 1; k < sorted->len && k - i <= NEIGHBOURS_MAX; k++) {
      struct pair pair = {.a = sorted->pdata[i], .b = sorted->pdata[k]};
      const struct facts *f = merge_facts_of (pair.a, 0), *g = merge_facts_of (pair.b, 0);
      if (f->sites != g->sites || strcmp (f->formula, g->formula) != 0)
        break;
      pair.distance = same_distance (f, g);
      if (pair.distance <= 1 && !share_providers (pair.a, pair.b))
        g_array_append_val (pairs, pair);
    }
  return pairs;
}

/* GROUP has no space group: OTHER is one that it is the same as, and SEEN has the space group of another one.
 */
static void
note_space_group (GHashTable *seen, struct group *group, const struct group *other)
{
  int number = merge_facts_of (other, 0)->space_group;
  if (merge_facts_of (group, 0)->space_group || !number)
    return;
  int before = GPOINTER_TO_INT (g_hash_table_lookup (seen, group));
  if (before && before != number)
    group->doubtful = TRUE;
  g_hash_table_insert (seen, group, GINT_TO_POINTER (number));
}

static void
mark_doubtful (const GArray *pairs)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < pairs->len; i++) {
    const struct pair *pair = &g_array_index (pairs, struct pair, i);
    note_space_group (seen, pair->a, pair->b);
    note_space_group (seen, pair->b, pair->a);
  }
}

/* The nearest first; of those that are as near, the one that stands first by what its rows say. */
static int
by_distance (gconstpointer a, gconstpointer b)
{
  const struct pair *x = a, *y = b;
  int order = merge_compare (x->distance, y->distance);
  if (!order)
    order = merge_compare (x->a->rank, y->a->rank);
  return order ? order : merge_compare (x->b->rank, y->b->rank);
}

static struct group *
where_is (struct group *group)
{
  while (group->into)
    group = group->into;
  return group;
}

static gboolean
may_join (const struct group *a, const struct group *b)
{
  if (a == b || share_providers (a, b))
    return FALSE;
  for (guint i = 0; i < a->facts->len; i++)
    for (guint k = 0; k < b->facts->len; k++)
      if (same_distance (merge_facts_of (a, i), merge_facts_of (b, k)) > 1)
        return FALSE;
  return TRUE;
}

static void
join_group (struct group *into, struct group *group)
{
  for (guint i = 0; i < group->rows->len; i++)
    g_ptr_array_add (into->rows, group->rows->pdata[i]);
  g_array_append_vals (into->facts, group->facts->data, group->facts->len);
  into->first = MIN (into->first, group->first);
  g_ptr_array_set_size (group->rows, 0);
  group->into = into;
}

static void
join_pairs (const GArray *pairs)
{
  for (guint i = 0; i < pairs->len; i++) {
    const struct pair *pair = &g_array_index (pairs, struct pair, i);
    gboolean doubt = (pair->a->doubtful && merge_facts_of (pair->b, 0)->space_group) ||
                     (pair->b->doubtful && merge_facts_of (pair->a, 0)->space_group);
    struct group *a = where_is (pair->a), *b = where_is (pair->b);
    if (!doubt && may_join (a, b))
      join_group (a, b);
  }
}

/* Joins those of GROUPS that are the same material. */
static void
join_same (const GPtrArray *groups)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < groups->len; i++)
    if (((struct group *)groups->pdata[i])->facts->len)
      g_ptr_array_add (sorted, groups->pdata[i]);
  g_ptr_array_sort (sorted, by_facts);
  for (guint i = 0; i < sorted->len; i++)
    ((struct group *)sorted->pdata[i])->rank = i;
  g_autoptr (GArray) pairs = find_pairs (sorted);
  mark_doubtful (pairs);
  g_array_sort (pairs, by_distance);
  join_pairs (pairs);
}

/* ---- one row of several ---- */

static const char *const of_the_cell[] = {"nsites", "a",     "b",      "c",       "alpha",
                                          "beta",   "gamma", "volume", "density", NULL};

static void
add_sources (json_t *sources, const json_t *row)
{
  for (gsize i = 0; i < json_array_size (json_object_get (row, "sources")); i++) {
    gsize k = 0;
    while (k < json_array_size (sources) &&
           strcmp (json_string_value (json_array_get (sources, k)), source_of (row, i)) != 0)
      k++;
    if (k == json_array_size (sources))
      json_array_append_new (sources, json_string (source_of (row, i)));
  }
}

/* Adds what ROW says to ONE, which a row that says more was the beginning of. */
static void
merge_add_row (json_t *one, const json_t *row)
{
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *)row, name, value)
  {
    const json_t *have = json_object_get (one, name);
    if ((!have || json_is_null (have)) && !g_strv_contains (of_the_cell, name))
      json_object_set (one, name, value);
  }
  if (strcmp (json_member_text (row, "last_modified"), json_member_text (one, "last_modified")) > 0)
    json_object_set (one, "last_modified", json_object_get (row, "last_modified"));
}

/* A new reference. */
static json_t *
make_row (const GPtrArray *rows)
{
  json_t *one = json_copy (rows->pdata[0]), *sources = json_array (), *raw = json_object ();
  for (guint i = 0; i < rows->len; i++) {
    const json_t *row = rows->pdata[i];
    merge_add_row (one, row);
    add_sources (sources, row);
    json_object_update_missing (raw, json_object_get (row, "raw"));
  }
  json_object_set (one, "sources", sources);
  if (json_object_size (raw))
    json_object_set (one, "raw", raw);
  json_object_del (one, "_same");
  json_decref (sources);
  json_decref (raw);
  return one;
}

static int
by_first (gconstpointer a, gconstpointer b)
{
  const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
  return (x->first > y->first) - (x->first < y->first);
}

json_t *
materials_merge (const json_t *rows)
{
  g_autoptr (GPtrArray) groups = groups_by_source (rows);
  join_same (groups);
  g_ptr_array_sort (groups, by_first);
  json_t *merged = json_array ();
  for (guint i = 0; i < groups->len; i++) {
    struct group *group = groups->pdata[i];
    if (group->into)
      continue;
    g_ptr_array_sort (group->rows, by_worth);
    json_array_append_new (merged, make_row (group->rows));
  }
  return merged;
}
