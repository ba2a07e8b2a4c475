/* SPDX-License-Identifier: Apache-2.0 */
#include "materials/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 10000.0 /* Angstrom, of a vector */
#define VOLUME_MIN 1.0     /* Angstrom^3: less than any atom */
#define STEPS_MAX  10000   /* of a reduction: no lattice within these lengths needs a hundredth */

/* How far a site may be from where a translation puts it, Angstrom: what databases take when they look for
 * symmetry (the Materials Project's symprec). */
#define SITE_WITHIN 0.1

static double
dot (const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void
cross (const double a[3], const double b[3], double ret[3])
{
  ret[0] = a[1] * b[2] - a[2] * b[1];
  ret[1] = a[2] * b[0] - a[0] * b[2];
  ret[2] = a[0] * b[1] - a[1] * b[0];
}

double
lattice_volume (const struct lattice *lattice)
{
  double normal[3];
  for (int i = 0; i < 3; i++)
    if (!(dot (lattice->v[i], lattice->v[i]) <= LENGTH_MAX * LENGTH_MAX))
      return 0;
  cross (lattice->v[1], lattice->v[2], normal);
  double volume = fabs (dot (lattice->v[0], normal));
  return volume >= VOLUME_MIN ? volume : 0;
}

static double
degrees_between (const double a[3], const double b[3])
{
  double cosine = dot (a, b) / sqrt (dot (a, a) * dot (b, b));
  return acos (CLAMP (cosine, -1, 1)) * 180 / G_PI;
}

void
lattice_cell (const struct lattice *lattice, double ret_lengths[3], double ret_angles[3])
{
  for (int i = 0; i < 3; i++) {
    ret_lengths[i] = sqrt (dot (lattice->v[i], lattice->v[i]));
    ret_angles[i] = degrees_between (lattice->v[(i + 1) % 3], lattice->v[(i + 2) % 3]);
  }
}

gboolean
lattice_of_cell (const double lengths[3], const double angles[3], struct lattice *ret_lattice)
{
  double cosine[3], sine = sin (angles[2] * G_PI / 180);
  for (int i = 0; i < 3; i++)
    cosine[i] = cos (angles[i] * G_PI / 180);
  double y = (cosine[0] - cosine[1] * cosine[2]) / sine, z = sqrt (1 - cosine[1] * cosine[1] - y * y);
  struct lattice lattice = {{{lengths[0], 0, 0},
                             {lengths[1] * cosine[2], lengths[1] * sine, 0},
                             {lengths[2] * cosine[1], lengths[2] * y, lengths[2] * z}}};
  if (!(lattice_volume (&lattice) > 0))
    return FALSE;
  *ret_lattice = lattice;
  return TRUE;
}

/* ---- reduction ---- */

/* Selling's: as long as two of the four vectors, whose sum is 0, are at an acute angle, one is turned round
 * and the others take up the difference. Each step makes the sum of their squares smaller. */
static gboolean
make_obtuse (double v[4][3])
{
  double size = dot (v[0], v[0]) + dot (v[1], v[1]) + dot (v[2], v[2]) + dot (v[3], v[3]);
  for (int step = 0; step < STEPS_MAX; step++) {
    int first = -1, second = -1;
    double most = size * 1e-12;
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++)
        if (dot (v[i], v[j]) > most) {
          most = dot (v[i], v[j]);
          first = i;
          second = j;
        }
    if (first < 0)
      return TRUE;
    for (int k = 0; k < 4; k++)
      for (int x = 0; k != first && k != second && x < 3; x++)
        v[k][x] += v[first][x];
    for (int x = 0; x < 3; x++)
      v[first][x] = -v[first][x];
  }
  return FALSE;
}

static void
with_fourth (const struct lattice *lattice, double ret[4][3])
{
  memcpy (ret, lattice->v, sizeof lattice->v);
  for (int x = 0; x < 3; x++)
    ret[3][x] = -(ret[0][x] + ret[1][x] + ret[2][x]);
}

static int
by_size (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

gboolean
lattice_sides (const struct lattice *lattice, double ret_sides[LATTICE_SIDES])
{
  double v[4][3];
  with_fourth (lattice, v);
  if (!(lattice_volume (lattice) > 0) || !make_obtuse (v))
    return FALSE;
  for (int i = 0; i < 4; i++)
    ret_sides[i] = sqrt (dot (v[i], v[i]));
  for (int i = 0; i < 3; i++) {
    double sum[3] = {v[i][0] + v[3][0], v[i][1] + v[3][1], v[i][2] + v[3][2]};
    ret_sides[4 + i] = sqrt (dot (sum, sum));
  }
  qsort (ret_sides, LATTICE_SIDES, sizeof *ret_sides, by_size);
  return TRUE;
}

/* ---- the primitive cell ---- */

struct sites {
  const struct lattice *lattice;
  const double (*fractions)[3];
  const guint *kinds;
  gsize n;
};

static void
fractions_of (const struct lattice *lattice, const double position[3], double ret[3])
{
  double normal[3];
  for (int i = 0; i < 3; i++) {
    cross (lattice->v[(i + 1) % 3], lattice->v[(i + 2) % 3], normal);
    ret[i] = dot (position, normal) / dot (lattice->v[i], normal);
  }
}

/* FRACTIONS of LATTICE's vectors, each to the nearest image of 0, as a vector. */
static void
nearest_image (const struct lattice *lattice, const double fractions[3], double ret[3])
{
  memset (ret, 0, 3 * sizeof *ret);
  for (int i = 0; i < 3; i++)
    for (int x = 0; x < 3; x++)
      ret[x] += (fractions[i] - round (fractions[i])) * lattice->v[i][x];
}

static gboolean
lands_on_a_site (const struct sites *sites, gsize site, const double by[3])
{
  for (gsize j = 0; j < sites->n; j++) {
    double apart[3], vector[3];
    for (int x = 0; x < 3; x++)
      apart[x] = sites->fractions[site][x] + by[x] - sites->fractions[j][x];
    nearest_image (sites->lattice, apart, vector);
    if (sites->kinds[j] == sites->kinds[site] && dot (vector, vector) < SITE_WITHIN * SITE_WITHIN)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_translation (const struct sites *sites, const double by[3])
{
  for (gsize i = 0; i < sites->n; i++)
    if (!lands_on_a_site (sites, i, by))
      return FALSE;
  return TRUE;
}

/* The site of the kind that has the fewest: translations put it on another of its kind. */
static gsize
rarest_site (const guint *kinds, gsize n)
{
  gsize rarest = 0, least = G_MAXSIZE;
  for (gsize i = 0; i < n; i++) {
    gsize same = 0;
    for (gsize j = 0; j < n; j++)
      same += kinds[j] == kinds[i];
    if (same < least) {
      rarest = i;
      least = same;
    }
  }
  return rarest;
}

/* Array of double[3]: the translations of SITES that no vector of the lattice is, with 0. */
static GArray *
translations_of (const struct sites *sites)
{
  GArray *found = g_array_new (FALSE, FALSE, 3 * sizeof (double));
  gsize from = rarest_site (sites->kinds, sites->n);
  for (gsize j = 0; j < sites->n; j++) {
    double by[3];
    for (int x = 0; x < 3; x++)
      by[x] = sites->fractions[j][x] - sites->fractions[from][x];
    if (j == from || (sites->kinds[j] == sites->kinds[from] && is_translation (sites, by)))
      g_array_append_val (found, by);
  }
  /* They are a group, so that each of them, as often as there are of them, is a vector of the lattice: what
   * is between is noise of the positions. */
  for (double *at = (double *)found->data, *end = at + 3 * (gsize)found->len; at < end; at++)
    *at = round (*at * found->len) / found->len;
  return found;
}

static int
by_length (gconstpointer a, gconstpointer b)
{
  double x = dot (a, a), y = dot (b, b);
  return (x > y) - (x < y);
}

/* Array of double[3]: the short vectors that FOUND and CELL's own make, the shortest first. CELL is reduced.
 */
static GArray *
short_vectors (const GArray *found, const struct lattice *cell)
{
  GArray *vectors = g_array_new (FALSE, FALSE, 3 * sizeof (double));
  for (guint i = 0; i < found->len; i++)
    for (int image = 0; image < 27; image++) {
      const double *by = (const double *)found->data + 3 * (gsize)i;
      const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
      double vector[3] = {0, 0, 0};
      for (int axis = 0; axis < 3; axis++)
        for (int x = 0; x < 3; x++)
          vector[x] += (by[axis] - round (by[axis]) + shift[axis]) * cell->v[axis][x];
      g_array_append_val (vectors, vector);
    }
  g_array_sort (vectors, by_length);
  return vectors;
}

/* The three shortest of VECTORS that do not lie in one plane: in three dimensions they are a basis. */
static gboolean
shortest_basis (const GArray *vectors, struct lattice *ret_basis)
{
  int have = 0;
  *ret_basis = (struct lattice){0};
  for (guint i = 0; have < 3 && i < vectors->len; i++) {
    const double *vector = (const double *)vectors->data + 3 * (gsize)i;
    double size = dot (vector, vector), normal[3] = {0, 0, 0}, part = size;
    if (have == 1) {
      cross (ret_basis->v[0], vector, normal);
      part = dot (normal, normal) / dot (ret_basis->v[0], ret_basis->v[0]);
    } else if (have == 2) {
      cross (ret_basis->v[0], ret_basis->v[1], normal);
      part = dot (vector, normal) * dot (vector, normal) / dot (normal, normal);
    }
    if (part > SITE_WITHIN * SITE_WITHIN)
      memcpy (ret_basis->v[have++], vector, sizeof ret_basis->v[0]);
  }
  return have == 3;
}

guint
lattice_make_primitive (struct lattice *lattice, const double (*positions)[3], const guint *kinds, gsize n)
{
  double v[4][3], volume = lattice_volume (lattice);
  with_fourth (lattice, v);
  if (n < 2 || n > LATTICE_SITES_MAX || !(volume > 0) || !make_obtuse (v))
    return 1;
  struct lattice cell, basis;
  memcpy (cell.v, v, sizeof cell.v);
  double fractions[LATTICE_SITES_MAX][3];
  for (gsize i = 0; i < n; i++)
    fractions_of (&cell, positions[i], fractions[i]);
  struct sites sites = {
      .lattice = &cell, .fractions = (const double (*)[3])fractions, .kinds = kinds, .n = n};
  g_autoptr (GArray) found = translations_of (&sites);
  g_autoptr (GArray) vectors = short_vectors (found, &cell);
  /* Sites that almost lie on one another give translations that are no group: then the cell stays as it is.
   */
  if (found->len < 2 || n % found->len || !shortest_basis (vectors, &basis) ||
      fabs (lattice_volume (&basis) * found->len / volume - 1) > 0.01)
    return 1;
  *lattice = basis;
  return found->len;
}
