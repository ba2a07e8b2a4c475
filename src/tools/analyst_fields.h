/* SPDX-License-Identifier: Apache-2.0 */
/* What analyses tell (docs/analysis.md) as fields, for schemas. */
#pragma once

#include "tools/table.h"

/* A table as it was read, a result, what came of a check, and what was tried before. */
extern const struct field analyst_table_fields[], analyst_result_fields[], analyst_test_fields[],
    analyst_attempt_fields[];

/* Who was asked, and what it used. */
extern const struct field analyst_model_fields[], analyst_usage_fields[];
