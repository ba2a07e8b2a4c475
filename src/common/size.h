/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, durations and counts as people write them: "512M", "1.5GiB", "30s", "500ms", "64". */
#pragma once

#include <glib.h>

#include "sandbox/limits.h"

/* TEXT is a number, perhaps with decimals, and a unit. Bytes: B, K M G T and KiB MiB GiB TiB (powers of
 * 1024), kB KB MB GB TB (powers of 1000). Durations: ms, s, m or min, h, d. Counts have no unit and no
 * decimals. A number without a unit is in bytes or in BARE_MS milliseconds (1, or 1000 where a bare number
 * means seconds). No sign, no blanks around. ADDER_ERROR_INVALID says what is wrong and shows an example. */
gboolean size_parse (const char *text, guint64 *ret_bytes, GError **error);
gboolean duration_parse (const char *text, guint64 bare_ms, guint64 *ret_ms, GError **error);
gboolean count_parse (const char *text, guint64 *ret_count, GError **error);

/* One of the three, by UNIT; a bare duration is in milliseconds. */
gboolean quantity_parse (const char *text, enum limit_unit unit, guint64 *ret_value, GError **error);

/* For people, with one decimal at most: "512 MiB", "1.5 KiB", "312 bytes"; "30 s", "1.5 s", "250 ms", "10
 * min". The caller's. */
char *size_format (guint64 bytes);
char *duration_format (guint64 ms);

/* Exactly, in the largest unit that fits whole: "64 MiB", "100000 bytes", "90 s", "64". The caller's. */
char *quantity_format (guint64 value, enum limit_unit unit);
