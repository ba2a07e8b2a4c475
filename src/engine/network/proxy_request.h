/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the proxy: what a sandbox sends, read strictly. One that could mean two things to two readers
 * is refused, for there is no honest sender of such. Nothing here waits, or looks outside. */
#pragma once

#include <glib.h>

#include "common/address.h"

/* The most that a request may have before its body, and how many headers. */
#define PROXY_HEAD_BYTES   ((gsize)64 << 10)
#define PROXY_HEAD_HEADERS 100

/* ---- the head ---- */

enum proxy_body_kind { PROXY_BODY_NONE, PROXY_BODY_LENGTH, PROXY_BODY_CHUNKED };

struct proxy_request {
  gboolean connect; /* CONNECT: a tunnel to HOST and PORT; else plain HTTP */
  gboolean is_head; /* whose answer has no body, whatever it says */
  struct host_name host;
  guint16 port;
  GString *head; /* of plain HTTP: what the host gets, but for the empty line at its end */
  enum proxy_body_kind body;
  guint64 length; /* PROXY_BODY_LENGTH */
};

/* Where the head in TEXT ends, with its empty line; 0: it is not whole yet. */
gsize proxy_head_length (const char *text, gsize length);

/* Reads a head of LENGTH bytes, of which DROPPED (or NULL) is a header that the sender may not set. Returns
 * NULL, or what is wrong with it: static, to be read after "the request". */
const char *proxy_request_parse (const char *text, gsize length, const char *dropped,
                                 struct proxy_request *ret_request);
void proxy_request_clear (struct proxy_request *request);

/* ---- the body ---- */

struct proxy_body {
  enum proxy_body_kind kind;
  guint64 left; /* of the body, or of a chunk */
  guint state;  /* of a chunked one */
  guint digits;
  gboolean whole; /* nothing more belongs to it */
};

void proxy_body_init (struct proxy_body *body, const struct proxy_request *request);

/* How many of LENGTH bytes of TEXT belong to the body; -1: they are no body. */
gssize proxy_body_take (struct proxy_body *body, const char *text, gsize length);
