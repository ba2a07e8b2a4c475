/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two rows are the same material, and how far apart they are if so. docs/data.md has the rules. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "materials/lattice.h"

/* What of a row is compared. Texts are the row's. */
struct facts {
  const char *formula;
  int space_group; /* 0: not said */
  gint64 sites;    /* of the primitive cell */
  double volume;   /* of it */
  double density;
  double sides[LATTICE_SIDES];
};

/* FALSE where ROW does not say enough to be compared: formula, cell and density. */
gboolean facts_read (const json_t *row, struct facts *ret_facts);

/* 0 (alike) to 1 (just the same); more: they are not. Both are of the same formula and number of sites. */
double same_distance (const struct facts *a, const struct facts *b);
