/* SPDX-License-Identifier: Apache-2.0 */
/* Lattices: the same one has many cells, and the lengths here do not depend on which of them was given. */
#pragma once

#include <glib.h>

#define LATTICE_SIDES 7
#define LATTICE_SITES_MAX                                                                                    \
  160 /* of a cell whose primitive one is looked for: the cost is their cube, where all atoms are of one     \
         kind */

struct lattice {
  double v[3][3]; /* three vectors, Angstrom */
};

/* The lattice of the cell of lengths A, B, C and angles in degrees; FALSE where there is none. */
gboolean lattice_of_cell (const double lengths[3], const double angles[3], struct lattice *ret_lattice);

void lattice_cell (const struct lattice *lattice, double ret_lengths[3], double ret_angles[3]);

/* Angstrom^3; 0 where it is flat, or a number is out of all measure. */
double lattice_volume (const struct lattice *lattice);

/* LATTICE becomes that of the primitive cell: all translations that put each of the N sites on one of the
 * same KIND. POSITIONS are Cartesian. How often it is smaller; 1 for more sites than LATTICE_SITES_MAX. */
guint lattice_make_primitive (struct lattice *lattice, const double (*positions)[3], const guint *kinds,
                              gsize n);

/* The seven lengths, ascending, of the vectors that span the lattice's Voronoi cell (Conway and Sloane, Proc.
 * R. Soc. Lond. A 436 (1992) 55-68): the same for each cell of a lattice, and a little different for one that
 * is a little different, which those of reduced cells are not. FALSE where it is flat. */
gboolean lattice_sides (const struct lattice *lattice, double ret_sides[LATTICE_SIDES]);
