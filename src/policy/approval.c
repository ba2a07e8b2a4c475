/* SPDX-License-Identifier: Apache-2.0 */
/* Approvals, for callers that need one: what waits, what was granted, and the bounds of both. */
#include <string.h>

#include "adder_types.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "engine/host/interrupt.h"
#include "policy/approval_private.h"

/* People say "always"; enough that nobody misses the one that is dropped. */
#define GRANTS_MAX 4096

/* A denial is small without its code, but requests are unlimited. */
#define DENIED_MAX 1024

static void
approval_free (gpointer data)
{
  struct approval *approval = data;
  g_free (approval->owner);
  g_free (approval->conversation);
  g_free (approval->digest);
  g_free (approval->place);
  g_free (approval->review_id);
  g_free (approval->reason);
  g_free (approval->decided_by);
  json_decref (approval->shown);
  json_decref (approval->outcome);
  g_free (approval);
}

static void
grant_free (gpointer data)
{
  struct approval_grant *grant = data;
  g_free (grant->key);
  g_free (grant->decided);
  g_free (grant);
}

struct approvals *
approvals_new (const struct config *config, struct notifications *notifications)
{
  struct approvals *approvals = g_new0 (struct approvals, 1);
  g_atomic_ref_count_init (&approvals->references);
  g_mutex_init (&approvals->lock);
  g_queue_init (&approvals->all);
  g_queue_init (&approvals->grants);
  approvals->expire_us = (gint64)config->approval_expire_ms * 1000;
  approvals->always_us = (gint64)config->approval_always_ms * 1000;
  approvals->max_pending = config->max_approvals;
  approvals->max_pending_owner = config->max_approvals_owner;
  approvals->max_bytes = config->max_approvals_bytes;
  approvals->notifications = notifications ? notifications_ref (notifications) : NULL;
  return approvals;
}

struct approvals *
approvals_ref (struct approvals *approvals)
{
  g_atomic_ref_count_inc (&approvals->references);
  return approvals;
}

void
approvals_unref (struct approvals *approvals)
{
  if (!approvals || !g_atomic_ref_count_dec (&approvals->references))
    return;
  g_queue_clear_full (&approvals->all, approval_free);
  g_queue_clear_full (&approvals->grants, grant_free);
  notifications_unref (approvals->notifications);
  g_mutex_clear (&approvals->lock);
  store_unref (approvals->store);
  g_free (approvals);
}

void
approvals_share (struct approvals *approvals, struct store *store)
{
  approvals->store = store_ref (store);
}

void
approvals_set_carry_out (struct approvals *approvals, approval_carry_out carry_out, gpointer data)
{
  approvals->carry_out = carry_out;
  approvals->carry_out_data = data;
}

/* ---- the table ---- */

void
approvals_changed (struct approvals *approvals, const struct approval *approval,
                   enum notification_change change)
{
  if (approvals->notifications)
    notifications_send (approvals->notifications, NOTIFICATION_APPROVAL, change, approval->owner,
                        approval->id);
  for (GSList *at = approvals->waiting; at; at = at->next)
    interrupt_wake (at->data);
}

void
approvals_remove (struct approvals *approvals, struct approval *approval)
{
  g_queue_remove (&approvals->all, approval);
  approvals_changed (approvals, approval, NOTIFICATION_ENDED);
  approval_free (approval);
}

void
approvals_purge (struct approvals *approvals)
{
  gint64 now = g_get_monotonic_time ();
  for (GList *at = approvals->all.head, *next; at; at = next) {
    struct approval *approval = at->data;
    next = at->next;
    if (approval->deciding || approval->expires_us > now)
      continue;
    if (approval->state != APPROVAL_DENIED)
      log_info ("approval %s has expired", approval->id);
    approvals_remove (approvals, approval);
  }
  for (GList *at = approvals->grants.head, *next; at; at = next) {
    struct approval_grant *grant = at->data;
    next = at->next;
    if (grant->expires_us > now)
      continue;
    g_queue_delete_link (&approvals->grants, at);
    grant_free (grant);
  }
}

struct approval *
approvals_find (struct approvals *approvals, const char *owner, const char *id)
{
  for (GList *at = approvals->all.head; at; at = at->next) {
    struct approval *approval = at->data;
    if (strcmp (approval->id, id) == 0 && strcmp (approval->owner, owner ? owner : "") == 0)
      return approval;
  }
  return NULL;
}

static gboolean
approval_is_of (const struct approval *approval, const struct approval_subject *subject)
{
  return strcmp (approval->owner, subject->owner ? subject->owner : "") == 0 &&
         g_strcmp0 (approval->conversation, subject->conversation) == 0;
}

static gboolean
is_for (const struct approval *approval, const struct approval_subject *subject)
{
  return approval->kind == subject->kind && strcmp (approval->digest, subject->digest) == 0 &&
         g_strcmp0 (approval->review_id, subject->review_id) == 0;
}

/* Without a conversation each call is separate, and denying one does not deny the next. */
REQUIRES (approvals)
static struct approval *
find_same (struct approvals *approvals, const struct approval_subject *subject)
{
  for (GList *at = approvals->all.head; at; at = at->next) {
    struct approval *approval = at->data;
    if (approval_is_of (approval, subject) && is_for (approval, subject) &&
        (subject->conversation || approval->state != APPROVAL_DENIED))
      return approval;
  }
  return NULL;
}

/* ---- "always" ---- */

static char *
grant_key (enum approval_kind kind, const char *owner, const char *conversation, const char *place)
{
  struct approval_digest *digest = approval_digest_new ();
  approval_digest_add_number (digest, "kind", kind);
  approval_digest_add (digest, "owner", owner ? owner : "", -1);
  approval_digest_add (digest, "conversation", conversation, -1);
  approval_digest_add (digest, "place", place, -1);
  return approval_digest_end (digest);
}

char *
approval_always_key (const char *owner, const char *conversation, const char *place)
{
  return grant_key (APPROVAL_OF_RUN, owner, conversation, place);
}

/* The grant that SUBJECT has, or NULL. Counts as its use. */
REQUIRES (approvals)
static const struct approval_grant *
find_grant (struct approvals *approvals, const struct approval_subject *subject)
{
  if (!subject->conversation || g_queue_is_empty (&approvals->grants))
    return NULL;
  g_autofree char *key = grant_key (subject->kind, subject->owner, subject->conversation, subject->place);
  for (GList *at = approvals->grants.head; at; at = at->next) {
    struct approval_grant *grant = at->data;
    if (strcmp (grant->key, key) != 0)
      continue;
    grant->expires_us = g_get_monotonic_time () + approvals->always_us;
    g_queue_unlink (&approvals->grants, at);
    g_queue_push_tail_link (&approvals->grants, at);
    return grant;
  }
  return NULL;
}

void
approvals_grant (struct approvals *approvals, const struct approval *approval)
{
  struct approval_grant *grant = g_new0 (struct approval_grant, 1);
  grant->key = grant_key (approval->kind, approval->owner, approval->conversation, approval->place);
  grant->decided = approval_decided (approval);
  grant->expires_us = g_get_monotonic_time () + approvals->always_us;
  g_queue_push_tail (&approvals->grants, grant);
  while (approvals->grants.length > GRANTS_MAX)
    grant_free (g_queue_pop_head (&approvals->grants));
}

/* ---- asking ---- */

static gboolean
too_many (GError **error, const char *what, guint64 most, const char *key)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "%s wait already (%s = %" G_GUINT64_FORMAT "): decide some first", what, key, most);
  error_add_advice (error, ", with adder approval list");
  return FALSE;
}

/* Whether there is room for one more with BYTES; first forgets denials. */
REQUIRES (approvals)
static gboolean
approval_make_room (struct approvals *approvals, const char *owner, gsize bytes, GError **error)
{
  guint64 waiting = 0, waiting_owner = 0, held = bytes, denied = 0;
  for (GList *at = approvals->all.head; at; at = at->next) {
    const struct approval *approval = at->data;
    held += approval->bytes;
    denied += approval->state == APPROVAL_DENIED;
    if (approval->state == APPROVAL_DENIED)
      continue;
    waiting++;
    waiting_owner += strcmp (approval->owner, owner ? owner : "") == 0;
  }
  for (GList *at = approvals->all.head, *next; at && (denied >= DENIED_MAX || held > approvals->max_bytes);
       at = next) {
    struct approval *approval = at->data;
    next = at->next;
    if (approval->state != APPROVAL_DENIED || approval->deciding)
      continue;
    held -= approval->bytes;
    denied--;
    approvals_remove (approvals, approval);
  }
  if (waiting_owner >= approvals->max_pending_owner)
    return too_many (error, "as many approvals of this owner as may be", approvals->max_pending_owner,
                     "max_pending_per_owner");
  if (waiting >= approvals->max_pending)
    return too_many (error, "as many approvals as may be", approvals->max_pending, "max_pending");
  if (held > approvals->max_bytes)
    return too_many (error, "approvals with as much code as may be", approvals->max_bytes, "max_bytes");
  return TRUE;
}

REQUIRES (approvals)
static struct approval *
approval_ask (struct approvals *approvals, const struct approval_subject *subject, GError **error)
{
  gsize bytes = json_dumpb (subject->shown, NULL, 0, JSON_COMPACT);
  if (!approval_make_room (approvals, subject->owner, bytes, error))
    return NULL;
  struct approval *approval = g_new0 (struct approval, 1);
  if (subject->review_id)
    g_strlcpy (approval->id, subject->review_id, sizeof approval->id);
  else
    id_make (approval->id);
  approval->kind = subject->kind;
  approval->owner = g_strdup (subject->owner ? subject->owner : "");
  approval->conversation = g_strdup (subject->conversation);
  approval->digest = g_strdup (subject->digest);
  approval->place = g_strdup (subject->place);
  approval->review_id = g_strdup (subject->review_id);
  approval->shown = json_incref (subject->shown);
  approval->bytes = bytes;
  approval->asked_us = g_get_real_time ();
  approval->expires_us = g_get_monotonic_time () + approvals->expire_us;
  g_queue_push_tail (&approvals->all, approval);
  approvals_changed (approvals, approval, NOTIFICATION_CREATED);
  log_info ("approval %s is asked for by %s, digest %s", approval->id, approval->owner, approval->digest);
  return approval;
}

static gboolean
approval_refuse (const struct approval *approval, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "it was denied%s%s (approval %s)",
               approval->reason ? ": " : "", approval->reason ? approval->reason : "", approval->id);
  return FALSE;
}

/* The GIVEN approval if it is for SUBJECT, else SUBJECT's own, or NULL. */
REQUIRES (approvals)
static struct approval *
find_for (struct approvals *approvals, const struct approval_subject *subject, const char *given,
          const char **ret_note)
{
  struct approval *approval = given ? approvals_find (approvals, subject->owner, given) : NULL;
  if (approval && approval_is_of (approval, subject) && is_for (approval, subject))
    return approval;
  if (given)
    *ret_note =
        approval && approval_is_of (approval, subject)
            ? "the approval does not match the request: code, arguments, files, limits or place differ"
            : "the approval that was given is not known here: it was used or has expired";
  return find_same (approvals, subject);
}

REQUIRES (approvals)
static gboolean
approval_decide (struct approvals *approvals, const struct approval_subject *subject, const char *given,
                 struct approval_answer *answer, GError **error)
{
  approvals_purge (approvals);
  struct approval *approval = find_for (approvals, subject, given, &answer->note);
  if (approval && approval->state == APPROVAL_DENIED)
    return approval_refuse (approval, error);
  const struct approval_grant *grant = find_grant (approvals, subject);
  gboolean is_approved = approval && approval->state == APPROVAL_APPROVED;
  answer->granted = grant || is_approved;
  if (answer->granted) {
    answer->decided = is_approved ? approval_decided (approval) : g_strdup (grant->decided);
    answer->id = approval ? g_strdup (approval->id) : NULL;
    if (approval && !approval->deciding) {
      log_info ("approval %s is used", approval->id);
      approvals_remove (approvals, approval);
    }
    return TRUE;
  }
  if (!approval)
    approval = approval_ask (approvals, subject, error);
  answer->id = approval ? g_strdup (approval->id) : NULL;
  return approval != NULL;
}

/* ---- in a cluster ---- */

/* What every node knows of a request. */
struct approval_known {
  char *key;
  struct approval_shared own, always;
};

static void
approval_known_clear (struct approval_known *known)
{
  g_free (known->key);
  approval_shared_clear (&known->own);
  approval_shared_clear (&known->always);
}

static gboolean
approval_known_read (struct approvals *approvals, const struct approval_subject *subject,
                     struct approval_known *known, GError **error)
{
  known->key = approval_shared_key (subject->owner, subject->conversation, subject->digest);
  if (!approval_shared_find (approvals->store, known->key, &known->own, error))
    return FALSE;
  if (!subject->conversation)
    return TRUE;
  g_autofree char *key = approval_always_key (subject->owner, subject->conversation, subject->place);
  return approval_shared_find (approvals->store, key, &known->always, error);
}

/* The approval ID of this node is used up, or (ASKS) is there still. FALSE: it is not. */
static gboolean
approval_touch_own (struct approvals *approvals, const char *owner, const char *id, gboolean asks)
{
  g_mutex_lock (&approvals->lock);
  approvals_purge (approvals);
  struct approval *approval = id ? approvals_find (approvals, owner, id) : NULL;
  if (approval && !asks && !approval->deciding)
    approvals_remove (approvals, approval);
  g_mutex_unlock (&approvals->lock);
  return approval != NULL;
}

static gboolean
approval_ask_shared (struct approvals *approvals, const struct approval_subject *subject, const char *key,
                     struct approval_answer *answer, GError **error)
{
  g_mutex_lock (&approvals->lock);
  const struct approval *approval = approval_ask (approvals, subject, error);
  answer->id = approval ? g_strdup (approval->id) : NULL;
  g_mutex_unlock (&approvals->lock);
  const struct approval_shared shared = {.id = answer->id, .state = (char *)(guintptr) "pending"};
  return answer->id && approval_shared_put (approvals->store, key, &shared, approvals->expire_us, error);
}

/* One that this node asked for before it was restarted is gone. */
static gboolean
approval_is_asked_for (struct approvals *approvals, const struct approval_subject *subject,
                       const struct approval_shared *own)
{
  char digits[7];
  id_digits (digits);
  return g_strcmp0 (own->state, "pending") == 0 && own->id &&
         (approval_touch_own (approvals, subject->owner, own->id, TRUE) ||
          !g_str_has_suffix (own->id, digits));
}

static gboolean
approval_decide_shared (struct approvals *approvals, const struct approval_subject *subject,
                        const char *given, struct approval_known *known, struct approval_answer *answer,
                        GError **error)
{
  struct approval_shared *own = &known->own;
  gboolean is_taken = FALSE;
  if (!approval_known_read (approvals, subject, known, error) ||
      (g_strcmp0 (own->state, "approved") == 0 &&
       !approval_shared_take (approvals->store, known->key, &is_taken, error)))
    return FALSE;
  if (subject->conversation && g_strcmp0 (own->state, "denied") == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "it was denied%s%s (approval %s)",
                 own->reason ? ": " : "", own->reason ? own->reason : "", own->id);
    return FALSE;
  }
  if (given && g_strcmp0 (given, own->id) != 0)
    answer->note = "the approval that was given is not known here: it was used or has expired";
  answer->granted = is_taken || known->always.state;
  if (answer->granted) {
    answer->id = is_taken ? g_strdup (own->id) : NULL;
    answer->decided = g_strdup (is_taken ? own->decided : known->always.decided);
    (void)approval_touch_own (approvals, subject->owner, own->id, FALSE);
    log_info ("approval %s is used", own->id ? own->id : APPROVAL_SHARED_ALWAYS);
    return TRUE;
  }
  if (!approval_is_asked_for (approvals, subject, own))
    return approval_ask_shared (approvals, subject, known->key, answer, error);
  answer->id = g_strdup (own->id);
  return TRUE;
}

gboolean
approvals_decide (struct approvals *approvals, const struct approval_subject *subject, const char *given,
                  struct approval_answer *ret_answer, GError **error)
{
  struct approval_answer answer = {0};
  if (approvals->store && subject->kind == APPROVAL_OF_RUN) {
    struct approval_known known = {0};
    gboolean known_ok = approval_decide_shared (approvals, subject, given, &known, &answer, error);
    approval_known_clear (&known);
    if (known_ok)
      *ret_answer = answer;
    else
      g_free (answer.id);
    return known_ok;
  }
  g_mutex_lock (&approvals->lock);
  gboolean ok = approval_decide (approvals, subject, given, &answer, error);
  g_mutex_unlock (&approvals->lock);
  if (ok)
    *ret_answer = answer;
  return ok;
}

void
approvals_forget (struct approvals *approvals, const char *owner, const char *review_id)
{
  g_mutex_lock (&approvals->lock);
  struct approval *approval = approvals_find (approvals, owner, review_id);
  if (approval && approval->kind == APPROVAL_OF_CHANGES && !approval->deciding)
    approvals_remove (approvals, approval);
  g_mutex_unlock (&approvals->lock);
}

guint
approvals_waiting (struct approvals *approvals)
{
  guint count = 0;
  g_mutex_lock (&approvals->lock);
  approvals_purge (approvals);
  for (GList *at = approvals->all.head; at; at = at->next)
    count += ((struct approval *)at->data)->state != APPROVAL_DENIED;
  g_mutex_unlock (&approvals->lock);
  return count;
}
