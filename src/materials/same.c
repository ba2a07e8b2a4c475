/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/same.h"

#include <math.h>
#include <string.h>

#include "common/json.h"

/* For one and the same initial structure, the volumes of two large databases differ by up to 4 % in the
 * median (V. I. Hegde et al., Phys. Rev. Materials 7 (2023) 053805: AFLOW, Materials Project, OQMD). What is
 * further apart may still be the same material, but it may as well be another one. */
#define VOLUME_WITHIN 0.04

/* Of each length, once both lattices are scaled to one volume, as structure matchers do: what remains is the
 * shape, in which the same structures differ by less than in size. */
#define SIDE_WITHIN 0.02

static gboolean
read_cell (const json_t *row, struct facts *facts)
{
  double length[3], angle[3];
  struct lattice lattice;
  static const char *const lengths[] = {"a", "b", "c"}, *const angles[] = {"alpha", "beta", "gamma"};
  for (gsize i = 0; i < 3; i++) {
    length[i] = json_number_value (json_object_get (row, lengths[i]));
    angle[i] = json_number_value (json_object_get (row, angles[i]));
  }
  facts->sites = json_integer_value (json_object_get (row, "nsites"));
  facts->volume = json_number_value (json_object_get (row, "volume"));
  return lattice_of_cell (length, angle, &lattice) && lattice_sides (&lattice, facts->sides);
}

/* The primitive cell that the record found; a row without goes by the cell that it has. */
static gboolean
read_primitive (const json_t *row, struct facts *facts)
{
  const json_t *same = json_object_get (row, "_same"), *sides = json_object_get (same, "sides");
  if (json_array_size (sides) != LATTICE_SIDES)
    return read_cell (row, facts);
  for (gsize i = 0; i < LATTICE_SIDES; i++)
    facts->sides[i] = json_number_value (json_array_get (sides, i));
  facts->sites = json_integer_value (json_object_get (same, "sites"));
  facts->volume = json_number_value (json_object_get (same, "volume"));
  return TRUE;
}

gboolean
facts_read (const json_t *row, struct facts *ret_facts)
{
  struct facts facts = {
      .formula = json_string_value (json_object_get (row, "formula")),
      .space_group = (int)json_integer_value (json_object_get (row, "space_group")),
      .density = json_number_value (json_object_get (row, "density")),
  };
  if (!facts.formula || !(facts.density > 0) || !read_primitive (row, &facts) || facts.sites < 1 ||
      !(facts.volume > 0))
    return FALSE;
  *ret_facts = facts;
  return TRUE;
}

/* The difference of A and B, both positive, in parts of WITHIN. */
static double
difference (double a, double b, double within)
{
  return fabs (log (a / b)) / log1p (within);
}

double
same_distance (const struct facts *a, const struct facts *b)
{
  if (a->space_group && b->space_group && a->space_group != b->space_group)
    return INFINITY;
  double most = MAX (difference (a->volume, b->volume, VOLUME_WITHIN),
                     difference (a->density, b->density, VOLUME_WITHIN)),
         scale = cbrt (b->volume / a->volume);
  for (gsize i = 0; i < LATTICE_SIDES; i++)
    most = MAX (most, difference (a->sides[i] * scale, b->sides[i], SIDE_WITHIN));
  return most;
}
