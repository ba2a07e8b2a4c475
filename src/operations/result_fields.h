/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run (docs/results.md) as fields: every member, for schemas. */
#pragma once

#include "common/field.h"
#include "sandbox/limits.h"

extern const struct field result_fields[];

/* Parts that other answers have too. */
extern const struct field result_error_fields[], result_change_fields[], result_file_fields[],
    result_session_fields[], result_usage_fields[], result_isolation_fields[], result_denial_fields[],
    result_host_fields[], result_violation_fields[];

/* A row for each limit: as requested, with its bounds, and as applied. Made from the table of limits before
 * main begins. */
extern struct field limit_asked_fields[LIMIT_COUNT + 1], limit_applied_fields[LIMIT_COUNT + 1];
