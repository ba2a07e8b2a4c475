/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the recorder share: what is kept of a run (recorder.c), and what its record says
 * (run_record.c). */
#pragma once

#include "engine/request/request.h"
#include "engine/request/run_summary.h"
#include "store/records.h"

/* A record, and the owner of its texts. */
struct run_record {
  struct record record;
  json_t *more;
  GPtrArray *texts;
};

void run_record_make (struct run_record *kept, const struct store *store, const struct run_request *request,
                      const struct run_summary *summary);
/* An active run. */
struct run_start_note {
  const char *run_id, *session; /* SESSION: its id, or NULL */
  gint64 asked_ms;
};

/* Its record in case the daemon dies before it ends: without a digest of code that is there. */
void run_record_begin (struct run_record *kept, const struct store *store, const struct run_request *request,
                       const struct run_start_note *begun);
void run_record_clear (struct run_record *kept);
