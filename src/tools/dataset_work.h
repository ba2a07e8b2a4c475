/* SPDX-License-Identifier: Apache-2.0 */
/* Work on tables of data sets, in a sandbox (runner/python/datasets.py): their content is untrusted. */
#pragma once

#include "store/datasets.h"
#include "tools/call.h"

enum dataset_job {
  DATASET_OF_ROWS, /* rows.jsonl becomes table.parquet */
  DATASET_IMPORT,  /* a table of the caller's becomes table.parquet */
  DATASET_HEAD,    /* the first rows of one */
  DATASET_CSV,     /* it becomes a CSV file */
  DATASET_JSON,    /* or JSON */
};

struct dataset_work {
  enum dataset_job job;
  const char *shown;   /* what messages call it; NULL: the data set */
  const char *source;  /* the table's name in the sandbox */
  const char *file_id; /* its stored file, the caller's; NULL: the content of FD */
  int fd;
  guint64 bytes;      /* of it */
  const char *target; /* the name of the resulting file; for a head the number of rows */
  const char *wanted; /* of an import, which table of several; NULL: the file has one */
  gboolean unwatched; /* the caller stopped the call, and partial results are to be kept */
};

/* The results. */
struct dataset_made {
  json_t *answer; /* {"rows": ..., "columns": [...], "assumed": [...]}; of a head {"rows": [...]}; NULL for
                     CSV and JSON */
  int table_fd;   /* Parquet, or -1 */
  char *file_id;  /* of the stored file that a CSV or JSON became, or NULL */
};
void dataset_made_clear (struct dataset_made *made);

/* FALSE: CALL has its reply, the reason. */
gboolean dataset_work_run (struct call *call, const struct dataset_work *work, struct dataset_made *ret_made);
