/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are one material. The entries are made from cells of the literature, as several databases tell
 * them. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "materials/merge.h"
#include "materials/record.h"
#include "suite.h"

struct site {
  const char *symbol;
  double at[3]; /* fractions of the cell */
};

struct crystal {
  const char *formula;
  double v[3][3];
  struct site sites[16];
};

/* Meagher and Lager, Canadian Mineralogist 17 (1979) 77; Horn et al., Z. Kristallogr. 136 (1972) 273. */
static const struct crystal rutile = {"O2Ti",
                                      {{4.593, 0, 0}, {0, 4.593, 0}, {0, 0, 2.959}},
                                      {{"Ti", {0, 0, 0}},
                                       {"Ti", {.5, .5, .5}},
                                       {"O", {.3051, .3051, 0}},
                                       {"O", {.6949, .6949, 0}},
                                       {"O", {.1949, .8051, .5}},
                                       {"O", {.8051, .1949, .5}}}};
#define ANATASE_O(x, y, z)                                                                                   \
  {"O", {(x), (y), (z) + .2081}},                                                                            \
  {                                                                                                          \
    "O",                                                                                                     \
    {                                                                                                        \
      (x), (y), (z)-.2081                                                                                    \
    }                                                                                                        \
  }
static const struct crystal anatase = {"O2Ti",
                                       {{3.785, 0, 0}, {0, 3.785, 0}, {0, 0, 9.514}},
                                       {{"Ti", {0, 0, 0}},
                                        {"Ti", {.5, .5, .5}},
                                        {"Ti", {0, .5, .25}},
                                        {"Ti", {.5, 0, .75}},
                                        ANATASE_O (0, 0, 0),
                                        ANATASE_O (.5, .5, .5),
                                        ANATASE_O (0, .5, .25),
                                        ANATASE_O (.5, 0, .75)}},
                            anatase_primitive = {"O2Ti",
                                                 {{-1.8925, 1.8925, 4.757},
                                                  {1.8925, -1.8925, 4.757},
                                                  {1.8925, 1.8925, -4.757}},
                                                 {{"Ti", {0, 0, 0}},
                                                  {"Ti", {.75, .25, .5}},
                                                  {"O", {.2081, .2081, 0}},
                                                  {"O", {-.2081, -.2081, 0}},
                                                  {"O", {.9581, .4581, .5}},
                                                  {"O", {.5419, .0419, .5}}}};
/* Polytypes: one formula, one space group, one density, and layers in another order (Å of Bechstedt et al.,
 * Phys. Status Solidi B 202 (1997) 35). */
static const struct crystal carbide_4h = {"CSi",
                                          {{3.073, 0, 0}, {-1.5365, 2.66130, 0}, {0, 0, 10.053}},
                                          {{"Si", {0, 0, 0}},
                                           {"Si", {0, 0, .5}},
                                           {"Si", {1 / 3., 2 / 3., .25}},
                                           {"Si", {2 / 3., 1 / 3., .75}},
                                           {"C", {0, 0, .1875}},
                                           {"C", {0, 0, .6875}},
                                           {"C", {1 / 3., 2 / 3., .4375}},
                                           {"C", {2 / 3., 1 / 3., .9375}}}},
                            carbide_6h = {"CSi",
                                          {{3.073, 0, 0}, {-1.5365, 2.66130, 0}, {0, 0, 15.0795}},
                                          {{"Si", {0, 0, 0}},
                                           {"Si", {0, 0, .5}},
                                           {"Si", {1 / 3., 2 / 3., 1 / 6.}},
                                           {"Si", {2 / 3., 1 / 3., 2 / 6.}},
                                           {"Si", {2 / 3., 1 / 3., 4 / 6.}},
                                           {"Si", {1 / 3., 2 / 3., 5 / 6.}},
                                           {"C", {0, 0, .125}},
                                           {"C", {0, 0, .625}},
                                           {"C", {1 / 3., 2 / 3., .2917}},
                                           {"C", {2 / 3., 1 / 3., .4583}},
                                           {"C", {2 / 3., 1 / 3., .7917}},
                                           {"C", {1 / 3., 2 / 3., .9583}}}};
static const struct crystal halite = {"ClNa",
                                      {{5.64, 0, 0}, {0, 5.64, 0}, {0, 0, 5.64}},
                                      {{"Na", {0, 0, 0}},
                                       {"Na", {0, .5, .5}},
                                       {"Na", {.5, 0, .5}},
                                       {"Na", {.5, .5, 0}},
                                       {"Cl", {.5, 0, 0}},
                                       {"Cl", {0, .5, 0}},
                                       {"Cl", {0, 0, .5}},
                                       {"Cl", {.5, .5, .5}}}},
                            halite_primitive = {"ClNa",
                                                {{0, 2.82, 2.82}, {2.82, 0, 2.82}, {2.82, 2.82, 0}},
                                                {{"Na", {0, 0, 0}}, {"Cl", {.5, .5, .5}}}};

/* The entry ID of CRYSTAL with cell vectors SCALE times as long, and MORE attributes (JSON object, taken). */
static json_t *
make_entry (const char *id, const struct crystal *crystal, double scale, json_t *more)
{
  json_t *vectors = json_array (), *positions = json_array (), *at_sites = json_array (),
         *species = json_array ();
  for (gsize i = 0; i < 3; i++)
    json_array_append_new (vectors, json_pack ("[fff]", crystal->v[i][0] * scale, crystal->v[i][1] * scale,
                                               crystal->v[i][2] * scale));
  json_int_t n = 0;
  for (const struct site *site = crystal->sites; n < 16 && site->symbol; site++, n++) {
    double at[3] = {0, 0, 0};
    for (gsize i = 0; i < 3; i++)
      for (gsize x = 0; x < 3; x++)
        at[x] += site->at[i] * crystal->v[i][x] * scale;
    json_array_append_new (positions, json_pack ("[fff]", at[0], at[1], at[2]));
    json_array_append_new (at_sites, json_string (site->symbol));
    json_array_append_new (species, json_pack ("{sss[s]s[f]}", "name", site->symbol, "chemical_symbols",
                                               site->symbol, "concentration", 1.0));
  }
  json_t *attributes =
      json_pack ("{sssosososo}", "chemical_formula_reduced", crystal->formula, "lattice_vectors", vectors,
                 "cartesian_site_positions", positions, "species_at_sites", at_sites, "species", species);
  json_object_set_new (attributes, "nsites", json_integer (n));
  json_object_update (attributes, more);
  json_decref (more);
  return json_pack ("{ssssso}", "type", "structures", "id", id, "attributes", attributes);
}

static void
add (json_t *rows, const char *provider, const char *id, const struct crystal *crystal, double scale,
     json_t *more)
{
  const char *why;
  json_t *entry = make_entry (id, crystal, scale, more);
  json_t *row = materials_record (provider, entry, TRUE, &why);
  g_assert_nonnull (row);
  json_array_append_new (rows, row);
  json_decref (entry);
}

static json_t *
group (int number)
{
  return number ? json_pack ("{si}", "space_group_it_number", number) : json_object ();
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* The sources of each merged row, sorted: "cod:1+mp:2 oqmd:3". */
static char *
sources (const json_t *merged)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_free);
  gsize i, k;
  json_t *row, *source;
  json_array_foreach ((json_t *)merged, i, row)
  {
    g_autoptr (GPtrArray) names = g_ptr_array_new ();
    g_assert_null (json_object_get (row, "_same"));
    json_array_foreach (json_object_get (row, "sources"), k, source)
    {
      g_ptr_array_add (names, (gpointer)json_string_value (source));
    }
    g_ptr_array_sort (names, by_name);
    g_ptr_array_add (names, NULL);
    g_ptr_array_add (rows, g_strjoinv ("+", (char **)names->pdata));
  }
  g_ptr_array_sort (rows, by_name);
  g_ptr_array_add (rows, NULL);
  return g_strjoinv (" ", (char **)rows->pdata);
}

static void
assert_merged (const json_t *rows, const char *expected)
{
  g_autoptr (json_t) before = json_deep_copy (rows), merged = materials_merge (rows);
  g_autofree char *got = sources (merged);
  g_assert_cmpstr (got, ==, expected);
  g_assert_true (json_equal (rows, before));
}

/* Two rows: of which crystals, by how much the second is larger, which space groups, and whether they are
 * one. */
static const struct {
  const struct crystal *a, *b;
  double scale;
  int group_a, group_b;
  gboolean same;
} pairs[] = {
    {&rutile, &rutile, 1, 136, 136, TRUE},
    {&rutile, &rutile, 1, 0, 136, TRUE},
    {&rutile, &rutile, 1, 0, 0, TRUE},
    {&rutile, &rutile, 1, 136, 58, FALSE},       /* they say two groups */
    {&rutile, &rutile, 1.0125, 136, 136, TRUE},  /* 3.8 % of volume */
    {&rutile, &rutile, 1.0137, 136, 136, FALSE}, /* 4.2 % */
    {&rutile, &rutile, 0.9875, 0, 0, TRUE},
    {&rutile, &anatase, 1, 136, 141, FALSE},
    {&rutile, &anatase, 0.973, 0, 0, FALSE}, /* of one density */
    {&anatase, &anatase_primitive, 1, 141, 141, TRUE},
    {&anatase, &anatase_primitive, 1.01, 0, 0, TRUE},
    {&halite, &halite_primitive, 1, 225, 225, TRUE},
    {&halite, &halite_primitive, 0.99, 0, 0, TRUE},
    {&carbide_4h, &carbide_6h, 1, 186, 186, FALSE}, /* one group and one density, but other lattices */
    {&carbide_4h, &carbide_4h, 1, 186, 186, TRUE},
    {&halite, &rutile, 1, 0, 0, FALSE},
};

static void
test_pairs (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (int turned = 0; turned < 2; turned++) {
      g_autoptr (json_t) rows = json_array ();
      g_test_message ("pair %zu", i);
      if (turned)
        add (rows, "cod", "2", pairs[i].b, pairs[i].scale, group (pairs[i].group_b));
      add (rows, "mp", "1", pairs[i].a, 1, group (pairs[i].group_a));
      if (!turned)
        add (rows, "cod", "2", pairs[i].b, pairs[i].scale, group (pairs[i].group_b));
      assert_merged (rows, pairs[i].same ? "cod:2+mp:1" : "cod:2 mp:1");
    }
}

/* Who does not say enough to be compared stays alone. */
static void
test_doubts (void)
{
  static const char *const missing[] = {"chemical_formula_reduced", "lattice_vectors", "species"};
  for (gsize i = 0; i < G_N_ELEMENTS (missing); i++) {
    g_autoptr (json_t) rows = json_array ();
    for (int k = 0; k < 2; k++) {
      json_t *more = json_pack ("{sn}", missing[i]);
      if (i == 0)
        json_object_set_new (more, "species", json_null ());
      if (i == 2)
        json_object_set_new (more, "nsites", json_integer (7));
      add (rows, k ? "mp" : "cod", "1", &rutile, 1, more);
    }
    assert_merged (rows, "cod:1 mp:1");
  }
  /* a slab, whose volume is made up */
  g_autoptr (json_t) slabs = json_array ();
  add (slabs, "mp", "1", &rutile, 1, json_pack ("{s[iii]}", "dimension_types", 1, 1, 0));
  add (slabs, "cod", "1", &rutile, 1, json_pack ("{s[iii]}", "dimension_types", 1, 1, 0));
  assert_merged (slabs, "cod:1 mp:1");
}

/* A row without a space group that fits two of them is in doubt; the two are not drawn together by it. */
static void
test_two_groups (void)
{
  g_autoptr (json_t) rows = json_array ();
  add (rows, "mp", "1", &rutile, 1, group (136));
  add (rows, "oqmd", "2", &rutile, 1.001, group (58));
  add (rows, "cod", "3", &rutile, 1.0005, group (0));
  add (rows, "aflow", "4", &rutile, 1.0006, group (0));
  assert_merged (rows, "aflow:4+cod:3 mp:1 oqmd:2");
}

/* A chain of rows, each near the next, is not one material from end to end. */
static void
test_chain (void)
{
  g_autoptr (json_t) rows = json_array ();
  add (rows, "a", "1", &halite, 1, group (225));
  add (rows, "b", "2", &halite, 1.009, group (225));
  add (rows, "c", "3", &halite, 1.018, group (225));
  add (rows, "d", "4", &halite, 1.0285, group (225));
  assert_merged (rows, "a:1 b:2+c:3 d:4"); /* the nearest two */
}

/* A provider that keeps two entries has two materials, and another's goes with the nearer one. */
static void
test_one_provider (void)
{
  g_autoptr (json_t) rows = json_array ();
  add (rows, "cod", "1", &rutile, 1, group (136));
  add (rows, "cod", "2", &rutile, 1.002, group (136));
  add (rows, "cod", "3", &rutile, 1.004, group (136));
  add (rows, "mp", "9", &rutile, 1.0025, group (136));
  assert_merged (rows, "cod:1 cod:2+mp:9 cod:3");
}

static void
test_same_source (void)
{
  g_autoptr (json_t) rows = json_array ();
  add (rows, "mp", "1", &rutile, 1, group (136));
  add (rows, "mp", "1", &rutile, 1, group (136));
  add (rows, "mp", "1", &anatase, 1, group (141));
  assert_merged (rows, "mp:1");
  g_autoptr (json_t) merged = materials_merge (rows), again = materials_merge (merged);
  g_assert_true (json_equal (merged, again));
}

/* One row has what all of them said: the cell of one, the fields of each, the latest moment, all that is raw.
 */
static void
test_whole (void)
{
  g_autoptr (json_t) rows = json_array ();
  add (rows, "oqmd", "7", &rutile, 1.01,
       json_pack ("{sfss}", "_oqmd_delta_e", -3.2, "last_modified", "2024-05-01T00:00:00Z"));
  add (rows, "mp", "2657", &rutile, 1,
       json_pack ("{sisssfss}", "space_group_it_number", 136, "space_group_symbol_hermann_mauguin",
                  "P4_2/mnm", "_mp_band_gap", 1.78, "last_modified", "2023-01-01T00:00:00Z"));
  g_autoptr (json_t) merged = materials_merge (rows);
  g_assert_cmpuint (json_array_size (merged), ==, 1);
  const json_t *row = json_array_get (merged, 0);
  g_assert_cmpfloat (json_number_value (json_object_get (row, "a")), ==, 4.593);
  g_assert_cmpfloat (json_number_value (json_object_get (row, "mp_band_gap")), ==, 1.78);
  g_assert_cmpfloat (json_number_value (json_object_get (row, "oqmd_delta_e")), ==, -3.2);
  g_assert_cmpint (json_integer_value (json_object_get (row, "space_group")), ==, 136);
  g_assert_cmpstr (json_member_text (row, "last_modified"), ==, "2024-05-01T00:00:00.000Z");
  g_assert_cmpstr (json_string_value (json_array_get (json_object_get (row, "sources"), 0)), ==, "mp:2657");
  g_assert_cmpuint (json_array_size (json_object_get (row, "sources")), ==, 2);
  g_assert_cmpuint (json_object_size (json_object_get (row, "raw")), ==, 2);
}

/* Shuffled rows come to the same materials, of which each has the same members. */
static void
test_any_order (void)
{
  static const struct crystal *const crystals[] = {&rutile,     &anatase, &anatase_primitive, &carbide_4h,
                                                   &carbide_6h, &halite,  &halite_primitive};
  static const char *const providers[] = {"mp", "oqmd", "cod", "aflow", "x"};
  g_autoptr (GRand) chance = g_rand_new_with_seed (20261123);
  for (int round = 0; round < 20; round++) {
    g_autoptr (json_t) rows = json_array ();
    for (int i = 0; i < 60; i++) {
      g_autofree char *id = g_strdup_printf ("%d", i);
      add (rows, providers[g_rand_int_range (chance, 0, 5)], id, crystals[g_rand_int_range (chance, 0, 7)],
           1 + g_rand_int_range (chance, 0, 20) * 0.002, group (g_rand_boolean (chance) ? 0 : 186));
    }
    g_autoptr (json_t) expected = materials_merge (rows);
    g_autofree char *names = sources (expected);
    for (int turn = 0; turn < 5; turn++) {
      g_autoptr (json_t) shuffled = json_copy (rows);
      for (gsize i = json_array_size (shuffled) - 1; i > 0; i--) {
        gsize k = (gsize)g_rand_int_range (chance, 0, (gint32)i + 1);
        json_t *a = json_incref (json_array_get (shuffled, i));
        json_array_set (shuffled, i, json_array_get (shuffled, k));
        json_array_set_new (shuffled, k, a);
      }
      g_autoptr (json_t) merged = materials_merge (shuffled);
      g_autofree char *got = sources (merged);
      g_assert_cmpstr (got, ==, names);
      g_assert_cmpuint (json_array_size (merged), ==, json_array_size (expected));
      for (gsize i = 0; i < json_array_size (merged); i++) {
        gboolean found = FALSE;
        for (gsize k = 0; !found && k < json_array_size (expected); k++)
          found = json_equal (json_array_get (merged, i), json_array_get (expected, k));
        g_assert_true (found);
      }
    }
  }
}

/* The order of the rows is that of their firsts. */
static void
test_order (void)
{
  g_autoptr (json_t) rows = json_array ();
  add (rows, "mp", "1", &halite, 1, group (225));
  add (rows, "mp", "2", &rutile, 1, group (136));
  add (rows, "cod", "3", &carbide_4h, 1, group (186));
  add (rows, "cod", "4", &halite, 1, group (225));
  g_autoptr (json_t) merged = materials_merge (rows);
  g_assert_cmpuint (json_array_size (merged), ==, 3);
  g_assert_cmpstr (json_member_text (json_array_get (merged, 0), "formula"), ==, "ClNa");
  g_assert_cmpstr (json_member_text (json_array_get (merged, 1), "formula"), ==, "O2Ti");
  g_assert_cmpstr (json_member_text (json_array_get (merged, 2), "formula"), ==, "CSi");
}

/* Of this thread's own work, whoever else has the processor meanwhile. */
static gint64
thread_us (void)
{
  struct timespec spent;
  g_assert_cmpint (clock_gettime (CLOCK_THREAD_CPUTIME_ID, &spent), ==, 0);
  return spent.tv_sec * G_USEC_PER_SEC + spent.tv_nsec / 1000;
}

/* Four times as many rows that are all alike take no more than some times as long, and not sixteen times. */
static gint64
merge_many (guint n)
{
  g_autoptr (json_t) rows = json_array (), one = json_array ();
  add (one, "mp", "1", &halite, 1, group (225));
  for (guint i = 0; i < n; i++) {
    json_t *row = json_copy (json_array_get (one, 0));
    g_autofree char *source = g_strdup_printf ("p%u:%u", i % 7, i);
    json_object_set_new (row, "sources", json_pack ("[s]", source));
    json_array_append_new (rows, row);
  }
  gint64 start = thread_us ();
  g_autoptr (json_t) merged = materials_merge (rows);
  gint64 took = thread_us () - start;
  g_assert_cmpuint (json_array_size (merged), <, n);
  gsize all = 0;
  for (gsize i = 0; i < json_array_size (merged); i++)
    all += json_array_size (json_object_get (json_array_get (merged, i), "sources"));
  g_assert_cmpuint (all, ==, n);
  return took;
}

static void
test_cost (void)
{
  gint64 few = merge_many (3000), many = merge_many (12000);
  g_test_message ("3000 rows: %" G_GINT64_FORMAT " us, 12000: %" G_GINT64_FORMAT " us", few, many);
  g_assert_cmpint (many, <, 10 * few + 100000);
}

static void
test_none (void)
{
  g_autoptr (json_t) rows = json_array ();
  assert_merged (rows, "");
  json_array_append_new (rows, json_object ());
  json_array_append_new (rows, json_object ());
  g_autoptr (json_t) merged = materials_merge (rows);
  g_assert_cmpuint (json_array_size (merged), ==, 2);
}

UNIT_SUITE (materials_merge)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/materials/merge/pairs", test_pairs);
  g_test_add_func ("/materials/merge/doubts", test_doubts);
  g_test_add_func ("/materials/merge/two_groups", test_two_groups);
  g_test_add_func ("/materials/merge/chain", test_chain);
  g_test_add_func ("/materials/merge/one_provider", test_one_provider);
  g_test_add_func ("/materials/merge/same_source", test_same_source);
  g_test_add_func ("/materials/merge/whole", test_whole);
  g_test_add_func ("/materials/merge/any_order", test_any_order);
  g_test_add_func ("/materials/merge/order", test_order);
  g_test_add_func ("/materials/merge/cost", test_cost);
  g_test_add_func ("/materials/merge/none", test_none);
  return g_test_run ();
}
