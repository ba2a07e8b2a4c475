/* SPDX-License-Identifier: Apache-2.0 */
/* Files that only their user may write to, or read. */
#pragma once

#include <glib.h>

/* What PATH has, at most MOST bytes, with a zero byte after it; the caller's. Refused, with
 * MODEL_ERROR_INVALID and what to do: one that is no regular file, is neither the user's nor root's, or has a
 * bit of FORBIDDEN in its mode. *RET_MISSING: there is none; then NULL and no ERROR. */
char *private_file_read (const char *path, gsize most, guint forbidden, gsize *ret_length,
                         gboolean *ret_missing, GError **error);
