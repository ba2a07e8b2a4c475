/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two texts, line by line, as `diff -u` shows it. */
#pragma once

#include <glib.h>

/* The hunks that make NEW of OLD, without a header; "" when they are the same. At most MOST bytes, cut at the
 * end of a line, and then *RET_CUT is TRUE. To bound the time, texts with little in common are shown as one
 * removed and the other added. The caller's. */
char *diff_unified (const char *old, gsize old_length, const char *new, gsize new_length, gsize most,
                    gboolean *ret_cut);
