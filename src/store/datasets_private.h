/* SPDX-License-Identifier: Apache-2.0 */
/* The table of data sets, for the files that maintain it. */
#pragma once

#include "store/database.h"
#include "store/datasets.h"

/* "tio2" is version 0, which means the newest or all; "tio2:2". *RET_NAME is the caller's. */
gboolean dataset_name_split (const char *text, char **ret_name, gint64 *ret_version, GError **error);

/* Within TRANSACTION: the rows of OWNER called NAME, the newest first, whether their files are there or not.
 */
GPtrArray *dataset_rows_read (struct transaction *transaction, const char *owner, const char *name,
                              GError **error);

/* The number of the next data set of that name. */
gboolean dataset_next_version (struct database *database, const char *owner, const char *name,
                               gint64 *ret_version, GError **error);
