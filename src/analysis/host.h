/* SPDX-License-Identifier: Apache-2.0 */
/* Where an analysis has its code run: in the engine of a daemon (tools/), or by a daemon that is asked
 * (interfaces/). The host has the files; what is in them, a step learns from results alone. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define ANALYSIS_PROFILE "analysis"

/* How such a file is asked for. The profile lets none come back: the one, and what is too long for a display,
 * may. */
#define ANALYSIS_TABLE_FORMAT "csv"
#define ANALYSIS_FILES        64

/* The processor time and the wall clock, in ms, that a run of the code has for tables of BYTES in all, where
 * that is more than the profile gives: up to its maxima. FALSE: it is not. */
gboolean analysis_time (guint64 bytes, guint64 *ret_cpu_ms, guint64 *ret_wall_ms);

enum analysis_kind {
  ANALYSIS_KIND_SCAN,  /* finds out what the tables look like: of a large file the head will do (head.h) */
  ANALYSIS_KIND_CHECK, /* holds the code against the guard, and does not run it */
  ANALYSIS_KIND_RUN,   /* with all of the files */
};

struct analysis_run {
  enum analysis_kind kind;
  const char *code;   /* "" for a scan */
  const json_t *spec; /* what adder_request_set_analysis takes, for a scan and a run */
};

struct analysis_host {
  /* Returns the result (docs/results.md), the caller's, whatever came of it; NULL with ERROR where there was
   * no run. */
  json_t *(*run) (gpointer data, const struct analysis_run *run, GError **error);
  gpointer data;
  /* Whether a run of the code leaves its whole result as a file, where that is a table. */
  gboolean keeps_table;
};
