/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures that code showed, from a result to files. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct picture {
  const char *kind; /* "PNG" */
  gsize bytes;
  char *name; /* of the file, once it is written */
};

/* The pictures among RESULT's displays and in its value, written to the directory FD as picture-1.png, ...:
 * each gets the next free number, since existing files may be an earlier run's. FD -1: they are only counted.
 * The caller's array of struct picture; with ERROR when its last entry could not be written, which ends it.
 * SKIP (NULL: none) says whether to leave out a bundle. */
GPtrArray *pictures_take (const json_t *result, int fd, gboolean (*skip) (const json_t *bundle),
                          GError **error);
