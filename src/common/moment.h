/* SPDX-License-Identifier: Apache-2.0 */
/* Moments as people write them. */
#pragma once

#include <glib.h>

/* TEXT is a day ("2026-11-22"), a moment ("2026-11-22T05:09:51Z", "2026-11-22 05:09", with an offset such as
 * "+01:00", without one in UTC), or how long ago it was ("90m", "2h", "7d"). In milliseconds since 1970.
 * ADDER_ERROR_INVALID shows examples. */
gboolean moment_parse (const char *text, gint64 *ret_ms, GError **error);
