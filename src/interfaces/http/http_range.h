/* SPDX-License-Identifier: Apache-2.0 */
/* A file as a reply: ranges and conditions (RFC 9110, 13 and 14), and headers that keep a browser from
 * executing it. */
#pragma once

#include "interfaces/http/http.h"

enum http_range {
  HTTP_RANGE_NONE,  /* all of it */
  HTTP_RANGE_PART,  /* from *RET_FIRST on, *RET_LENGTH bytes */
  HTTP_RANGE_WRONG, /* beyond the end */
};

/* What the header Range requests of a file of TOTAL bytes. TEXT NULL, of another unit, with several ranges or
 * malformed: all of it. */
enum http_range http_range_parse (const char *text, guint64 total, guint64 *ret_first, guint64 *ret_length);

/* Whether LIST, a header If-None-Match or If-Match, has TAG (with its quotes), or is "*". WEAK: W/ before a
 * tag does not count. */
gboolean http_range_has_tag (const char *list, const char *tag, gboolean weak);

/* Replies with the file FD, which is taken, described by FILE (file_fields). IS_INLINE: a browser may display
 * a picture, sound or plain text; other types are saved. */
void http_range_reply (struct http_request *request, int fd, const json_t *file, gboolean is_inline);
