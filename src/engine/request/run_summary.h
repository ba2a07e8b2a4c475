/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a finished run for its recorder (struct request_recorder), and the recorder's answers. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/files/artifact.h"
#include "engine/pool/usage.h"
#include "engine/request/outcome.h"
#include "engine/request/spill.h"

enum { SUMMARY_OUTPUT, SUMMARY_ERRORS, SUMMARY_STREAMS };

struct run_summary {
  const char *run_id;
  gint64 asked_ms; /* when it was requested, since 1970 */
  AdderOutcome outcome;
  int exit_code, signal;
  gint64 queue_us, wall_us;
  struct usage usage;
  int level;                /* of isolation; -1: nothing ran */
  const GPtrArray *missing; /* strings, or NULL */
  const char *session;      /* its id, or NULL */
  guint64 cell;
  const json_t *error, *denials, *network; /* of the result, or NULL */
  /* The files, which stay the run's; the recorder sets file_id and url of those that it keeps. */
  GPtrArray *artifacts; /* or NULL */
  int workspace_fd;
  gboolean living; /* code may still change the files: what a copy of them holds counts */
  /* Whole output that the reply has only in part, if its fd is not -1; the recorder sets `kept`. */
  struct spill *spills[SUMMARY_STREAMS];
  guint64 output_bytes[SUMMARY_STREAMS]; /* in all */
  GPtrArray *warnings;                   /* strings: the result's; receives what could not be kept, and why */
};
