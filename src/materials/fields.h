/* SPDX-License-Identifier: Apache-2.0 */
/* What only one provider says: its own fields, as columns of a table. */
#pragma once

#include <jansson.h>

#define FIELDS_MAX       200 /* columns of one entry */
#define FIELDS_NAME_MAX  120 /* bytes */
#define FIELDS_TEXT_MAX  500 /* bytes of a value */
#define FIELDS_DEPTH_MAX 4

/* Sets in ROW what ATTRIBUTES has under names that begin with "_", as columns "{provider}_{name}":
 * "_mp_band_gap" of "mp" is "mp_band_gap", "_exmpl_x" of "mine" is "mine_exmpl_x". Numbers, booleans and
 * short texts; an object is its members, with their names added ("mp_stability_r2scan_energy_above_hull").
 * Lists, null and what is beyond the limits are left out, and members that ROW has stay. */
void fields_set (json_t *row, const char *provider, const json_t *attributes);
