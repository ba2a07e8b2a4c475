/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that runs showed and that the store keeps. */
#pragma once

#include "store/file_rows.h"
#include "store/store.h"

/* The table NUMBER (from 1) that the run RUN_ID of OWNER (NULL: any owner) showed; the caller's
 * (file_row_free). NULL with ADDER_ERROR_NOT_FOUND, which names those that there are. */
struct file_row *kept_table_find (struct store *store, const char *owner, const char *run_id, guint number,
                                  GError **error);

/* A descriptor to read ROW from, the caller's, or -1 with ERROR. */
int kept_table_open (struct store *store, const struct file_row *row, GError **error);
