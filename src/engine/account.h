/* SPDX-License-Identifier: Apache-2.0 */
/* What a run that ended tells its keeper (struct request_keeper), and what he says of it in return. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "engine/artifact.h"
#include "engine/outcome.h"
#include "engine/spill.h"
#include "engine/usage.h"

enum { ACCOUNT_OUTPUT, ACCOUNT_ERRORS, ACCOUNT_STREAMS };

struct account {
  const char *run_id;
  gint64 asked_ms; /* when it was asked for, since 1970 */
  AdderOutcome outcome;
  int exit_code, signal;
  gint64 queue_us, wall_us;
  struct usage usage;
  int level;                /* of isolation; -1: nothing ran */
  const GPtrArray *missing; /* strings, or NULL */
  const char *session;      /* its id, or NULL */
  guint64 cell;
  const json_t *error, *denials, *network; /* of the result, or NULL */
  /* The files, which stay the run's; the keeper sets file_id and url of those that he keeps. */
  GPtrArray *artifacts; /* or NULL */
  int workspace_fd;
  gboolean living; /* code may still change the files: what counts is what a copy of them holds */
  /* Whole output that the reply has only parts of, where its fd is not -1; the keeper sets `kept`. */
  struct spill *spills[ACCOUNT_STREAMS];
  guint64 output_bytes[ACCOUNT_STREAMS]; /* in all */
  GPtrArray *warnings;                   /* strings: the result's; gets what could not be kept, and why */
};
