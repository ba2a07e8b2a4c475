/* SPDX-License-Identifier: Apache-2.0 */
/* What an approval of a run is for: everything that decides what its code does, in one digest, and the same
 * in words for who says yes. */
#pragma once

#include "engine/request/request.h"
#include "policy/approval.h"

/* Of a run that is complete, or of a cell, where SETTLED is what its session was made with (else NULL). */
struct approval_run {
  char *digest, *place;
  json_t *shown;
};

/* Whether MODE wants an approval before REQUEST runs. */
gboolean approval_run_is_needed (enum approval_mode mode, const struct run_request *request);

/* Replaces the descriptors of files and standard input of REQUEST by copies that nobody can change, as far as
 * they are regular files and not too long: what is approved is what will be read. FALSE with ERROR when a
 * file cannot be read. */
gboolean approval_run_make (struct run_request *request, const struct run_request *settled,
                            struct approval_run *ret_run, GError **error);
void approval_run_clear (struct approval_run *run);
