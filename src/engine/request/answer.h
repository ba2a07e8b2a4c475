/* SPDX-License-Identifier: Apache-2.0 */
/* What a session answers to questions (WIRE_ASK) about itself. It is hostile input: each reader checks the
 * shape, copies the known members alone, and bounds each. They return the caller's copy, or NULL when the
 * answer is malformed. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The text of WIRE_ANSWER: an object, the caller's; NULL when it is none. */
json_t *answer_read (const char *text, gsize length);

/* Why a session could not answer, as one line, the caller's; NULL: it could. */
char *answer_problem (const json_t *answer);

/* {"variables": [...], "count": n}, each value cut to VALUE_BYTES. */
json_t *answer_read_variables (const json_t *answer, guint64 value_bytes);

/* {"start", "end", "matches": [{"text", "kind", "signature"}], "more"}: matches for a part of a text with
 * CHARACTERS. */
json_t *answer_read_matches (const json_t *answer, guint64 characters);

/* A list of variables, each with its "digest", null where there is none. */
json_t *answer_read_digests (const json_t *answer);

/* {"digest": text or null, "unknown": text}. */
json_t *answer_read_state (const json_t *answer);

/* {"columns", "rows", "index", "total", "matching", "offset", "columns_left_out"} with at most LIMIT rows; or
 * {"refused", "about"}: the rows cannot be had. */
json_t *answer_read_rows (const json_t *answer, guint64 limit);

/* Sets ERROR to what a "refused" of ROWS means, for a table that WHAT names. FALSE: there is none. */
gboolean answer_rows_refused (const json_t *rows, const char *what, GError **error);

/* {"found", "name", "type", "signature", "documentation", "value"}. */
json_t *answer_read_inspection (const json_t *answer);
