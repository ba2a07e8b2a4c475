/* SPDX-License-Identifier: Apache-2.0 */
/* Materials, and the databases that were asked for them, for people. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* A line for each of ROWS (materials/record.h), at most MOST of them, on standard output. */
void materials_view_rows (const json_t *rows, gsize most);

/* A line for each of PROVIDERS (materials/search.h), on standard error: its result, and what to do. */
void materials_view_states (const json_t *providers);

/* A line for each known database, on standard output. */
void materials_view_providers (const json_t *providers);

/* WARNINGS, a line each, on standard error. */
void materials_view_warnings (const json_t *warnings);
