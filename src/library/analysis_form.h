/* SPDX-License-Identifier: Apache-2.0 */
/* What an analysis run is asked for (docs/analysis.md): tables, what to show of them, and what its result is
 * expected to be. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whether ANALYSIS is one. ADDER_ERROR_INVALID names all that is wrong with it. */
gboolean analysis_form_check (const json_t *analysis, GError **error);

/* Of EXPECT, a list of checks, alone: of tables, it knows those among TABLES, texts (NULL: none). */
gboolean analysis_form_check_expect (const json_t *expect, const json_t *tables, GError **error);

/* One line for each check that there is, "name {parameters}: what it looks at", for people and models. The
 * caller's. */
char *analysis_form_describe_checks (void);
