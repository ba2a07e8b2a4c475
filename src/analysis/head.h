/* SPDX-License-Identifier: Apache-2.0 */
/* The first lines of a file, from which its form is found out, however long the rest is. */
#pragma once

#include <glib.h>

#define HEAD_BYTES (1024 * 1024)

/* How many of the LENGTH bytes at DATA, the beginning of a longer file, are whole lines; LENGTH where there
 * is no end of a line. Lines of UTF-16, which its byte order mark tells, end at whole characters. */
gsize head_whole_lines (const guint8 *data, gsize length);

/* What there is to scan of the regular file FD: FD's own copy where it has no more than HEAD_BYTES, else a
 * memfd with its first whole lines. The position of FD stays. *RET_CUT: whether there is more. The caller's,
 * or -1 with ERROR. */
int head_open (int fd, gboolean *ret_cut, GError **error);
