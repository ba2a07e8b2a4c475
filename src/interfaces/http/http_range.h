/* SPDX-License-Identifier: Apache-2.0 */
/* A file as a reply: ranges and conditions (RFC 9110, 13 and 14), and headers that keep what it holds from
 * being more than a file to a browser. */
#pragma once

#include "interfaces/http/http.h"

enum http_range {
  HTTP_RANGE_NONE,  /* all of it */
  HTTP_RANGE_PART,  /* from *RET_FIRST on, *RET_LENGTH bytes */
  HTTP_RANGE_WRONG, /* beyond the end */
};

/* What the header Range asks for of a file of TOTAL bytes. TEXT NULL, of another unit, more than one range or
 * no range at all: all of it. */
enum http_range http_range_parse (const char *text, guint64 total, guint64 *ret_first, guint64 *ret_length);

/* Whether LIST, a header If-None-Match or If-Match, has TAG (with its quotes), or is "*". WEAK: W/ before a
 * tag does not count. */
gboolean http_range_has_tag (const char *list, const char *tag, gboolean weak);

/* Replies with the file FD, which is taken, of which FILE (file_fields) tells. IS_INLINE: a browser may show
 * it where it is a picture, sound or plain text; else it is saved. */
void http_range_reply (struct http_request *request, int fd, const json_t *file, gboolean is_inline);
