/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tools that make data sets. */
#pragma once

#include "tools/dataset_work.h"

#define DATASET_PATTERN         "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$"
#define DATASET_WORDS           "letters, digits, _, - and ., at most 64, beginning with none of the last two"
#define DATASET_PATTERN_VERSION "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(:[0-9]{1,9})?$"
#define DATASET_WORDS_VERSION   "a data set's name, or NAME:VERSION"

/* clang-format off */
#define PARAMETER_KEEP_VERSIONS \
  {.name = "keep_versions", .types = FIELD_BOOLEAN, .optional = TRUE, .standard = "false", \
   .text = "Whether the data set that has this name now stays, as an earlier version; else it goes."}
#define FIELDS_DATASET \
  {.name = "name", .types = FIELD_TEXT, .text = "Its name."}, \
  {.name = "version", .types = FIELD_INTEGER, .text = "Which of that name, from 1."}, \
  {.name = "rows", .types = FIELD_INTEGER, .text = "Its rows."}, \
  {.name = "bytes", .types = FIELD_INTEGER, .text = "Its size as Parquet."}, \
  {.name = "complete", .types = FIELD_BOOLEAN, .text = "Whether every provider gave all that it has within the limit."}, \
  {.name = "created", .types = FIELD_TEXT, .text = "When it was made."}
/* clang-format on */

struct dataset_keeping {
  const char *name;
  const json_t *facts; /* facts beside the columns */
  const struct dataset_made *made;
  gboolean complete, keep_versions;
};
/* Keeps a sandbox's output as the caller's data set. NULL with ERROR; the caller's. */
struct dataset *dataset_keep (struct call *call, const struct dataset_keeping *keeping, GError **error);

/* {"name", "version", "rows", "bytes", "complete", "created"}; the caller's. */
json_t *dataset_to_json (const struct dataset *dataset);
