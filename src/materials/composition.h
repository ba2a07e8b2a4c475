/* SPDX-License-Identifier: Apache-2.0 */
/* How many atoms of which element: as an object {symbol: number}, and as the text of a formula. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define COMPOSITION_FORMULA_MAX 400 /* bytes of a formula */

/* The counts of FORMULA, which is symbols and whole numbers, each symbol once: "O2Ti" or "TiO2". A new
 * reference; NULL where it is no such formula. */
json_t *composition_of_formula (const char *formula);

/* OPTIMADE's chemical_formula_reduced of COUNTS: symbols by name, numbers without a common divisor, 1 left
 * out. The caller's; NULL where there are none or one is not whole. */
char *composition_formula (const json_t *counts);

/* The symbols of COUNTS by name, as an array of text. A new reference. */
json_t *composition_elements (const json_t *counts);

/* Adds ATOMS of SYMBOL to COUNTS. */
void composition_add (json_t *counts, const char *symbol, double atoms);
