/* SPDX-License-Identifier: Apache-2.0 */
/* `adder file put`: files and folders, each file by a question of its own. */
#pragma once

#include "interfaces/socket/call_backend.h"

struct file_put {
  const char *name;         /* of the one file; NULL: its own */
  const char *conversation; /* NULL: none */
  const char *owner;        /* NULL: the caller */
  gboolean quiet;           /* nothing but what failed is said */
};

/* Puts in what PATHS (NULL-terminated) name; "-" is standard input. Says on standard error what could not be
 * put in, and how far it is where that is a terminal; prints an id and a name for each on standard output. An
 * array of the files as file.put answers, or NULL with ERROR when nothing was begun. *RET_FAILED: how many
 * could not be put in. */
json_t *file_put (struct call_backend *backend, const struct file_put *put, const char *const *paths,
                  guint *ret_failed, GError **error);
