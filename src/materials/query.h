/* SPDX-License-Identifier: Apache-2.0 */
/* What is searched for, and the OPTIMADE filter that says so. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define QUERY_ELEMENTS_MAX 20
#define QUERY_FORMULA_MAX  200  /* bytes */
#define QUERY_FILTER_MAX   4000 /* bytes of a filter that is given as it is */
#define QUERY_NSITES_MAX   100000

/* Texts are the caller's. What is NULL or 0 is not asked for, but something must be. */
struct materials_query {
  const char *const *elements; /* symbols, all of which a material has; ends with NULL */
  const char *formula;         /* as people write it: "TiO2", "O2Ti" */
  guint nsites_least, nsites_most;
  const char *filter; /* a filter of OPTIMADE's own, joined to the others by AND */
};

/* Whether QUERY can be asked: elements that exist, a formula that can be read. ADDER_ERROR_INVALID. */
gboolean materials_query_check (const struct materials_query *query, GError **error);

/* The filter that asks for QUERY, every part of it escaped. The caller's; NULL with ADDER_ERROR_INVALID. */
char *materials_query_filter (const struct materials_query *query, GError **error);

/* "TiO2" or "O2Ti" or "Ti2O4" as OPTIMADE's chemical_formula_reduced: "O2Ti". The caller's; NULL with
 * ADDER_ERROR_INVALID. */
char *materials_formula_reduce (const char *formula, GError **error);

/* Whether SYMBOL is that of an element, written as it is written. */
gboolean materials_is_element (const char *symbol);
