/* SPDX-License-Identifier: Apache-2.0 */
/* What an analysis run is asked for (docs/analysis.md): tables, what to show of them, and what its result
 * must be. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whether ANALYSIS is valid. ADDER_ERROR_INVALID names every mistake. */
gboolean analysis_form_check (const json_t *analysis, GError **error);

/* The same for EXPECT alone, a list of checks that may refer to TABLES, texts (NULL: none). */
gboolean analysis_form_check_expect (const json_t *expect, const json_t *tables, GError **error);

/* One line for each known check, "name {parameters}: what it checks", for people and models. The caller's. */
char *analysis_form_describe_checks (void);
