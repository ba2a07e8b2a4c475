/* SPDX-License-Identifier: Apache-2.0 */
/* What an approval of a run covers: everything that determines what its code does, in one digest, and the
 * same in words for the person who decides. */
#pragma once

#include "engine/request/request.h"
#include "policy/approval.h"

/* Of a complete run, or of a cell, with SETTLED its session's settings (else NULL). */
struct approval_run {
  char *digest, *place;
  json_t *shown;
};

/* Whether MODE requires an approval before REQUEST runs. */
gboolean approval_run_is_needed (enum approval_mode mode, const struct run_request *request);

/* Replaces the descriptors of files and standard input of REQUEST by immutable copies, if they are regular
 * files and not too long: what is approved is what will be read. FALSE with ERROR when a file cannot be
 * read. */
gboolean approval_run_make (struct run_request *request, const struct run_request *settled,
                            struct approval_run *ret_run, GError **error);
void approval_run_clear (struct approval_run *run);
