/* SPDX-License-Identifier: Apache-2.0 */
/* The replies of analyses (docs/analysis.md) as fields, for schemas. */
#pragma once

#include "tools/table.h"

/* A table as it was read, a result, the outcome of a check, a figure, and earlier attempts. */
extern const struct field analyst_table_fields[], analyst_result_fields[], analyst_test_fields[],
    analyst_chart_fields[], analyst_attempt_fields[];

/* Which model was asked, and its usage. */
extern const struct field analyst_model_fields[], analyst_usage_fields[];
