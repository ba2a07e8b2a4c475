/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of /structures as databases write them, and the rows that they become. */
#include <math.h>
#include <string.h>

#include "common/json.h"
#include "materials/composition.h"
#include "materials/lattice.h"
#include "materials/record.h"
#include "materials/space_group.h"
#include "materials/weights.h"
#include "suite.h"

/* TEXT with ' for ", whose %s is MORE. */
static json_t *
parse (const char *text, const char *more)
{
  g_auto (GStrv) parts = g_strsplit (text, "%s", 2);
  g_autofree char *whole = g_strjoinv (more, parts);
  g_strdelimit (whole, "'", '"');
  json_error_t problem;
  json_t *value = json_loads (whole, 0, &problem);
  if (!value)
    g_error ("%s in %s", problem.text, whole);
  return value;
}

/* Rutile: the cell of E. P. Meagher and G. A. Lager, Canadian Mineralogist 17 (1979) 77, at 25 degrees. */
#define RUTILE_CELL                                                                                          \
  "'lattice_vectors':[[4.593,0,0],[0,4.593,0],[0,0,2.959]],"                                                 \
  "'species':[{'name':'Ti','chemical_symbols':['Ti'],'concentration':[1.0]},"                                \
  "{'name':'O','chemical_symbols':['O'],'concentration':[1.0]}],"                                            \
  "'species_at_sites':['Ti','Ti','O','O','O','O'],"                                                          \
  "'cartesian_site_positions':[[0,0,0],[2.2965,2.2965,1.4795],[1.4008,1.4008,0],[3.1922,3.1922,0],"          \
  "[0.8957,3.6973,1.4795],[3.6973,0.8957,1.4795]]"
#define RUTILE                                                                                               \
  "{'id':'mp-2657','type':'structures','attributes':{'chemical_formula_reduced':'O2Ti',"                     \
  "'elements':['O','Ti'],'nelements':2,'nsites':6,'dimension_types':[1,1,1],'nperiodic_dimensions':3,"       \
  "'structure_features':[],'last_modified':'2023-06-01T12:00:00+02:00'," RUTILE_CELL "%s}}"

static json_t *
record (const char *provider, const char *entry, const char *more)
{
  g_autoptr (json_t) parsed = parse (entry, more);
  const char *why = NULL;
  json_t *row = materials_record (provider, parsed, FALSE, &why);
  g_assert_cmpstr (why, ==, NULL);
  return row;
}

static double
number (const json_t *row, const char *name)
{
  const json_t *value = json_object_get (row, name);
  g_assert_true (json_is_number (value));
  return json_number_value (value);
}

static void
assert_member (const json_t *row, const char *name, const char *expected)
{
  const json_t *value = json_object_get (row, name);
  g_autofree char *text = value ? json_to_text (value) : g_strdup ("absent");
  g_strdelimit (text, "\"", '\'');
  if (strcmp (text, expected) != 0)
    g_error ("%s is %s, not %s", name, text, expected);
}

static void
test_schema (void)
{
  static const char *const members[] = {
      "formula", "elements", "nelements", "nsites", "space_group", "space_group_symbol", "a",      "b", "c",
      "alpha",   "beta",     "gamma",     "volume", "density",     "last_modified",      "sources"};
  g_autoptr (json_t) row = record ("mp", RUTILE, "");
  assert_member (row, "formula", "'O2Ti'");
  assert_member (row, "elements", "['O','Ti']");
  assert_member (row, "nelements", "2");
  assert_member (row, "nsites", "6");
  assert_member (row, "space_group", "null");
  assert_member (row, "last_modified", "'2023-06-01T10:00:00.000Z'");
  assert_member (row, "sources", "['mp:mp-2657']");
  g_assert_cmpfloat_with_epsilon (number (row, "a"), 4.593, 1e-9);
  g_assert_cmpfloat_with_epsilon (number (row, "c"), 2.959, 1e-9);
  g_assert_cmpfloat_with_epsilon (number (row, "gamma"), 90, 1e-9);
  g_assert_cmpfloat_with_epsilon (number (row, "volume"), 62.42, 0.01);
  g_assert_cmpfloat_with_epsilon (number (row, "density"), 4.25, 0.01); /* handbooks: 4.23 to 4.25 */
  /* an entry that says nothing has all members too */
  g_autoptr (json_t) empty = record ("x", "{'id':'1','type':'structures','attributes':{%s}}", "");
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    g_assert_nonnull (json_object_get (empty, members[i]));
  assert_member (empty, "sources", "['x:1']");
  assert_member (empty, "density", "null");
}

/* What more an entry of rutile says, and what a member of its row is then. */
static const struct {
  const char *more, *member, *value;
} rows[] = {
    /* OPTIMADE 1.2 */
    {",'space_group_it_number':136", "space_group", "136"},
    {",'space_group_it_number':136.0", "space_group", "136"},
    {",'space_group_it_number':'136'", "space_group", "null"},
    {",'space_group_it_number':231", "space_group", "null"},
    {",'space_group_it_number':-1", "space_group", "null"},
    {",'space_group_it_number':true", "space_group", "null"},
    {",'space_group_symbol_hermann_mauguin':'P4_2/mnm'", "space_group", "136"},
    {",'space_group_symbol_hermann_mauguin':'P4_2/mnm'", "space_group_symbol", "'P4_2/mnm'"},
    {",'space_group_symbol_hermann_mauguin':'P 42/m n m','space_group_it_number':136", "space_group_symbol",
     "'P 42/m n m'"},
    {",'space_group_symbol_hermann_mauguin':7", "space_group_symbol", "null"},
    /* databases of their own */
    {",'_alexandria_space_group':136", "space_group", "136"},
    {",'_cod_sgnumber':null,'_cod_sg':'P 42/m n m'", "space_group", "136"},
    {",'_oqmd_spacegroup':'P42/mnm'", "space_group", "136"},
    {",'_jarvis_spg_number':'136'", "space_group", "136"},
    {",'_oqmd_spacegroup':'P42/mnm','space_group_it_number':58", "space_group", "58"},
    /* a provider's own fields */
    {",'_mp_band_gap':1.78", "mp_band_gap", "1.78"},
    {",'_mp_chemsys':'O-Ti'", "mp_chemsys", "'O-Ti'"},
    {",'_mp_is_metal':false", "mp_is_metal", "false"},
    {",'_mp_nothing':null", "mp_nothing", "absent"},
    {",'_mp_list':[1,2]", "mp_list", "absent"},
    {",'_exmpl_band_gap':1.5", "mp_exmpl_band_gap", "1.5"},
    {",'_mpx_band_gap':1.5", "mp_mpx_band_gap", "1.5"},
    {",'band_gap':1.5", "band_gap", "absent"},
    {",'_mp_stability':{'gga_gga+u':{'energy_above_hull':0.02},'r2scan':{'energy_above_hull':0}}",
     "mp_stability_gga_gga+u_energy_above_hull", "0.02"},
    {",'_mp_stability':{'gga_gga+u':{'energy_above_hull':0.02},'r2scan':{'energy_above_hull':0}}",
     "mp_stability_r2scan_energy_above_hull", "0"},
    {",'_mp_a':{'b':{'c':{'d':{'e':1}}}}", "mp_a_b_c_d_e", "absent"},
    {",'_mp_a\\nb\\u001b[31m':1", "mp_a_b__31m", "1"},
    {",'_mp_':{'':1}", "mp__", "1"},
    /* moments */
    {",'last_modified':'2020-02-30T00:00:00Z'", "last_modified", "null"},
    {",'last_modified':'7d'", "last_modified", "null"},
    {",'last_modified':20200101", "last_modified", "null"},
    {",'last_modified':'2019-06-08T05:13:37.331Z'", "last_modified", "'2019-06-08T05:13:37.331Z'"},
    {",'last_modified':'2019-06-08T05:13:37Z'", "last_modified", "'2019-06-08T05:13:37.000Z'"},
    /* formulas */
    {",'chemical_formula_reduced':'TiO2'", "formula", "'O2Ti'"},
    {",'chemical_formula_reduced':'Ti2O4'", "formula", "'O2Ti'"},
    {",'chemical_formula_reduced':null", "formula", "'O2Ti'"},
    {",'chemical_formula_reduced':'O1.9Ti'", "formula", "'O2Ti'"},
    {",'chemical_formula_reduced':''", "formula", "'O2Ti'"},
    {",'chemical_formula_reduced':5", "formula", "'O2Ti'"},
    {",'elements':'O'", "elements", "['O','Ti']"},
    /* sites */
    {",'nsites':null", "nsites", "6"},
    {",'nsites':'6'", "nsites", "6"},
    {",'nsites':6.0", "nsites", "6"},
    {",'nsites':-6", "nsites", "6"},
    /* cells that are none */
    {",'lattice_vectors':null", "volume", "null"},
    {",'lattice_vectors':null", "density", "null"},
    {",'lattice_vectors':[[1,0,0],[0,1,0]]", "a", "null"},
    {",'lattice_vectors':[[4,0,0],[8,0,0],[0,0,4]]", "volume", "null"},
    {",'lattice_vectors':[[4,0,0],[0,4,0],[null,null,null]]", "volume", "null"},
    {",'lattice_vectors':[[4,0,0],[0,4,0],['0',0,4]]", "a", "null"},
    {",'lattice_vectors':[[1e200,0,0],[0,1e200,0],[0,0,1e200]]", "volume", "null"},
    {",'lattice_vectors':{'a':4}", "a", "null"},
    {",'dimension_types':[1,1,0]", "volume", "null"},
    {",'dimension_types':[1,1,0]", "density", "null"},
    /* atoms that are not told */
    {",'structure_features':['implicit_atoms']", "density", "null"},
    {",'species':[{'name':'Ti','chemical_symbols':['X'],'concentration':[1]},"
     "{'name':'O','chemical_symbols':['O'],'concentration':[1]}]",
     "density", "null"},
    {",'species':'Ti'", "formula", "'O2Ti'"},
    {",'species':[7,null,{},{'name':5}]", "density", "null"},
};

static void
test_rows (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (json_t) row = record ("mp", RUTILE, rows[i].more);
    g_test_message ("%s", rows[i].more);
    assert_member (row, rows[i].member, rows[i].value);
  }
}

static void
test_no_structures (void)
{
  static const char *const entries[] = {
      "[]",
      "'x'",
      "{}",
      "{'id':'1','type':'references','attributes':{}}",
      "{'id':1,'type':'structures','attributes':{}}",
      "{'id':'','type':'structures','attributes':{}}",
      "{'id':'a\\u001b[2J','type':'structures','attributes':{}}",
      "{'id':'1','type':'structures'}",
      "{'id':'1','type':'structures','attributes':[]}",
      "{'id':'1','type':5,'attributes':{}}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (entries); i++) {
    g_autofree char *wrapped = g_strconcat ("{'entry':", entries[i], "}%s", NULL);
    g_autoptr (json_t) wrapper = parse (wrapped, "");
    const char *why = NULL;
    g_assert_null (materials_record ("mp", json_object_get (wrapper, "entry"), FALSE, &why));
    g_assert_true (why && g_str_has_prefix (why, "an entry "));
  }
}

/* No provider's field takes the place of a member of the schema, whatever the provider is called. */
static void
test_reserved (void)
{
  g_autoptr (json_t) row =
      record ("last", RUTILE, ",'_last_modified':'never','_modified':1,'space_group_it_number':136");
  assert_member (row, "last_modified", "'2023-06-01T10:00:00.000Z'");
  g_autoptr (json_t) other = record ("space", RUTILE, ",'_space_group':7");
  assert_member (other, "space_group", "null");
}

static void
test_many_fields (void)
{
  g_autoptr (GString) more = g_string_new (NULL);
  for (int i = 0; i < 1000; i++)
    g_string_append_printf (more, ",'_mp_field_%d':%d", i, i);
  g_autoptr (json_t) row = record ("mp", RUTILE, more->str);
  assert_member (row, "mp_field_199", "199");
  assert_member (row, "mp_field_200", "absent");
  g_autofree char *text = g_strnfill (501, 'x');
  g_autofree char *long_text = g_strdup_printf (",'_mp_long':'%s','_mp_short':'%s'", text, text + 1);
  g_autoptr (json_t) other = record ("mp", RUTILE, long_text);
  assert_member (other, "mp_long", "absent");
  g_assert_true (json_is_string (json_object_get (other, "mp_short")));
}

static void
test_raw (void)
{
  g_autoptr (json_t) entry = parse (RUTILE, ",'_mp_list':[1]"), before = json_deep_copy (entry);
  const char *why;
  g_autoptr (json_t) row = materials_record ("mp", entry, TRUE, &why);
  g_assert_true (json_equal (json_object_get (json_object_get (row, "raw"), "mp:mp-2657"), before));
  g_assert_true (json_equal (entry, before));
}

/* Sites that are shared, groups of which only one is there, and atoms without a place. */
static void
test_disorder (void)
{
  g_autoptr (json_t) alloy = record (
      "cod",
      "{'id':'1','type':'structures','attributes':{'nsites':1,'lattice_vectors':[[0,2,2],[2,0,2],[2,2,0]],"
      "'species':[{'name':'m','chemical_symbols':['Cu','Au','vacancy'],'concentration':[0.5,0.25,0.25]}],"
      "'species_at_sites':['m']%s}}",
      "");
  assert_member (alloy, "formula", "null");
  assert_member (alloy, "elements", "['Au','Cu']");
  g_assert_cmpfloat_with_epsilon (number (alloy, "density"), 1.66053906660 * (63.546 / 2 + 196.97 / 4) / 16,
                                  1e-9);
  g_autoptr (json_t) assembly = record (
      "cod",
      "{'id':'1','type':'structures','attributes':{'nsites':2,'lattice_vectors':[[3,0,0],[0,3,0],[0,0,3]],"
      "'assemblies':[{'sites_in_groups':[[0],[1]],'group_probabilities':[0.5,0.5]}],"
      "'species':[{'name':'m','chemical_symbols':['C'],'concentration':[1],'attached':['H'],"
      "'nattached':[3]}],'species_at_sites':['m','m']%s}}",
      "");
  assert_member (assembly, "formula", "'CH3'");
  g_assert_cmpfloat_with_epsilon (number (assembly, "density"), 1.66053906660 * 15.035 / 27, 1e-9);
  g_autoptr (json_t) odd = record ("cod",
                                   "{'id':'1','type':'structures','attributes':{'chemical_formula_reduced':'%"
                                   "s','elements':['O','Fe','?']}}",
                                   "Fe0.95O");
  assert_member (odd, "formula", "'Fe0.95O'");
  assert_member (odd, "elements", "['Fe','O']");
}

/* ---- what rows are made with ---- */

static void
test_formulas (void)
{
  static const struct {
    const char *text, *reduced;
  } formulas[] = {
      {"TiO2", "O2Ti"},   {"O4Ti2", "O2Ti"}, {"H", "H"},         {"CSi", "CSi"},   {"C2H6O", "C2H6O"},
      {"Al2O3", "Al2O3"}, {"Og118", "Og"},   {"NaCl", "ClNa"},   {"", NULL},       {"tio2", NULL},
      {"Xx2", NULL},      {"O0", NULL},      {"O2Ti2O", NULL},   {"Ti1.5O", NULL}, {"Ti(OH)2", NULL},
      {"2TiO", NULL},     {"TiO-2", NULL},   {"O9999999", NULL}, {"Tiii", NULL},   {"O2 Ti", NULL},
      {"C60", "C"},       {"Ca", "Ca"},      {"CA", NULL},       {"CO", "CO"},     {"Co", "Co"}};
  for (gsize i = 0; i < G_N_ELEMENTS (formulas); i++) {
    g_autoptr (json_t) counts = composition_of_formula (formulas[i].text);
    g_autofree char *reduced = counts ? composition_formula (counts) : NULL;
    g_assert_cmpstr (reduced, ==, formulas[i].reduced);
  }
}

static void
test_weights (void)
{
  for (guint i = 1; i <= WEIGHTS_ELEMENTS; i++)
    g_assert_cmpfloat (materials_weight (materials_symbol (i)), >, 1);
  g_assert_cmpstr (materials_symbol (22), ==, "Ti");
  g_assert_cmpstr (materials_symbol (118), ==, "Og");
  g_assert_cmpfloat (materials_weight ("X"), ==, 0);
  g_assert_cmpfloat (materials_weight (""), ==, 0);
}

static void
test_space_groups (void)
{
  static const struct {
    const char *symbol;
    int number;
  } groups[] = {{"P1", 1},         {"P-1", 2},         {"P21/c", 14},  {"P2_1/c", 14},  {"P 1 21/c 1", 14},
                {"C 1 2/c 1", 15}, {"Pnma", 62},       {"Cmce", 64},   {"Cmca", 64},    {"P4_2/mnm", 136},
                {"I41/amd", 141},  {"R -3 c :H", 167}, {"R-3m", 166},  {"P6_3mc", 186}, {"F-43m", 216},
                {"F m -3 m", 225}, {"I41/amd:2", 141}, {"Ia-3d", 230}, {"P21/n", 0},    {"", 0},
                {"fm-3m", 0},      {"225", 0},         {" ", 0},       {":", 0}};
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    g_assert_cmpint (space_group_number (groups[i].symbol), ==, groups[i].number);
}

static void
test_density (void)
{
  static const struct {
    const char *formula;
    double volume, density; /* of handbooks */
  } cells[] = {{"Si8", 160.16, 2.33}, {"Na4Cl4", 179.4, 2.16}, {"Si3O6", 113.0, 2.65}, {"Au4", 67.85, 19.3}};
  for (gsize i = 0; i < G_N_ELEMENTS (cells); i++) {
    g_autoptr (json_t) counts = composition_of_formula (cells[i].formula);
    g_assert_cmpfloat_with_epsilon (materials_density (counts, cells[i].volume), cells[i].density, 0.02);
  }
  g_autoptr (json_t) unknown = json_pack ("{sisi}", "X", 1, "O", 1), none = json_object ();
  g_assert_cmpfloat (materials_density (unknown, 10), ==, 0);
  g_assert_cmpfloat (materials_density (none, 10), ==, 0);
}

static void
assert_sides (const struct lattice *a, const struct lattice *b, double within)
{
  double x[LATTICE_SIDES], y[LATTICE_SIDES];
  g_assert_true (lattice_sides (a, x) && lattice_sides (b, y));
  for (gsize i = 0; i < LATTICE_SIDES; i++)
    g_assert_cmpfloat_with_epsilon (x[i], y[i], within);
}

/* Any cell of a lattice has the same sides. */
static void
test_sides (void)
{
  static const struct lattice cells[] = {{{{3.1, 0, 0}, {-1.2, 4.4, 0}, {0.7, 1.1, 5.3}}},
                                         {{{0, 2, 2}, {2, 0, 2}, {2, 2, 0}}},
                                         {{{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}},
                                         {{{3, 0, 0}, {-1.5, 2.598, 0}, {0, 0, 15}}}};
  static const int changes[][3][3] = {{{1, 1, 0}, {0, 1, 0}, {0, 0, 1}},
                                      {{1, 0, 0}, {5, 1, 0}, {-3, 2, 1}},
                                      {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
                                      {{-1, 0, 0}, {7, 1, 0}, {11, -9, 1}}};
  for (gsize i = 0; i < G_N_ELEMENTS (cells); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (changes); k++) {
      struct lattice other = {{{0}}};
      for (int row = 0; row < 3; row++)
        for (int j = 0; j < 3; j++)
          for (int x = 0; x < 3; x++)
            other.v[row][x] += changes[k][row][j] * cells[i].v[j][x];
      assert_sides (&cells[i], &other, 1e-6);
      /* and through lengths and angles */
      double lengths[3], angles[3];
      struct lattice again;
      lattice_cell (&other, lengths, angles);
      g_assert_true (lattice_of_cell (lengths, angles, &again));
      assert_sides (&cells[i], &again, 1e-5);
    }
}

/* A little different lattice has a little different sides, also where the reduced cell would be another. */
static void
test_sides_are_steady (void)
{
  for (int i = -4; i <= 4; i++) {
    double step = i * 0.0025;
    struct lattice a = {{{4, 0, 0}, {2 + step, 3.4641, 0}, {0, step, 4}}},
                   b = {{{4, 0, 0}, {2, 3.4641, 0}, {0, 0, 4}}};
    assert_sides (&a, &b, 0.02);
  }
}

static void
test_primitive (void)
{
  /* rock salt: eight sites, and a fcc lattice of two */
  static const double sites[8][3] = {{0, 0, 0},    {0, 2.82, 2.82}, {2.82, 0, 2.82}, {2.82, 2.82, 0},
                                     {2.82, 0, 0}, {0, 2.82, 0},    {0, 0, 2.82},    {2.82, 2.82, 2.82}};
  static const guint kinds[8] = {1, 1, 1, 1, 2, 2, 2, 2}, all_alike[8] = {1, 1, 1, 1, 1, 1, 1, 1},
                     no_two[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const struct lattice cell = {{{5.64, 0, 0}, {0, 5.64, 0}, {0, 0, 5.64}}},
                       fcc = {{{0, 2.82, 2.82}, {2.82, 0, 2.82}, {2.82, 2.82, 0}}},
                       cubic = {{{2.82, 0, 0}, {0, 2.82, 0}, {0, 0, 2.82}}};
  struct lattice lattice = cell;
  g_assert_cmpuint (lattice_make_primitive (&lattice, sites, kinds, 8), ==, 4);
  assert_sides (&lattice, &fcc, 1e-6);
  lattice = cell;
  g_assert_cmpuint (lattice_make_primitive (&lattice, sites, all_alike, 8), ==, 8);
  assert_sides (&lattice, &cubic, 1e-6);
  lattice = cell;
  g_assert_cmpuint (lattice_make_primitive (&lattice, sites, no_two, 8), ==, 1);
  assert_sides (&lattice, &cell, 1e-6);
  /* a site that is out of its place by more than noise */
  double moved[8][3];
  memcpy (moved, sites, sizeof moved);
  moved[7][0] += 0.3;
  lattice = cell;
  g_assert_cmpuint (lattice_make_primitive (&lattice, (const double (*)[3])moved, kinds, 8), ==, 1);
  moved[7][0] -= 0.28;
  g_assert_cmpuint (lattice_make_primitive (&lattice, (const double (*)[3])moved, kinds, 8), ==, 4);
  assert_sides (&lattice, &fcc, 1e-6);
  /* the same cell, told by long vectors and with sites outside of it */
  lattice = (struct lattice){{{5.64, 0, 0}, {28.2, 5.64, 0}, {-11.28, 16.92, 5.64}}};
  moved[7][0] += 5.64 * 3;
  g_assert_cmpuint (lattice_make_primitive (&lattice, (const double (*)[3])moved, kinds, 8), ==, 4);
  assert_sides (&lattice, &fcc, 1e-6);
}

/* Sites on top of one another are no translations. */
static void
test_odd_sites (void)
{
  static double sites[LATTICE_SITES_MAX][3];
  static guint kinds[LATTICE_SITES_MAX];
  struct lattice lattice = {{{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}};
  for (gsize i = 0; i < LATTICE_SITES_MAX; i++)
    sites[i][0] = (double)i * 0.01;
  g_assert_cmpuint (lattice_make_primitive (&lattice, (const double (*)[3])sites, kinds, LATTICE_SITES_MAX),
                    ==, 1);
  memset (sites, 0, sizeof sites);
  g_assert_cmpuint (lattice_make_primitive (&lattice, (const double (*)[3])sites, kinds, LATTICE_SITES_MAX),
                    ==, 1);
  g_assert_cmpfloat_with_epsilon (lattice_volume (&lattice), 64, 1e-9);
  g_assert_cmpuint (
      lattice_make_primitive (&lattice, (const double (*)[3])sites, kinds, LATTICE_SITES_MAX + 1), ==, 1);
  sites[0][0] = 1e300;
  g_assert_cmpuint (lattice_make_primitive (&lattice, (const double (*)[3])sites, kinds, 2), ==, 1);
}

UNIT_SUITE (materials_record)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/materials/record/schema", test_schema);
  g_test_add_func ("/materials/record/rows", test_rows);
  g_test_add_func ("/materials/record/no_structures", test_no_structures);
  g_test_add_func ("/materials/record/reserved", test_reserved);
  g_test_add_func ("/materials/record/many_fields", test_many_fields);
  g_test_add_func ("/materials/record/raw", test_raw);
  g_test_add_func ("/materials/record/disorder", test_disorder);
  g_test_add_func ("/materials/formulas", test_formulas);
  g_test_add_func ("/materials/weights", test_weights);
  g_test_add_func ("/materials/space_groups", test_space_groups);
  g_test_add_func ("/materials/density", test_density);
  g_test_add_func ("/materials/lattice/sides", test_sides);
  g_test_add_func ("/materials/lattice/steady", test_sides_are_steady);
  g_test_add_func ("/materials/lattice/primitive", test_primitive);
  g_test_add_func ("/materials/lattice/odd", test_odd_sites);
  return g_test_run ();
}
