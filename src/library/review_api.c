/* SPDX-License-Identifier: Apache-2.0 */
/* From a run to a review. */
#include "common/json.h"
#include "common/log.h"
#include "library/library.h"

/* What a run needs of its engine when it ends. */
struct review_context {
  struct reviews *reviews;
  struct approvals *approvals;
  struct notifications *notifications;
};

static gboolean
review_api_settle (const struct review_context *context, const char *owner, const char *id,
                   const char *digest, gboolean yes, json_t **ret_outcome, GError **error)
{
  json_t *settled =
      reviews_settle (context->reviews, owner, id, yes ? REVIEW_COMMIT : REVIEW_DROP, digest, -1, error);
  if (settled)
    notifications_send (context->notifications, NOTIFICATION_REVIEW, NOTIFICATION_ENDED, owner, id);
  if (settled && ret_outcome)
    *ret_outcome = settled;
  else
    json_decref (settled);
  return settled != NULL;
}

/* Approvals use "" for an unnamed owner. */
static gboolean
review_api_carry_out (gpointer data, const char *owner, const char *id, const char *digest, gboolean yes,
                      json_t **ret_outcome, GError **error)
{
  const AdderEngine *engine = data;
  const struct review_context context = {engine->reviews, engine->approvals, engine->engine->notifications};
  return review_api_settle (&context, *owner ? owner : NULL, id, digest, yes, ret_outcome, error);
}

void
library_join_reviews (AdderEngine *engine)
{
  approvals_set_carry_out (engine->approvals, review_api_carry_out, engine);
}

static json_t *
show_request (const struct run_request *request, const struct change_set *changes)
{
  return json_pack ("{s:o, s:o, s:o, s:o, s:o, s:i, s:{s:o, s:s}}", "description",
                    json_text_or_null (request->description), "profile", json_text_or_null (request->profile),
                    "environment", json_text_or_null (request->environment), "name",
                    json_text_or_null (request->name), "code", json_text_or_null (request->code), "changes",
                    (int)changes->changes->len, "workdir", "path", json_text_or_null (request->workdir.path),
                    "mode", workdir_mode_name (request->workdir.mode));
}

/* Whether the changes of review ID may be made now; else an approval is requested under that id. */
static gboolean
may_commit (struct approvals *approvals, const struct run_request *request, const struct change_set *changes,
            const char *id)
{
  struct approval_answer answer = {0};
  g_autoptr (GError) problem = NULL;
  struct approval_digest *place = approval_digest_new ();
  approval_digest_add (place, "profile", request->profile, -1);
  approval_digest_add (place, "workdir", request->workdir.path, -1);
  g_autofree char *where = approval_digest_end (place);
  g_autoptr (json_t) shown = show_request (request, changes);
  const struct approval_subject subject = {
      .kind = APPROVAL_OF_CHANGES,
      .owner = request->owner,
      .conversation = request->conversation,
      .digest = changes->digest,
      .place = where,
      .review_id = id,
      .shown = shown,
  };
  /* Without an approval the review still waits for a direct decision. */
  if (!approvals_decide (approvals, &subject, NULL, &answer, &problem))
    log_warning ("review %s: %s", id, problem->message);
  g_free (answer.id);
  g_free (answer.decided);
  return answer.granted;
}

static gboolean
stage (struct review_context *context, const struct run_request *request, const struct change_set *changes,
       int upper_fd, char **ret_id, GError **error)
{
  const struct review_subject subject = {
      .owner = request->owner,
      .conversation = request->conversation,
      .path = request->workdir.path,
      .directory_fd = request->workdir.fd,
      .upper_fd = upper_fd,
      .changes = changes,
  };
  return reviews_stage (context->reviews, &subject, ret_id, error);
}

static gboolean
submit (gpointer data, const struct run_request *request, const struct change_set *changes, int upper_fd,
        char **ret_id, GError **error)
{
  struct review_context *context = data;
  g_autofree char *id = NULL;
  if (!stage (context, request, changes, upper_fd, &id, error))
    return FALSE;
  if (request->accept_all)
    log_warning ("%s accepts all: the changes of review %s are made, digest %s",
                 request->owner ? request->owner : "nobody", id, changes->digest);
  if (!request->accept_all && !may_commit (context->approvals, request, changes, id)) {
    notifications_send (context->notifications, NOTIFICATION_REVIEW, NOTIFICATION_CREATED, request->owner,
                        id);
    *ret_id = g_steal_pointer (&id);
    return TRUE;
  }
  if (!review_api_settle (context, request->owner, id, changes->digest, TRUE, NULL, error))
    return FALSE;
  *ret_id = NULL;
  return TRUE;
}

static void
review_api_release (gpointer data)
{
  struct review_context *context = data;
  reviews_unref (context->reviews);
  approvals_unref (context->approvals);
  notifications_unref (context->notifications);
  g_free (context);
}

void
library_set_review (AdderEngine *engine, struct run_request *resolved)
{
  if (resolved->workdir.fd < 0 || resolved->workdir.mode != WORKDIR_REVIEW)
    return;
  struct review_context *context = g_new0 (struct review_context, 1);
  context->reviews = reviews_ref (engine->reviews);
  context->approvals = approvals_ref (engine->approvals);
  context->notifications = notifications_ref (engine->engine->notifications);
  resolved->review = (struct request_review){submit, review_api_release, context};
}
