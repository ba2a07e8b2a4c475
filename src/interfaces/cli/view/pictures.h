/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures that code showed, out of a result, as files. */
#pragma once

#include <glib.h>
#include <jansson.h>

struct picture {
  const char *kind; /* "PNG" */
  gsize bytes;
  char *name; /* of the file, once it is written */
};

/* The pictures among RESULT's displays and in its value, written to the directory FD as picture-1.png, ...:
 * each gets the next number that is free there, since files of the same name may be an earlier run's. FD -1:
 * they are only counted. The caller's array of struct picture; with ERROR when the last one there could not
 * be written, and none after it was tried. SKIP (NULL: none) says of a bundle whether it is left out. */
GPtrArray *pictures_take (const json_t *result, int fd, gboolean (*skip) (const json_t *bundle),
                          GError **error);
