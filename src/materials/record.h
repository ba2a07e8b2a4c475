/* SPDX-License-Identifier: Apache-2.0 */
/* One material as all providers tell it: an entry of OPTIMADE's /structures, made one of our schema. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* A row of an answer, and a line of a data set. All members are always there, null where nobody said:
 *
 *   formula       text   reduced, elements by name: "O2Ti"
 *   elements      list   of text, by name
 *   nelements     int
 *   nsites        int
 *   space_group   int    1 to 230
 *   space_group_symbol text
 *   a b c         number Angstrom
 *   alpha beta gamma number degrees
 *   volume        number Angstrom^3, of the cell
 *   density       number g/cm^3
 *   last_modified text   ISO 8601, the latest of the sources'
 *   sources       list   of text "provider:id", each once
 *
 * and, where a provider said so, "{provider}_{name}" (fields.h): numbers such as energies and gaps, under the
 * provider's prefix ("mp_band_gap"). With raw, "raw": {"provider:id": the whole entry}. In rows that were not
 * merged yet, "_same": what materials_merge() compares and takes away. */

/* The row of ENTRY (an object with id, type, attributes) of PROVIDER. A new reference; NULL where it is no
 * structure, with WHY (static words). Wrong types in single members are members that are not there. */
json_t *materials_record (const char *provider, const json_t *entry, gboolean raw, const char **ret_why);

/* Density in g/cm^3 of a cell of VOLUME Angstrom^3 with COUNTS {element: atoms}; 0: unknown. */
double materials_density (const json_t *counts, double volume);
