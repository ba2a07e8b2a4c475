/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an analysis as fields. docs/analysis.md describes each in full. */
#include "tools/analyst_fields.h"

#include "common/field_rows.h"
#include "operations/result_fields.h"

#define CELLS(member, says)                                                                                  \
  {                                                                                                          \
    .name = (member), .types = FIELD_LIST, .items = FIELD_LIST, .text = (says)                               \
  }

/* ---- a table ---- */

static const struct field column_fields[] = {
    TEXT ("name", "By which code finds it."),
    TEXT ("original", "As the file has it."),
    TEXT ("dtype", "What pandas has it as."),
    TEXT ("kind", "integer, number, text, date, boolean or empty."),
    WHOLE ("nulls", "How many values are missing."),
    TEXT_0 ("format", "Of dates, as %Y-%m-%d."),
    {0},
};

static const struct field bad_line_fields[] = {
    WHOLE ("count", "How many there are."),
    {.name = "lines", .types = FIELD_LIST, .items = FIELD_INTEGER, .text = "The first of them."},
    TEXTS ("examples", "The text of the line, shortened."),
    {0},
};

const struct field analyst_table_fields[] = {
    TEXT ("name", "What it is called in dfs; of several in one file NAME.SHEET."),
    TEXT ("file", "What the sandbox calls its file."),
    WHOLE ("bytes", "Of the file."),
    TEXT ("format", "csv, json, jsonl, excel, parquet, feather or sqlite, by its content."),
    WHOLE_0 ("rows", "How many; null: only a part was read."),
    TEXT ("encoding", "Of the file."),
    FLAG ("bom", "Whether the file begins with a byte order mark."),
    TEXT_0 ("delimiter", "Between cells."),
    TEXT_0 ("quote", "Around cells that hold it; null: nothing is."),
    FLAG ("header", "Whether the first line has names."),
    TEXT ("decimal", "The decimal sign."),
    TEXT_0 ("thousands", "Between thousands."),
    FLAG ("partial", "Whether only a part was read."),
    LIST ("columns", column_fields, "In order."),
    WHOLE ("columns_hidden", "How many more there are."),
    CELLS ("sample", "The first rows."),
    WHOLE ("sample_hidden", "Rows of the sample that are left out for its length."),
    PART ("bad_lines", bad_line_fields, "Lines that do not fit, and are left out."),
    TEXTS ("assumed", "What nobody said, and was taken to be so."),
    FLAG ("sql", "Whether code has sql(\"select ...\") over the tables by their names."),
    {0},
};

/* ---- a result ---- */

static const struct field result_column_fields[] = {
    TEXT ("name", "Levels are joined by \" / \"."),
    TEXT ("dtype", "What pandas has it as."),
    {0},
};

const struct field analyst_result_fields[] = {
    TEXT ("kind", "table, series, number, text, boolean, date, list, mapping, none or other."),
    {.name = "shape",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_INTEGER,
     .text = "Rows and columns of a table or series."},
    LIST ("columns", result_column_fields, "An index that says something comes before the others."),
    WHOLE ("hidden_columns", "How many more there are."),
    CELLS ("rows", "The first 10."),
    WHOLE ("hidden_rows", "How many more there are."),
    TEXT ("markdown", "The same rows as a table."),
    {.name = "value",
     .types = FIELD_ANY,
     .items = FIELD_ANY,
     .text = "What it is in JSON; null for tables, series and other."},
    TEXT ("text", "What it is in a line."),
    {0},
};

const struct field analyst_test_fields[] = {
    {.name = "check", .types = FIELD_OBJECT, .items = FIELD_ANY, .text = "As it was given."},
    FLAG ("ok", "Whether it holds."),
    TEXT ("message", "What was found, in a sentence."),
    {0},
};

/* What a series has depends on the kind of its chart: docs/results.md. */
static const struct field axes_fields[] = {
    TEXT ("kind", "line, scatter, bar, pie or box."),
    TEXT_0 ("title", "Of the chart."),
    TEXT_0 ("x_label", "Of the horizontal axis."),
    TEXT_0 ("y_label", "Of the vertical axis."),
    {.name = "x_ticks",
     .types = FIELD_LIST | FIELD_NULL,
     .items = FIELD_TEXT,
     .text = "The labels below the axis, if they are words."},
    {.name = "series", .types = FIELD_LIST, .items = FIELD_OBJECT, .text = "Lines, points, bars or boxes."},
    {.name = "series_left_out", .types = FIELD_INTEGER, .optional = TRUE, .text = "How many more there are."},
    {0},
};

const struct field analyst_chart_fields[] = {
    TEXT_0 ("title", "Of the figure."),
    LIST ("charts", axes_fields, "One for each pair of axes."),
    {0},
};

/* ---- a question ---- */

const struct field analyst_attempt_fields[] = {
    TEXT_0 ("code", "What was tried."),
    TEXT ("outcome", "Its result."),
    WHOLE ("exit_code", "0 where it was the answer."),
    TEXTS ("errors", "Why it was none."),
    LIST ("violations", result_violation_fields, "What the guard refused."),
    LIST ("tests", analyst_test_fields, "The checks."),
    TEXT_0 ("run_id", "Its run."),
    {0},
};

const struct field analyst_model_fields[] = {
    TEXT_0 ("name", "As models.conf calls it."),
    TEXT_0 ("provider", "Who answers."),
    FLAG ("replay", "Whether it was a recording."),
    {0},
};

const struct field analyst_usage_fields[] = {
    {.name = "input_tokens", .types = FIELD_INTEGER, .optional = TRUE, .text = "Of the model, if any."},
    {.name = "output_tokens", .types = FIELD_INTEGER, .optional = TRUE, .text = "Of the model, if any."},
    {.name = "cost",
     .types = FIELD_NUMBER | FIELD_NULL,
     .optional = TRUE,
     .text = "Of the model, if any; null: nobody said what it takes."},
    REAL ("wall_ms", "Of the runs, by the clock."),
    REAL ("cpu_ms", "Of the processors."),
    {.name = "peak_memory_bytes",
     .types = FIELD_INTEGER | FIELD_NULL,
     .optional = TRUE,
     .text = "The most that a run held."},
    {0},
};
