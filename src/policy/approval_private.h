/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the two halves of the approvals: approval.c, for requests, and approval_decide.c, for
 * decisions. */
#pragma once

#include "common/guarded.h"
#include "engine/host/id.h"
#include "policy/approval.h"
#include "policy/approval_shared.h"

enum approval_state { APPROVAL_PENDING, APPROVAL_APPROVED, APPROVAL_DENIED };

struct approval {
  char id[ID_BYTES];
  enum approval_kind kind;
  enum approval_state state;
  gboolean deciding; /* it is being carried out, without the lock */
  char *owner, *conversation, *digest, *place, *review_id, *reason;
  char *decided_by;  /* NULL: nobody yet, or nobody in particular */
  gint64 decided_us; /* g_get_real_time; 0: not yet */
  json_t *shown, *outcome;
  gsize bytes;       /* of what is shown */
  gint64 asked_us;   /* g_get_real_time */
  gint64 expires_us; /* g_get_monotonic_time */
};

/* "Always". */
struct approval_grant {
  char *key;     /* of kind, owner, conversation and place */
  char *decided; /* as in struct approval_answer; may be NULL */
  gint64 expires_us;
};

LOCK_CLASS (approvals);

struct approvals {
  gatomicrefcount references;
  gint64 expire_us, always_us;
  guint64 max_pending, max_pending_owner, max_bytes;
  approval_carry_out carry_out;
  gpointer carry_out_data;
  struct notifications *notifications; /* or NULL */
  struct store *store;                 /* of a cluster; NULL: there is no other node */

  MUTEX (approvals) lock;
  GUARDED_BY (approvals) GQueue all;      /* struct approval, in the order of requests */
  GUARDED_BY (approvals) GQueue grants;   /* struct approval_grant, least recently used first */
  GUARDED_BY (approvals) GSList *waiting; /* struct interrupt of each approvals_wait */
};

REQUIRES (approvals) void approvals_purge (struct approvals *approvals);
REQUIRES (approvals)
struct approval *approvals_find (struct approvals *approvals, const char *owner, const char *id);
/* Who decided about APPROVAL and when, or NULL. The caller's. */
char *approval_decided (const struct approval *approval);
REQUIRES (approvals) void approvals_remove (struct approvals *approvals, struct approval *approval);
REQUIRES (approvals) void approvals_grant (struct approvals *approvals, const struct approval *approval);
/* Tells of CHANGE, and wakes all waiters to check again. */
REQUIRES (approvals)
void approvals_changed (struct approvals *approvals, const struct approval *approval,
                        enum notification_change change);

/* The key of an "always" among those of a cluster, for runs. The caller's. */
char *approval_always_key (const char *owner, const char *conversation, const char *place);
