/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in the terminal itself, if it is known to support them: by its environment alone, since querying a
 * terminal that does not answer would hang. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whether the terminal behind standard output shows pictures and BUNDLE has one for it: a complete PNG of
 * bounded size. */
gboolean inline_picture_fits (const json_t *bundle);

/* Writes that picture to standard output, if there is one. */
void inline_picture_show (const json_t *bundle);
