/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that runs showed and that the store keeps. */
#pragma once

#include "adder.h"
#include "store/file_rows.h"
#include "store/store.h"

/* The table NUMBER (from 1) that the run RUN_ID of OWNER (NULL: any owner) showed; the caller's
 * (file_row_free). NULL with ADDER_ERROR_NOT_FOUND, which names those that there are. */
struct file_row *kept_table_find (struct store *store, const char *owner, const char *run_id, guint number,
                                  GError **error);

/* A descriptor to read ROW from, the caller's, or -1 with ERROR. */
int kept_table_open (struct store *store, const struct file_row *row, GError **error);

/* What a sandbox does with a table. */
struct kept_table_work {
  const char *code;     /* its first argument is the file's name */
  const char *argument; /* another one; or NULL */
  const char *description;
  guint64 wall_ms;
};

/* A request like OPTIONS to do WORK with ROW, whose content is in FD. What it makes has the owner of ROW,
 * even if an admin asked for it. The caller's; NULL with ERROR. */
AdderRequest *kept_table_request (const AdderRequest *options, const struct file_row *row, int fd,
                                  const struct kept_table_work *work, GError **error);
