/* SPDX-License-Identifier: Apache-2.0 */
/* The eight steps from a question to an answer, a file each, and the controller that takes them. Each reads
 * and writes the state; what it needs besides stands in the means. A step that was taken returns TRUE,
 * whatever it found: that is in the state. FALSE with ERROR: it could not be taken (no sandbox, no model, a
 * question that was given up). */
#pragma once

#include "adder.h"
#include "analysis/dialogue.h"
#include "analysis/host.h"
#include "analysis/state.h"

#define ANALYSIS_SAMPLE_ROWS  20
#define ANALYSIS_SHORT_ROWS   5 /* of the sample, for a model that reads little */
#define ANALYSIS_PREVIEW_ROWS 10
#define ANALYSIS_RETRIES      3

struct analysis_means {
  struct analysis_host host;
  struct dialogue *dialogue; /* NULL: no model; the state has the code already */
  gboolean proposes_checks;  /* the model is asked for checks, beside those that the state has */
  /* Told of each step that was taken; NULL: nobody. */
  void (*saw) (gpointer data, const struct analysis *analysis, enum analysis_step step);
  /* Told of each step before it is taken; NULL: nobody. */
  void (*begins) (gpointer data, const struct analysis *analysis, enum analysis_step step);
  gpointer saw_data;
};

/* 1: schema, and what is assumed, from the head of each table. */
gboolean analysis_scan (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 2: the model's plan, unless there is one; a model that makes none may still write the code. */
gboolean analysis_plan (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 6, its beginning: the checks that the model proposes, before there is any code that they could be fitted
 * to. */
gboolean analysis_expect (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 3: the model's code; the next one, where the state has errors of the last. */
gboolean analysis_code (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 4: what the guard says of the code. */
gboolean analysis_guard (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 5: the result of the code, and the tables as they are as a whole. */
gboolean analysis_run (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 6: what did not hold of the checks. */
gboolean analysis_test (struct analysis *analysis, const struct analysis_means *means, GError **error);
/* 7: the paragraph. */
gboolean analysis_answer (struct analysis *analysis, const struct analysis_means *means, GError **error);

/* 8: all of them. Code that the guard refuses, that Python fails on or that the checks refuse goes back to
 * the model, ANALYSIS_RETRIES times; then the state says what was tried. */
gboolean analysis_solve (struct analysis *analysis, const struct analysis_means *means, GError **error);

/* ---- what steps share ---- */

/* Has the host run it, and puts down what every run tells: its id, what it used, its outcome and error. The
 * result, the caller's. */
json_t *analysis_run_once (struct analysis *analysis, const struct analysis_means *means,
                           enum analysis_kind kind, GError **error);

/* The object that an analysis run displays last, RESULT's, or NULL. */
const json_t *analysis_bundle (const json_t *run_result);

/* Whether the checks that were given are checks: ADDER_ERROR_INVALID says all that is wrong. */
gboolean analysis_check_expect (const struct analysis *analysis, GError **error);

/* Takes what RUN_RESULT says of the tables: schema and what is assumed. */
void analysis_take_tables (struct analysis *analysis, const json_t *run_result);

/* Whether the state's run ended as OUTCOME. */
gboolean analysis_ended_as (const struct analysis *analysis, AdderOutcome outcome);

/* Begins the conversation: the tables, the question, and what is asked for first. */
void analysis_open_dialogue (const struct analysis *analysis, struct dialogue *dialogue, const char *ask);

/* ---- for people ---- */

/* The answer as Markdown: paragraph, code, table, what was assumed; of a failure, what was tried. PICTURES
 * (may be NULL) are names of files. The caller's. */
char *analysis_markdown (const struct analysis *analysis, const char *const *pictures);
