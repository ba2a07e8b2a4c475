/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a directory, in order. */
#pragma once

#include <glib.h>

/* At most MOST of the names in the directory that DIRECTORY_FD (O_PATH will do) refers to, sorted by their
 * bytes; the caller's. *RET_ERR: 0, or the errno for which names are missing. */
GPtrArray *listing_read (int directory_fd, guint64 most, int *ret_err);
