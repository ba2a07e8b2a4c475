/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in the terminal itself, where it is known to show them: by its environment alone, since a question
 * to a terminal that does not answer would hang. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Whether the terminal behind standard output shows pictures and BUNDLE has one for it: a PNG that is whole
 * and of bounded size. */
gboolean inline_picture_fits (const json_t *bundle);

/* Writes that picture to standard output; nothing where there is none. */
void inline_picture_show (const json_t *bundle);
