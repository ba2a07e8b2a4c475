/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of keeping share: what is kept of a run (keep.c), and what its record says (keep_record.c).
 */
#pragma once

#include "engine/account.h"
#include "engine/request.h"
#include "store/records.h"

/* A record, and what its texts are in. */
struct keep_record {
  struct record record;
  json_t *more;
  GPtrArray *texts;
};

void keep_record_make (struct keep_record *kept, const struct store *store, const struct run_request *request,
                       const struct account *account);
void keep_record_clear (struct keep_record *kept);
