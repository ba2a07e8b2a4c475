/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a run: what is asked of it, by whatever interface. One table describes its members, and one
 * function builds the library's request from them. */
#pragma once

#include "adder.h"
#include "common/field.h"

/* Parameters of operations: for a run, a cell, a new session and a replay. */
extern const struct field run_new_params[], session_cell_params[], session_new_params[],
    session_replay_params[];

/* The body of a run, a session or a replay from a program on this machine, which sends the code beside it. A
 * file may be a descriptor ("descriptor": true), and so may standard input (true). The work directory is one,
 * and so is the directory that files are saved to ("save"). */
extern const struct field run_local_fields[];

/* What comes beside a body. */
struct run_body_source {
  const char *code; /* bytes, perhaps not UTF-8; NULL: the code is in the body */
  gsize code_length;
  const char *owner; /* the caller, or NULL */
  /* One for each file that is a descriptor, then standard input, the work directory and the directory to save
   * to, if present. The sender's. */
  const int *fds;
  gsize fd_count;
};

/* The library's request for BODY, which was checked by one of the tables above; for the work directory it has
 * the `path` of the descriptor. ADDER_ERROR_INVALID: a limit out of bounds, an impossible file, or
 * descriptors that do not match. The caller's. */
AdderRequest *run_body_read (const json_t *body, const struct run_body_source *source, GError **error);
