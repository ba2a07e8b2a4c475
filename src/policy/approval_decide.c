/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals, for those who decide. */
#include <string.h>

#include "adder_types.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "engine/host/interrupt.h"
#include "policy/approval_private.h"

#define REASON_BYTES 500

static const char *const kind_names[] = {[APPROVAL_OF_RUN] = "run", [APPROVAL_OF_CHANGES] = "changes"};
static const char *const state_names[] = {
    [APPROVAL_PENDING] = "pending",
    [APPROVAL_APPROVED] = "approved",
    [APPROVAL_DENIED] = "denied",
};

/* ---- what was used elsewhere ---- */

/* The keys of what was approved here, by id. */
static GHashTable *
approval_decide_approved (struct approvals *approvals)
{
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_mutex_lock (&approvals->lock);
  for (GList *at = approvals->all.head; approvals->store && at; at = at->next) {
    const struct approval *approval = at->data;
    if (approval->kind == APPROVAL_OF_RUN && approval->state == APPROVAL_APPROVED)
      g_hash_table_insert (keys, g_strdup (approval->id),
                           approval_shared_key (approval->owner, approval->conversation, approval->digest));
  }
  g_mutex_unlock (&approvals->lock);
  return keys;
}

static void
approval_decide_drop (struct approvals *approvals, const char *id)
{
  g_mutex_lock (&approvals->lock);
  for (GList *at = approvals->all.head; at; at = at->next) {
    struct approval *approval = at->data;
    if (strcmp (approval->id, id) == 0 && approval->state == APPROVAL_APPROVED) {
      log_info ("approval %s was used by another node", id);
      approvals_remove (approvals, approval);
      break;
    }
  }
  g_mutex_unlock (&approvals->lock);
}

/* In a cluster the row decides what is approved. The node that used one has removed its row, or put another
 * request there; the copy of the node that was asked goes before it is shown, or could be approved again.
 * Without the database it stays, and no decision can be made. */
static void
approvals_drop_used (struct approvals *approvals)
{
  g_autoptr (GHashTable) keys = approval_decide_approved (approvals);
  GHashTableIter iter;
  gpointer id, key;
  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &id, &key)) {
    struct approval_shared shared = {0};
    if (approval_shared_find (approvals->store, key, &shared, NULL) && g_strcmp0 (shared.id, id) != 0)
      approval_decide_drop (approvals, id);
    approval_shared_clear (&shared);
  }
}

/* ---- showing ---- */

char *
approval_decided (const struct approval *approval)
{
  g_autofree char *when = text_time (approval->decided_us);
  return approval->decided_by ? g_strdup_printf ("%s, %s", approval->decided_by, when) : NULL;
}

static json_t *
approval_decide_show (const struct approval *approval)
{
  g_autofree char *asked = text_time (approval->asked_us);
  g_autofree char *decided = approval->decided_us > 0 ? text_time (approval->decided_us) : NULL;
  gint64 left_us = MAX (approval->expires_us - g_get_monotonic_time (), 0);
  return json_pack ("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:s, s:I, s:o, s:o, s:O?}", "approval_id",
                    approval->id, "kind", kind_names[approval->kind], "state", state_names[approval->state],
                    "owner", json_text_or_null (approval->owner[0] ? approval->owner : NULL), "conversation",
                    json_text_or_null (approval->conversation), "digest", approval->digest, "review_id",
                    json_text_or_null (approval->review_id), "reason", json_text_or_null (approval->reason),
                    "asked", asked, "expires_in_ms", (json_int_t)(left_us / 1000), "decided_by",
                    json_text_or_null (approval->decided_by), "decided", json_text_or_null (decided),
                    "outcome", approval->outcome);
}

static json_t *
approval_decide_show_whole (const struct approval *approval)
{
  json_t *whole = approval_decide_show (approval);
  json_object_update_missing (whole, approval->shown);
  return whole;
}

/* What distinguishes them in a list. */
static json_t *
show_short (const struct approval *approval)
{
  static const char *const taken[] = {"description", "profile", "environment", "session",
                                      "workdir",     "name",    "first_line",  "lines"};
  json_t *item = approval_decide_show (approval);
  for (gsize i = 0; i < G_N_ELEMENTS (taken); i++) {
    json_t *value = json_object_get (approval->shown, taken[i]);
    json_object_set_new (item, taken[i], value ? json_incref (value) : json_null ());
  }
  return item;
}

json_t *
approvals_list (struct approvals *approvals, const char *owner)
{
  json_t *list = json_array ();
  approvals_drop_used (approvals);
  g_mutex_lock (&approvals->lock);
  approvals_purge (approvals);
  for (int pending = 1; pending >= 0; pending--)
    for (GList *at = approvals->all.head; at; at = at->next) {
      const struct approval *approval = at->data;
      if ((!owner || strcmp (approval->owner, owner) == 0) &&
          (approval->state == APPROVAL_PENDING) == (pending != 0))
        json_array_append_new (list, show_short (approval));
    }
  g_mutex_unlock (&approvals->lock);
  return json_pack ("{s:o}", "approvals", list);
}

REQUIRES (approvals)
static struct approval *
approval_decide_find (struct approvals *approvals, const char *owner, const char *id, GError **error)
{
  approvals_purge (approvals);
  struct approval *approval = NULL;
  for (GList *at = approvals->all.head; at && !approval; at = at->next) {
    struct approval *each = at->data;
    if (strcmp (each->id, id) == 0 && (!owner || strcmp (each->owner, owner) == 0))
      approval = each;
  }
  if (!approval) {
    g_autofree char *shown = text_one_line (id, 64);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND,
                 "there is no approval \"%s\": it was used or has expired, or never was", shown);
  }
  return approval;
}

json_t *
approvals_show (struct approvals *approvals, const char *owner, const char *id, GError **error)
{
  approvals_drop_used (approvals);
  g_mutex_lock (&approvals->lock);
  struct approval *approval = approval_decide_find (approvals, owner, id, error);
  json_t *whole = approval ? approval_decide_show_whole (approval) : NULL;
  g_mutex_unlock (&approvals->lock);
  return whole;
}

json_t *
approvals_show_short (struct approvals *approvals, const char *owner, const char *id)
{
  g_mutex_lock (&approvals->lock);
  approvals_purge (approvals);
  const struct approval *approval = approvals_find (approvals, owner, id);
  json_t *item = approval ? show_short (approval) : NULL;
  g_mutex_unlock (&approvals->lock);
  return item;
}

/* ---- deciding ---- */

/* The approval that BY may decide about now. */
REQUIRES (approvals)
static struct approval *
find_to_decide (struct approvals *approvals, const struct approver *by, const char *id, GError **error)
{
  struct approval *approval = approval_decide_find (approvals, by->owner, id, error);
  if (!approval)
    return NULL;
  if (by->conversation) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "who speaks in a conversation only cannot decide about approval %s: a person has to", id);
    return NULL;
  }
  if (approval->deciding) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY, "approval %s is being decided at this moment", id);
    return NULL;
  }
  if (by->if_pending && approval->state != APPROVAL_PENDING) {
    g_autofree char *decided = approval_decided (approval);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_EXISTS, "approval %s was %s meanwhile%s%s", id,
                 state_names[approval->state], decided ? ": " : "", decided ? decided : "");
    return NULL;
  }
  return approval;
}

REQUIRES (approvals)
static void
approval_decide_set_state (struct approvals *approvals, struct approval *approval, enum approval_state state,
                           const struct approver *by, const char *reason)
{
  approval->state = state;
  approval->decided_us = g_get_real_time ();
  g_free (approval->decided_by);
  approval->decided_by = g_strdup (by->name);
  g_free (approval->reason);
  approval->reason = reason ? text_one_line (reason, REASON_BYTES) : NULL;
  approval->expires_us = g_get_monotonic_time () + approvals->expire_us;
  log_info ("approval %s of %s, digest %s: %s by %s", approval->id, approval->owner, approval->digest,
            state_names[state], by->name ? by->name : "this program");
  approvals_changed (approvals, approval, NOTIFICATION_CHANGED);
}

/* Makes or drops the changes. The lock is released meanwhile. */
REQUIRES (approvals)
static gboolean
approval_decide_carry_out (struct approvals *approvals, struct approval *approval, gboolean yes,
                           GError **error)
{
  if (approval->kind != APPROVAL_OF_CHANGES || !approvals->carry_out)
    return TRUE;
  json_t *outcome = NULL;
  approval->deciding = TRUE;
  g_mutex_unlock (&approvals->lock);
  gboolean ok = approvals->carry_out (approvals->carry_out_data, approval->owner, approval->review_id,
                                      approval->digest, yes, &outcome, error);
  g_mutex_lock (&approvals->lock);
  approval->deciding = FALSE;
  if (outcome) {
    json_decref (approval->outcome);
    approval->outcome = outcome;
  }
  return ok;
}

/* Its present state; a used one is gone afterwards. */
REQUIRES (approvals)
static json_t *
approval_decide_settle (struct approvals *approvals, struct approval *approval, enum approval_state state,
                        const struct approver *by, const char *reason, gboolean always)
{
  approval_decide_set_state (approvals, approval, state, by, reason);
  if (always) {
    log_info ("approval %s of %s holds for all of its conversation", approval->id, approval->owner);
    approvals_grant (approvals, approval);
  }
  json_t *whole = approval_decide_show_whole (approval);
  if (approval->kind == APPROVAL_OF_CHANGES)
    approvals_remove (approvals, approval);
  return whole;
}

REQUIRES (approvals)
static json_t *
approval_decide_approve (struct approvals *approvals, const struct approver *by, const char *id,
                         gboolean always, GError **error)
{
  struct approval *approval = find_to_decide (approvals, by, id, error);
  if (!approval)
    return NULL;
  if (always && !approval->conversation) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "approval %s has no conversation, and without one there is no \"always\"", id);
    return NULL;
  }
  if (!approval_decide_carry_out (approvals, approval, TRUE, error))
    return NULL;
  return approval_decide_settle (approvals, approval, APPROVAL_APPROVED, by, NULL, always);
}

/* What other nodes of a cluster have to know of a decision. */
struct approval_verdict {
  char *key, *always_key; /* NULL: nothing */
  struct approval_shared shared;
};

REQUIRES (approvals)
static void
approval_verdict_take (struct approvals *approvals, const struct approver *by, const char *id,
                       gboolean always, struct approval_verdict *ret_verdict)
{
  const struct approval *approval =
      approvals->store ? approval_decide_find (approvals, by->owner, id, NULL) : NULL;
  if (!approval || approval->kind != APPROVAL_OF_RUN)
    return;
  *ret_verdict = (struct approval_verdict){
      .key = approval_shared_key (approval->owner, approval->conversation, approval->digest),
      .always_key =
          always ? approval_always_key (approval->owner, approval->conversation, approval->place) : NULL,
      .shared = {g_strdup (approval->id), g_strdup (state_names[approval->state]),
                 approval_decided (approval), g_strdup (approval->reason)}};
}

/* Tells them; WHOLE is taken, and returned unless that fails: then the decision is to be repeated. */
static json_t *
approval_verdict_tell (struct approvals *approvals, struct approval_verdict *verdict, json_t *whole,
                       GError **error)
{
  const struct approval_shared always = {.id = verdict->shared.id,
                                         .state = (char *)(guintptr)APPROVAL_SHARED_ALWAYS,
                                         .decided = verdict->shared.decided};
  gboolean ok =
      !verdict->key ||
      (approval_shared_put (approvals->store, verdict->key, &verdict->shared, approvals->expire_us, error) &&
       (!verdict->always_key ||
        approval_shared_put (approvals->store, verdict->always_key, &always, approvals->always_us, error)));
  g_free (verdict->key);
  g_free (verdict->always_key);
  approval_shared_clear (&verdict->shared);
  if (ok)
    return whole;
  json_decref (whole);
  return NULL;
}

json_t *
approvals_approve (struct approvals *approvals, const struct approver *by, const char *id, gboolean always,
                   GError **error)
{
  struct approval_verdict verdict = {0};
  approvals_drop_used (approvals);
  g_mutex_lock (&approvals->lock);
  json_t *whole = approval_decide_approve (approvals, by, id, always, error);
  if (whole)
    approval_verdict_take (approvals, by, id, always, &verdict);
  g_mutex_unlock (&approvals->lock);
  return approval_verdict_tell (approvals, &verdict, whole, error);
}

json_t *
approvals_deny (struct approvals *approvals, const struct approver *by, const char *id, const char *reason,
                GError **error)
{
  struct approval_verdict verdict = {0};
  approvals_drop_used (approvals);
  g_mutex_lock (&approvals->lock);
  struct approval *approval = find_to_decide (approvals, by, id, error);
  json_t *whole = approval && approval_decide_carry_out (approvals, approval, FALSE, error)
                      ? approval_decide_settle (approvals, approval, APPROVAL_DENIED, by, reason, FALSE)
                      : NULL;
  if (whole)
    approval_verdict_take (approvals, by, id, FALSE, &verdict);
  g_mutex_unlock (&approvals->lock);
  return approval_verdict_tell (approvals, &verdict, whole, error);
}

/* ---- waiting ---- */

static json_t *
wait_until_decided (struct approvals *approvals, const char *owner, const char *id,
                    struct interrupt *interrupt, gint64 deadline_us, GError **error)
{
  for (;;) {
    g_mutex_lock (&approvals->lock);
    struct approval *approval = approval_decide_find (approvals, owner, id, error);
    gint64 until_us = approval ? MIN (deadline_us, approval->expires_us) : 0;
    gboolean over = g_get_monotonic_time () >= deadline_us;
    json_t *whole = approval && (over || approval->state != APPROVAL_PENDING)
                        ? approval_decide_show_whole (approval)
                        : NULL;
    g_mutex_unlock (&approvals->lock);
    if (whole || !approval)
      return whole;
    struct pollfd pollfds[INTERRUPT_POLLFDS];
    if (interrupt_wait (interrupt, pollfds, 0, until_us) == WAIT_CANCELLED) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_CANCELLED, "who waited for approval %s is gone", id);
      return NULL;
    }
  }
}

json_t *
approvals_wait (struct approvals *approvals, const char *owner, const char *id, int watch_fd, guint64 wait_ms,
                GError **error)
{
  struct interrupt interrupt;
  if (!interrupt_init (&interrupt, watch_fd, error))
    return NULL;
  g_mutex_lock (&approvals->lock);
  approvals->waiting = g_slist_prepend (approvals->waiting, &interrupt);
  g_mutex_unlock (&approvals->lock);
  gint64 deadline_us = g_get_monotonic_time () + (gint64)MIN (wait_ms, (guint64)G_MAXINT64 / 4000) * 1000;
  json_t *whole = wait_until_decided (approvals, owner, id, &interrupt, deadline_us, error);
  g_mutex_lock (&approvals->lock);
  approvals->waiting = g_slist_remove (approvals->waiting, &interrupt);
  g_mutex_unlock (&approvals->lock);
  interrupt_clear (&interrupt);
  return whole;
}
