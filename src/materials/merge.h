/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are the same material, and the one row that they become. docs/data.md has the rules for users.
 */
#pragma once

#include <jansson.h>

/* Merges ROWS (array of rows of record.h, left as it is) into a new array: the same material is one row with
 * all of its sources, in the order of its first; the first of the sources is the one whose cell it shows. The
 * same source twice is one. A new reference. */
json_t *materials_merge (const json_t *rows);
