/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a run: what is asked of it, by whatever way it comes. One table says what its members are, and
 * one function makes the library's request of them. */
#pragma once

#include "adder.h"
#include "common/field.h"

/* Parameters of operations: of a run, a cell, a new session and a replay. */
extern const struct field run_new_params[], session_cell_params[], session_new_params[],
    session_replay_params[];

/* What a run, a session or a replay is asked for with by a program on this machine, whose code comes beside
 * it. A file may be a descriptor ("descriptor": true), and so may standard input (true). The work directory
 * is one, and so is the directory that files are saved to ("save"). */
extern const struct field run_local_fields[];

/* What comes beside a body. */
struct run_body_source {
  const char *code; /* bytes, perhaps not UTF-8; NULL: it is the body's */
  gsize code_length;
  const char *owner; /* who asks, or NULL */
  /* One for each file that is a descriptor, then standard input, then the work directory, then the directory
   * to save to, where they are there. The sender's. */
  const int *fds;
  gsize fd_count;
};

/* The library's request that BODY means, which was checked by one of the tables above; of the work directory
 * it has the `path` of the descriptor. ADDER_ERROR_INVALID: a limit out of its bounds, a file that cannot be
 * one, or descriptors that do not fit. The caller's. */
AdderRequest *run_body_read (const json_t *body, const struct run_body_source *source, GError **error);
