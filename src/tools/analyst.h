/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tools of the toolset `analyst`: the tables that a call names, and runs with them. */
#pragma once

#include "analysis/head.h"
#include "analysis/host.h"
#include "analysis/state.h"
#include "models/model.h"
#include "tools/call.h"

/* ---- tables (analyst_tables.c) ---- */

struct analyst_table {
  char *file_id; /* a stored file; NULL: text in the call itself */
  int fd;        /* whole, from the start */
  struct head head;
};

/* The tables in CALL's arguments files and csv, or else those loaded in its conversation: into ANALYSIS, and
 * in the same order into an array of struct analyst_table, the caller's. NULL with ERROR: a missing file is
 * ADDER_ERROR_NOT_FOUND, no table at all ADDER_ERROR_INVALID. */
GArray *analyst_tables (struct call *call, struct analysis *analysis, GError **error);

/* ---- runs (analyst_host.c) ---- */

struct analyst_host {
  struct call *call;
  const GArray *tables;
};

/* The function of a struct analysis_host. */
json_t *analyst_host_run (gpointer data, const struct analysis_run *run, GError **error);

/* ---- the model (analyst_model.c) ---- */

/* The daemon's own model for one question of CALL's owner; it must be closed. ADDER_ERROR_UNSUPPORTED: there
 * is none. ADDER_ERROR_BUSY: the owner has asked so often, or so much at once, that they must wait. */
struct model *analyst_model_open (struct call *call, GError **error);
/* NULL is allowed. */
void analyst_model_close (struct call *call, struct model *model);

/* ---- its steps (analyst_steps.c) ---- */

struct analyst_steps {
  struct call *call;
  guint ended; /* steps so far */
};

/* The functions of a struct analysis_means; DATA is a struct analyst_steps. */
void analyst_steps_begins (gpointer data, const struct analysis *analysis, enum analysis_step step);
void analyst_steps_saw (gpointer data, const struct analysis *analysis, enum analysis_step step);

/* ---- handlers (analyst_tools.c) ---- */

void analyst_scan_tool (struct call *call);
void analyst_check_tool (struct call *call);
void analyst_run_tool (struct call *call);
void analyst_ask_tool (struct call *call);
