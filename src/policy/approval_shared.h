/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals of runs in a cluster: the same request may come to another node than that which asked for the
 * approval. A row for each request says where that is and what was decided; whoever removes an approved one
 * has used it. The approval itself stays with the node that made its id. */
#pragma once

#include "policy/approval.h"
#include "store/store.h"

#define APPROVAL_SHARED_ALWAYS "always"

struct approval_shared {
  char *id, *state, *decided, *reason; /* all but STATE may be NULL; STATE NULL: there is none */
};
void approval_shared_clear (struct approval_shared *shared);

/* The key of SUBJECT's row, the caller's. */
char *approval_shared_key (const char *owner, const char *conversation, const char *digest);

/* FALSE with ERROR, here and below: the database does not answer. */
gboolean approval_shared_find (struct store *store, const char *key, struct approval_shared *ret_shared,
                               GError **error);
/* Makes SHARED the row, for AGE_US. */
gboolean approval_shared_put (struct store *store, const char *key, const struct approval_shared *shared,
                              gint64 age_us, GError **error);
/* *RET_TAKEN: an approved row was there, and is used now. */
gboolean approval_shared_take (struct store *store, const char *key, gboolean *ret_taken, GError **error);
