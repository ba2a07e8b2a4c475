/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the state of a session, which its interpreter answers between cells. Each takes the session
 * as a cell does, but is none: it has no number and leaves no history. All return the caller's value, or NULL
 * with ERROR: ADDER_ERROR_ENDED, ADDER_ERROR_BUSY when the session did not become free in time,
 * ADDER_ERROR_FAILED when it cannot answer. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/session/session.h"

/* {"variables": [...], "count": n}: all without values; or those of NAMES, which end with NULL, with them. */
json_t *session_variables (struct session *session, const char *const *names, GError **error);

/* Forgets variables and cells; files stay. The value is that of session_variables. */
json_t *session_reset (struct session *session, GError **error);

/* What may stand at CURSOR, a number of characters, in CODE: {"busy", "start", "end", "matches", "more"}. A
 * session in use answers at once, with "busy". */
json_t *session_complete (struct session *session, const char *code, guint64 cursor, GError **error);

/* {"only_here", "only_there", "differing", "same", "unknown"}: how the variables of SESSION and OTHER differ.
 * They are asked one after the other. */
json_t *session_compare (struct session *session, struct session *other, GError **error);

/* {"digest": text or null, "unknown"}: one digest of everything that code in the session can see. If it is
 * null, `unknown` is what has no digest. Equal digests mean equal variables and files, also on different
 * nodes. */
json_t *session_state (struct session *session, GError **error);

/* A page of the rows of a variable: PAGE has "name", "offset", "limit", "sort" (may be null), "descending"
 * and "filter" (may be null). The value is that of answer_read_rows, without "refused".
 * ADDER_ERROR_NOT_FOUND: there is no such variable; ADDER_ERROR_INVALID: it has no such rows. */
json_t *session_rows (struct session *session, const json_t *page, GError **error);

/* The object whose name stands there: {"busy", "found", "name", "type", "signature", "documentation",
 * "value"}. */
json_t *session_inspect (struct session *session, const char *code, guint64 cursor, GError **error);
