/* SPDX-License-Identifier: Apache-2.0 */
/* The Materials Project's own API, which answers what OPTIMADE does not: /materials/summary. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "materials/search.h"

#define MATERIALS_PROJECT_MAX 1000 /* documents of one question */

/* What is NULL or NAN is not asked for, but something must be. */
struct materials_project_query {
  const struct config *config;
  const char *const *elements;
  const char *formula, *chemsys;        /* "TiO2", "Ti-O" */
  double band_gap_least, band_gap_most; /* eV; NAN: any */
  double energy_above_hull_most;        /* eV an atom; NAN: any */
  const char *const *fields;            /* of its documents, ends with NULL; NULL: a short list */
  guint limit;                          /* documents; 0: SEARCH_LIMIT */
};

/* A new reference: { "documents": [ ... ], "available": int | null, "url": "..." }. ADDER_ERROR_*: no key
 * (says how it is set), a key that is refused, no network, an answer that is none, cancelled.
 * The key is in no message. WATCH may be NULL. */
json_t *materials_project_search (const struct materials_project_query *query,
                                  const struct materials_watch *watch, GError **error);
