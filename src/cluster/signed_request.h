/* SPDX-License-Identifier: Apache-2.0 */
/* A request as one message: a line of JSON, its head, with a signature by the secret that all nodes share,
 * and its body, or the beginning of that. */
#pragma once

#include "cluster/cluster_private.h"

/* HEAD gets "length", that of the whole body, and "sha256", of its first FIRST bytes. The caller's. */
GByteArray *signed_request_make (struct cluster *cluster, json_t *head, const char *body, gsize length,
                                 gsize first);

struct signed_request {
  json_t *head;
  const char *body; /* in what was parsed */
  gsize length;     /* of what came of it */
  guint64 missing;  /* bytes of it that did not */
};

/* DATA as it was signed. FALSE with ERROR; the caller's head otherwise. */
gboolean signed_request_parse (struct cluster *cluster, const char *data, gsize length,
                               struct signed_request *ret_request, GError **error);
