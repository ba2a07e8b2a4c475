/* SPDX-License-Identifier: Apache-2.0 */
/* A question to tables and all that came of it so far: what the steps (steps.h) read and write, and nothing
 * else does. Each member is a value of JSON, so that the whole can be shown at any moment, kept, and read
 * again. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The steps, in their order; names stand in analysis_step_names, words for people ("planning") in
 * analysis_step_texts. */
enum analysis_step {
  ANALYSIS_SCAN,
  ANALYSIS_PLAN,
  ANALYSIS_EXPECT,
  ANALYSIS_CODE,
  ANALYSIS_GUARD,
  ANALYSIS_RUN,
  ANALYSIS_TEST,
  ANALYSIS_ANSWER,
};
extern const char *const analysis_step_names[], *const analysis_step_texts[];

/* NULL and zero: not there yet. */
struct analysis {
  char *question;
  /* [{"name", "file", "original", "path", "bytes", "sha256", "options"}]: the files, of which the first table
   * is df; file is what the sandbox calls it, original its own name, path whence it came, or null. */
  json_t *csv;
  json_t *expect; /* the checks that the result is held against, as docs/ask.md has them */
  json_t *schema; /* what was found out about each table (TABLE of docs/ask.md) */
  json_t *plan;   /* {"steps": [{"operation", "detail"}], "target": {...}, "time": {...} | null} */
  char *code;
  /* Of this code: */
  json_t *violations; /* what the guard refused */
  json_t *error;      /* as a run's result has it, or null */
  json_t *result;     /* RESULT of docs/ask.md, or null */
  json_t *table_file; /* where all of a table is: {"name", "bytes", ...} of the run's files, or null */
  char *table_note;   /* why it is nowhere, though it was to be kept */
  json_t *tests;      /* [{"check", "ok", "message"}] */
  json_t *errors;     /* texts: why it is no answer; what a model is told */
  json_t *pictures;   /* [{"mime", "data"}] */
  json_t *charts;     /* the data of matplotlib's figures, as docs/results.md has it */
  char *stdout_text;
  char *outcome; /* of its run, or "tests_failed" */
  gint64 exit_code;
  /* Of all: */
  json_t *attempts; /* what was tried before and now: {"code", "outcome", "errors", "violations", "tests",
                       "run_id"} */
  json_t *assumed;  /* texts: what nobody said about the tables, and was taken to be so */
  char *answer;     /* one paragraph */
  json_t *model;    /* {"name", "provider", "replay"}, or null: nobody was asked */
  json_t *usage;    /* {"input_tokens", "output_tokens", "cost", "wall_ms", "cpu_ms", "peak_memory_bytes"} */
  json_t *run_ids;
};

struct analysis *analysis_new (const char *question);
/* NULL is allowed. */
void analysis_free (struct analysis *analysis);
typedef struct analysis analysis_auto; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (analysis_auto, analysis_free)

/* Adds the table NAME, whose file in the sandbox gets ENDING ("csv"), and which messages call ORIGINAL,
 * without directories. PATH may be NULL; OPTIONS (how to read it; may be NULL) is copied. ADDER_ERROR_INVALID
 * says what is wrong with NAME, or that there are too many. */
#define ANALYSIS_TABLES_MAX 16
gboolean analysis_add_table (struct analysis *analysis, const char *name, const char *ending,
                             const char *original, const char *path, guint64 bytes, const json_t *options,
                             GError **error);

/* What the code left behind is gone: another one comes. */
void analysis_forget_code (struct analysis *analysis);

/* Whether there is an answer: the code ran well, and every check held. */
gboolean analysis_is_answered (const struct analysis *analysis);

/* All of it, every member in its place. The caller's. */
json_t *analysis_to_json (const struct analysis *analysis);

/* The same back. ADDER_ERROR_INVALID where VALUE is no such object. */
struct analysis *analysis_from_json (const json_t *value, GError **error);
