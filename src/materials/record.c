/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/record.h"

#include <math.h>
#include <string.h>

#include "common/json.h"
#include "common/moment.h"
#include "common/text.h"
#include "materials/composition.h"
#include "materials/fields.h"
#include "materials/lattice.h"
#include "materials/query.h"
#include "materials/space_group.h"
#include "materials/weights.h"

#define ID_MAX     300 /* bytes */
#define SYMBOL_MAX 60  /* bytes of a space group's */

/* Grams a cubic centimetre of one atomic mass unit a cubic Angstrom (CODATA 2018). */
#define UNIT_DENSITY 1.66053906660

/* What stands in a structure besides its row: facts about the whole of it, of which several members are made.
 */
struct structure {
  const json_t *attributes;
  gboolean periodic; /* in three directions, as far as anybody said */
  gboolean whole;    /* all of its atoms are listed */
  json_t *said;      /* counts of the formula, or NULL */
  json_t *counts;    /* of the sites of the cell, or NULL */
  gint64 nsites;     /* 0: unknown */
  double volume;     /* 0: unknown */
};

static void
structure_clear (struct structure *structure)
{
  json_decref (structure->said);
  json_decref (structure->counts);
}

/* ---- single members ---- */

static const json_t *
get_list (const json_t *attributes, const char *name)
{
  const json_t *list = json_object_get (attributes, name);
  return json_is_array (list) && json_array_size (list) ? list : NULL;
}

/* The whole number that VALUE is, also written as 6.0; 0 where it is none between 1 and MOST. */
static gint64
whole_number (const json_t *value, gint64 most)
{
  double number = json_is_number (value) ? json_number_value (value) : 0;
  return number >= 1 && number <= (double)most && number == floor (number) ? (gint64)number : 0;
}

static json_t *
number_or_null (double number)
{
  return number > 0 && isfinite (number) ? json_real (number) : json_null ();
}

static json_t *
whole_or_null (gint64 number)
{
  return number > 0 ? json_integer (number) : json_null ();
}

static gboolean
triple (const json_t *list, double ret[3])
{
  double numbers[3];
  for (gsize i = 0; i < 3; i++) {
    const json_t *number = json_array_get (list, i);
    if (!json_is_number (number))
      return FALSE;
    numbers[i] = json_number_value (number);
  }
  memcpy (ret, numbers, sizeof numbers);
  return json_array_size (list) == 3;
}

static gboolean
has_text (const json_t *list, const char *text)
{
  gsize i;
  json_t *member;
  json_array_foreach ((json_t *)list, i, member)
  {
    if (json_is_string (member) && g_str_equal (json_string_value (member), text))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_periodic (const json_t *attributes)
{
  const json_t *types = get_list (attributes, "dimension_types");
  gint64 dimensions = 0;
  for (gsize i = 0; i < json_array_size (types); i++)
    dimensions += json_integer_value (json_array_get (types, i));
  return !types || dimensions == 3;
}

/* ---- atoms ---- */

/* Sets SHARES, a number for each of N sites, to how often it is there: assemblies say that only one of
 * several groups of sites is. */
static void
assembly_shares (const json_t *attributes, double *shares, gsize n)
{
  gsize i, group, k;
  json_t *assembly, *sites, *site;
  for (i = 0; i < n; i++)
    shares[i] = 1;
  json_array_foreach ((json_t *)get_list (attributes, "assemblies"), i, assembly)
  {
    const json_t *chances = json_object_get (assembly, "group_probabilities");
    json_array_foreach (json_object_get (assembly, "sites_in_groups"), group, sites)
    {
      const json_t *chance = json_array_get (chances, group);
      json_array_foreach (sites, k, site)
      {
        if (json_is_integer (site) && json_is_number (chance) && (guint64)json_integer_value (site) < n)
          shares[json_integer_value (site)] = json_number_value (chance);
      }
    }
  }
}

/* Adds SHARE of what one site of SPECIES holds to COUNTS. FALSE where a symbol is none, or a number. */
static gboolean
add_species (json_t *counts, const json_t *species, double share)
{
  gsize i;
  json_t *symbol;
  const json_t *concentrations = json_object_get (species, "concentration");
  json_array_foreach (json_object_get (species, "chemical_symbols"), i, symbol)
  {
    const char *text = json_is_string (symbol) ? json_string_value (symbol) : "";
    const json_t *concentration = json_array_get (concentrations, i);
    if (g_str_equal (text, "vacancy"))
      continue;
    if (!json_is_number (concentration) || materials_weight (text) <= 0)
      return FALSE;
    composition_add (counts, text, share * json_number_value (concentration));
  }
  const json_t *numbers = json_object_get (species, "nattached");
  json_array_foreach (json_object_get (species, "attached"), i, symbol)
  {
    const char *text = json_is_string (symbol) ? json_string_value (symbol) : "";
    const json_t *number = json_array_get (numbers, i);
    if (!json_is_integer (number) || materials_weight (text) <= 0)
      return FALSE;
    composition_add (counts, text, share * json_number_value (number));
  }
  return TRUE;
}

/* The species by name: those of the list. */
static GHashTable *
species_by_name (const json_t *attributes)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);
  gsize i;
  json_t *species;
  json_array_foreach ((json_t *)get_list (attributes, "species"), i, species)
  {
    const char *name = json_string_value (json_object_get (species, "name"));
    if (name)
      g_hash_table_insert (names, (gpointer)name, species);
  }
  return names;
}

/* The atoms of the cell; NULL where the sites do not say. */
static json_t *
count_atoms (const json_t *attributes)
{
  const json_t *at_sites = get_list (attributes, "species_at_sites");
  gsize n = json_array_size (at_sites);
  g_autofree double *shares = g_new (double, n + 1);
  assembly_shares (attributes, shares, n);
  g_autoptr (GHashTable) names = species_by_name (attributes);
  g_autoptr (json_t) counts = json_object ();
  for (gsize i = 0; i < n; i++) {
    const char *name = json_string_value (json_array_get (at_sites, i));
    const json_t *species = name ? g_hash_table_lookup (names, name) : NULL;
    if (!species || !add_species (counts, species, shares[i]))
      return NULL;
  }
  return json_object_size (counts) ? g_steal_pointer (&counts) : NULL;
}

/* The atoms of NSITES sites of the formula that COUNTS are of; NULL where it does not fit in a whole number
 * of times. */
static json_t *
multiply (const json_t *counts, gint64 nsites)
{
  const char *symbol;
  json_t *atoms;
  double sum = 0;
  json_object_foreach ((json_t *)counts, symbol, atoms)
  {
    sum += json_number_value (atoms);
  }
  if (sum < 1 || nsites < 1 || fmod ((double)nsites, sum) != 0)
    return NULL;
  json_t *all = json_object ();
  json_object_foreach ((json_t *)counts, symbol, atoms)
  {
    composition_add (all, symbol, json_number_value (atoms) * (double)nsites / sum);
  }
  return all;
}

double
materials_density (const json_t *counts, double volume)
{
  const char *symbol;
  json_t *atoms;
  double mass = 0;
  json_object_foreach ((json_t *)counts, symbol, atoms)
  {
    double weight = materials_weight (symbol);
    if (weight <= 0)
      return 0;
    mass += weight * json_number_value (atoms);
  }
  return mass > 0 && volume > 0 ? UNIT_DENSITY * mass / volume : 0;
}

/* ---- the cell ---- */

static gboolean
read_lattice (const json_t *attributes, struct lattice *ret_lattice)
{
  const json_t *vectors = get_list (attributes, "lattice_vectors");
  struct lattice lattice = {0};
  for (gsize i = 0; i < 3; i++)
    if (!triple (json_array_get (vectors, i), lattice.v[i]))
      return FALSE;
  if (json_array_size (vectors) != 3 || !(lattice_volume (&lattice) > 0))
    return FALSE;
  *ret_lattice = lattice;
  return TRUE;
}

/* A number for each of the N sites, the same for the same atoms on it. FALSE where they are not told. */
static gboolean
read_kinds (const json_t *attributes, guint *kinds, gsize n)
{
  const json_t *at_sites = get_list (attributes, "species_at_sites");
  g_autoptr (GHashTable) names = species_by_name (attributes);
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (gsize i = 0; i < n; i++) {
    const char *name = json_string_value (json_array_get (at_sites, i));
    const json_t *species = name ? g_hash_table_lookup (names, name) : NULL;
    if (!species)
      return FALSE;
    g_autoptr (json_t) atoms =
        json_pack ("[O?O?O?O?]", json_object_get (species, "chemical_symbols"),
                   json_object_get (species, "concentration"), json_object_get (species, "attached"),
                   json_object_get (species, "nattached"));
    char *text = json_to_text (atoms);
    guint kind = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, text));
    if (!kind)
      kind = g_hash_table_size (numbers) + 1;
    g_hash_table_replace (numbers, text, GUINT_TO_POINTER (kind));
    kinds[i] = kind;
  }
  return TRUE;
}

static gboolean
read_positions (const json_t *attributes, double (*positions)[3], gsize n)
{
  const json_t *list = get_list (attributes, "cartesian_site_positions");
  for (gsize i = 0; i < n; i++)
    if (!triple (json_array_get (list, i), positions[i]))
      return FALSE;
  return json_array_size (list) == n;
}

/* What the merging compares: the primitive lattice. A new reference. */
static json_t *
sameness (const struct structure *structure, const struct lattice *given)
{
  struct lattice lattice = *given;
  double positions[LATTICE_SITES_MAX][3], sides[LATTICE_SIDES];
  guint kinds[LATTICE_SITES_MAX], times = 1;
  gsize n = json_array_size (get_list (structure->attributes, "species_at_sites"));
  if (n <= LATTICE_SITES_MAX && (gint64)n == structure->nsites &&
      read_positions (structure->attributes, positions, n) && read_kinds (structure->attributes, kinds, n))
    times = lattice_make_primitive (&lattice, (const double (*)[3])positions, kinds, n);
  if (!lattice_sides (&lattice, sides))
    return json_null ();
  json_t *list = json_array ();
  for (gsize i = 0; i < LATTICE_SIDES; i++)
    json_array_append_new (list, json_real (sides[i]));
  return json_pack ("{sIsfso}", "sites", (json_int_t)(structure->nsites / times), "volume",
                    structure->volume / times, "sides", list);
}

static void
set_cell (json_t *row, struct structure *structure)
{
  static const char *const lengths[] = {"a", "b", "c"}, *const angles[] = {"alpha", "beta", "gamma"};
  struct lattice lattice;
  double length[3] = {0, 0, 0}, angle[3] = {0, 0, 0};
  gboolean given = structure->periodic && read_lattice (structure->attributes, &lattice);
  if (given) {
    structure->volume = lattice_volume (&lattice);
    lattice_cell (&lattice, length, angle);
  }
  for (gsize i = 0; i < 3; i++)
    json_object_set_new (row, lengths[i], number_or_null (length[i]));
  for (gsize i = 0; i < 3; i++)
    json_object_set_new (row, angles[i], number_or_null (angle[i]));
  json_object_set_new (row, "volume", number_or_null (structure->volume));
  json_object_set_new (
      row, "density",
      number_or_null (structure->whole ? materials_density (structure->counts, structure->volume) : 0));
  json_object_set_new (row, "_same", given ? sameness (structure, &lattice) : json_null ());
}

/* ---- space group ---- */

/* Where databases say it that do not have OPTIMADE's members for it. */
static const char *const own_space_groups[] = {
    "_alexandria_space_group",
    "_cod_sgnumber",
    "_cod_sg",
    "_gnome_space_group_it_number",
    "_jarvis_spg_number",
    "_jarvis_spg_symbol",
    "_mpdd_spacegroupn",
    "_oqmd_spacegroup",
    "_tcod_sg",
};

/* The number and, where VALUE is one, the symbol (VALUE's). */
static int
read_space_group (const json_t *value, const char **ret_symbol)
{
  const char *text = json_string_value (value);
  if (!text)
    return (int)whole_number (value, SPACE_GROUPS);
  guint64 number;
  if (g_ascii_string_to_unsigned (text, 10, 1, SPACE_GROUPS, &number, NULL))
    return (int)number;
  if (!*ret_symbol && *text && strlen (text) <= SYMBOL_MAX)
    *ret_symbol = text;
  return space_group_number (text);
}

static void
set_space_group (json_t *row, const json_t *attributes)
{
  const char *symbol = NULL;
  int by_symbol =
      read_space_group (json_object_get (attributes, "space_group_symbol_hermann_mauguin"), &symbol);
  int number = (int)whole_number (json_object_get (attributes, "space_group_it_number"), SPACE_GROUPS);
  if (!number)
    number = by_symbol;
  for (gsize i = 0; !number && i < G_N_ELEMENTS (own_space_groups); i++)
    number = read_space_group (json_object_get (attributes, own_space_groups[i]), &symbol);
  json_object_set_new (row, "space_group", whole_or_null (number));
  json_object_set_new (row, "space_group_symbol", json_text_or_null (symbol));
}

/* ---- what it is made of ---- */

/* A formula that is not of whole numbers, as it was written; NULL where that is no formula at all. */
static const char *
odd_formula (const char *said)
{
  gsize length = strspn (said, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.");
  return length && length <= COMPOSITION_FORMULA_MAX && !said[length] ? said : NULL;
}

static json_t *
elements_of (const struct structure *structure)
{
  if (structure->said || structure->counts)
    return composition_elements (structure->said ? structure->said : structure->counts);
  g_autoptr (json_t) counts = json_object ();
  gsize i;
  json_t *symbol;
  json_array_foreach ((json_t *)get_list (structure->attributes, "elements"), i, symbol)
  {
    if (json_is_string (symbol) && materials_weight (json_string_value (symbol)) > 0)
      composition_add (counts, json_string_value (symbol), 1);
  }
  return json_object_size (counts) ? composition_elements (counts) : json_null ();
}

static void
set_composition (json_t *row, const struct structure *structure)
{
  const char *said = json_string_value (json_object_get (structure->attributes, "chemical_formula_reduced"));
  const json_t *counts = structure->said ? structure->said : structure->counts;
  g_autofree char *formula = counts ? composition_formula (counts) : NULL;
  json_object_set_new (row, "formula", json_text_or_null (formula || !said ? formula : odd_formula (said)));
  json_t *elements = elements_of (structure);
  gint64 nelements = (gint64)json_array_size (elements);
  if (!nelements)
    nelements = whole_number (json_object_get (structure->attributes, "nelements"), WEIGHTS_ELEMENTS);
  json_object_set_new (row, "elements", elements);
  json_object_set_new (row, "nelements", whole_or_null (nelements));
  json_object_set_new (row, "nsites", whole_or_null (structure->nsites));
}

static void
read_structure (const json_t *attributes, struct structure *structure)
{
  const char *formula = json_string_value (json_object_get (attributes, "chemical_formula_reduced"));
  structure->attributes = attributes;
  structure->periodic = is_periodic (attributes);
  structure->whole = !has_text (get_list (attributes, "structure_features"), "implicit_atoms");
  structure->nsites = whole_number (json_object_get (attributes, "nsites"), QUERY_NSITES_MAX);
  if (!structure->nsites)
    structure->nsites = (gint64)json_array_size (get_list (attributes, "species_at_sites"));
  structure->said = formula ? composition_of_formula (formula) : NULL;
  structure->counts = count_atoms (attributes);
  if (!structure->counts && !get_list (attributes, "species") && structure->said)
    structure->counts = multiply (structure->said, structure->nsites);
}

/* ---- the row ---- */

/* In UTC and to the millisecond, so that text that is later stands behind; null where it is no moment. */
static json_t *
moment_or_null (const json_t *value)
{
  const char *text = json_string_value (value);
  gint64 ms;
  if (!text || strlen (text) < 10 || text[4] != '-' || !moment_parse (text, &ms, NULL))
    return json_null ();
  g_autofree char *moment = text_time (ms * 1000);
  return json_string (moment);
}

static gboolean
record_is_id (const char *id)
{
  for (const char *at = id; *at; at++)
    if (g_ascii_iscntrl (*at))
      return FALSE;
  return *id && strlen (id) <= ID_MAX;
}

/* Why ENTRY is no structure; NULL where it is one. */
static const char *
what_is_wrong (const json_t *entry)
{
  if (!json_is_object (entry))
    return "an entry is no object";
  if (!g_str_equal (json_member_text (entry, "type"), "structures"))
    return "an entry is not of the type structures";
  if (!record_is_id (json_member_text (entry, "id")))
    return "an entry has no id";
  return json_is_object (json_object_get (entry, "attributes")) ? NULL : "an entry has no attributes";
}

json_t *
materials_record (const char *provider, const json_t *entry, gboolean raw, const char **ret_why)
{
  const char *why = what_is_wrong (entry);
  if (why) {
    *ret_why = why;
    return NULL;
  }
  const json_t *attributes = json_object_get (entry, "attributes");
  g_autofree char *source = g_strconcat (provider, ":", json_member_text (entry, "id"), NULL);
  struct structure structure = {0};
  read_structure (attributes, &structure);
  json_t *row = json_object ();
  set_composition (row, &structure);
  set_space_group (row, attributes);
  set_cell (row, &structure);
  json_object_set_new (row, "last_modified", moment_or_null (json_object_get (attributes, "last_modified")));
  json_object_set_new (row, "sources", json_pack ("[s]", source));
  fields_set (row, provider, attributes);
  if (raw)
    json_object_set_new (row, "raw", json_pack ("{sO}", source, (json_t *)entry));
  structure_clear (&structure);
  return row;
}
