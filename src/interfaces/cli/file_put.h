/* SPDX-License-Identifier: Apache-2.0 */
/* `adder file put`: files and folders, one request for each file. */
#pragma once

#include "interfaces/socket/call_backend.h"

struct file_put {
  const char *name;         /* of the one file; NULL: its own */
  const char *conversation; /* NULL: none */
  const char *owner;        /* NULL: the caller */
  gboolean quiet;           /* only failures are printed */
};

/* Uploads what PATHS (NULL-terminated) name; "-" is standard input. Reports failures on standard error, and
 * progress if that is a terminal; prints an id and a name for each on standard output. An array of the files
 * as file.put returns them, or NULL with ERROR when nothing was begun. *RET_FAILED: the number of
 * failures. */
json_t *file_put (struct call_backend *backend, const struct file_put *put, const char *const *paths,
                  guint *ret_failed, GError **error);
