/* SPDX-License-Identifier: Apache-2.0 */
/* multipart/form-data (RFC 7578), parsed as it arrives: each part goes to an unnamed file, so that no upload
 * is held in memory. */
#pragma once

#include <glib.h>

#include "interfaces/http/http.h"

struct http_multipart;

/* The parameter NAME of a header's value ("a/b; NAME=text"), without its quotes; the caller's; NULL:
 * absent. */
char *http_parameter_of (const char *value, const char *name);

/* For a body whose Content-Type is TYPE, which names the boundary. ADDER_ERROR_INVALID. */
struct http_multipart *http_multipart_new (const char *type, GError **error);

/* More of the body. ADDER_ERROR_INVALID: it is malformed, or has too many parts. */
gboolean http_multipart_add (struct http_multipart *multipart, const char *bytes, gsize length,
                             GError **error);

/* The body is complete: FALSE with ADDER_ERROR_INVALID when its last boundary is missing. The parts'
 * descriptors are at their beginnings. */
gboolean http_multipart_end (struct http_multipart *multipart, GError **error);

/* In order; the multipart's. MULTIPART may be NULL: none. */
const struct http_part *http_multipart_parts (const struct http_multipart *multipart, gsize *ret_count);

/* NULL is allowed. */
void http_multipart_free (struct http_multipart *multipart);
