/* SPDX-License-Identifier: Apache-2.0 */
/* Long output of runs, read a part at a time. Offsets and lengths are in bytes of what the code wrote; a part
 * begins and ends with whole characters, and is valid UTF-8 whatever was written. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "store/files.h"

#define OUTPUT_PART_MIN    64
#define OUTPUT_PART_MAX    (1 << 20)
#define OUTPUT_PATTERN_MAX 1000 /* bytes */

/* {"text", "offset", "next_offset", "total_bytes", "at_end"}: at most LIMIT bytes of ROW from OFFSET on. The
 * caller's. */
json_t *output_read (struct blobs *blobs, const struct file_row *row, guint64 offset, guint64 limit,
                     GError **error);

/* The lines from OFFSET on that match PATTERN, a PCRE regular expression: {"lines": [{"line", "offset",
 * "text"}], "offset", "next_offset", "total_bytes", "at_end"}, with at most LIMIT bytes of text. A long line
 * is cut around the match. It ends early when it takes long; continue at next_offset. ADDER_ERROR_INVALID:
 * PATTERN is invalid, or needs more backtracking than allowed. */
json_t *output_grep (struct blobs *blobs, const struct file_row *row, guint64 offset, guint64 limit,
                     const char *pattern, GError **error);
