/* SPDX-License-Identifier: Apache-2.0 */
/* A request as one message: a signed line of JSON, the head, and the body or its beginning. The signature
 * uses the secret that all nodes share. */
#pragma once

#include "cluster/cluster_private.h"

/* Adds to HEAD the "length" of the whole body and the "sha256" of its first FIRST bytes. The caller owns the
 * message. */
GByteArray *signed_request_make (struct cluster *cluster, json_t *head, const char *body, gsize length,
                                 gsize first);

struct signed_request {
  json_t *head;
  const char *body; /* inside DATA */
  gsize length;     /* of the part that is in the message */
  guint64 missing;  /* bytes that follow in frames */
};

/* Verifies and parses DATA of SIZE bytes. On success the caller owns the head. */
gboolean signed_request_parse (struct cluster *cluster, const char *data, gsize size,
                               struct signed_request *ret_request, GError **error);
