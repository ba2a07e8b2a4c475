/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals for people. Nothing in them can drive the terminal or look like our own words (python_text.h). */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

/* ANSWER of "list": a line for each. */
void approval_view_list (const json_t *answer);

/* All of APPROVAL, with its code, of which MOST rows (0: all) are shown. Returns whether rows were left
 * out. */
gboolean approval_view_one (const json_t *approval, guint most, FILE *stream);
