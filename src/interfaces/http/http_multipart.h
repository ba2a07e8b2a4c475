/* SPDX-License-Identifier: Apache-2.0 */
/* multipart/form-data (RFC 7578), read as it comes: each part lands in a file without a name, so that no
 * upload is held in memory. */
#pragma once

#include <glib.h>

#include "interfaces/http/http.h"

struct http_multipart;

/* The parameter NAME of a header's value ("a/b; NAME=text"), without its quotes; the caller's; NULL: there is
 * none. */
char *http_parameter_of (const char *value, const char *name);

/* For a body whose Content-Type is TYPE, which names the boundary. ADDER_ERROR_INVALID. */
struct http_multipart *http_multipart_new (const char *type, GError **error);

/* More of the body. ADDER_ERROR_INVALID: it is not what it says, or has more parts than are taken. */
gboolean http_multipart_add (struct http_multipart *multipart, const char *bytes, gsize length,
                             GError **error);

/* All of it was there: FALSE with ADDER_ERROR_INVALID when its last boundary was not. The parts' descriptors
 * are at their beginnings. */
gboolean http_multipart_end (struct http_multipart *multipart, GError **error);

/* In their order; the multipart's. MULTIPART may be NULL: none. */
const struct http_part *http_multipart_parts (const struct http_multipart *multipart, gsize *ret_count);

/* NULL is allowed. */
void http_multipart_free (struct http_multipart *multipart);
