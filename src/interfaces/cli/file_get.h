/* SPDX-License-Identifier: Apache-2.0 */
/* `adder file get`: a kept file to a file, a folder or standard output. */
#pragma once

#include "interfaces/socket/call_backend.h"

struct file_get {
  const char *out;   /* a file, a folder, "-"; NULL: the current folder */
  const char *owner; /* NULL: the caller */
  gboolean many;     /* one of several: OUT is a folder, which is made if missing */
  gboolean force;    /* replaces an existing file of the same name */
};

/* Writes the file ID, whole or not at all, and checks its digest on the way (to standard output: its length).
 * In a folder it has its own name. *RET_PATH: the resulting path, or NULL for standard output; the
 * caller's. */
gboolean file_get (struct call_backend *backend, const struct file_get *get, const char *id, char **ret_path,
                   GError **error);
