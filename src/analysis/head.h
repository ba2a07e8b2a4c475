/* SPDX-License-Identifier: Apache-2.0 */
/* What is scanned of a table's file: of a CSV the first lines, from which its form is found out, however long
 * the rest is; of all other formats the whole, of which no more is read than is needed. */
#pragma once

#include <glib.h>

#define HEAD_BYTES (1024 * 1024)

/* How many of the LENGTH bytes at DATA, the beginning of a longer file, are whole lines; LENGTH where there
 * is no end of a line. Lines of UTF-16, which its byte order mark tells, end at whole characters. */
gsize head_whole_lines (const guint8 *data, gsize length);

struct head {
  int fd;             /* -1: there is none */
  gboolean is_cut;    /* there is more */
  const char *ending; /* "csv", "json", "xlsx" ..., by what the file begins with; static */
};

/* What there is to scan of the regular file FD: FD's own copy where all of it is needed or it has no more
 * than HEAD_BYTES, else a memfd with its first whole lines. The position of FD stays; the head's fd is the
 * caller's.
 */
gboolean head_open (int fd, struct head *ret_head, GError **error);
