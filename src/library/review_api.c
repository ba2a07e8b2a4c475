/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions about reviews, and the way from a run to one. */
#include "common/json.h"
#include "common/log.h"
#include "library/library.h"

/* What a run needs of its engine when it ends. */
struct keeper {
  struct reviews *reviews;
  struct approvals *approvals;
};

static gboolean
settle (struct reviews *reviews, const char *owner, const char *id, const char *digest, gboolean yes,
        json_t **ret_outcome, GError **error)
{
  json_t *settled = reviews_settle (reviews, owner, id, yes ? REVIEW_COMMIT : REVIEW_DROP, digest, -1, error);
  if (settled && ret_outcome)
    *ret_outcome = settled;
  else
    json_decref (settled);
  return settled != NULL;
}

/* Approvals have "" for an owner that is not named. */
static gboolean
carry_out (gpointer reviews, const char *owner, const char *id, const char *digest, gboolean yes,
           json_t **ret_outcome, GError **error)
{
  return settle (reviews, *owner ? owner : NULL, id, digest, yes, ret_outcome, error);
}

void
library_join_reviews (AdderEngine *engine)
{
  approvals_set_carry_out (engine->approvals, carry_out, engine->reviews);
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

/* Whether the changes of review ID may be made now; else they are asked for under that id. */
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
  /* Without an approval the review waits all the same, for who decides about it by itself. */
  if (!approvals_decide (approvals, &subject, NULL, &answer, &problem))
    log_warning ("review %s: %s", id, problem->message);
  g_free (answer.id);
  return answer.granted;
}

static gboolean
stage (struct keeper *keeper, const struct run_request *request, const struct change_set *changes,
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
  return reviews_stage (keeper->reviews, &subject, ret_id, error);
}

static gboolean
keep (gpointer data, const struct run_request *request, const struct change_set *changes, int upper_fd,
      char **ret_id, GError **error)
{
  struct keeper *keeper = data;
  g_autofree char *id = NULL;
  if (!stage (keeper, request, changes, upper_fd, &id, error))
    return FALSE;
  if (request->accept_all)
    log_warning ("%s accepts all: the changes of review %s are made, digest %s",
                 request->owner ? request->owner : "nobody", id, changes->digest);
  if (!request->accept_all && !may_commit (keeper->approvals, request, changes, id)) {
    *ret_id = g_steal_pointer (&id);
    return TRUE;
  }
  if (!settle (keeper->reviews, request->owner, id, changes->digest, TRUE, NULL, error))
    return FALSE;
  *ret_id = NULL;
  return TRUE;
}

static void
release (gpointer data)
{
  struct keeper *keeper = data;
  reviews_unref (keeper->reviews);
  approvals_unref (keeper->approvals);
  g_free (keeper);
}

void
library_set_review (AdderEngine *engine, struct run_request *resolved)
{
  if (resolved->workdir.fd < 0 || resolved->workdir.mode != WORKDIR_REVIEW)
    return;
  struct keeper *keeper = g_new0 (struct keeper, 1);
  keeper->reviews = reviews_ref (engine->reviews);
  keeper->approvals = approvals_ref (engine->approvals);
  resolved->review = (struct request_review){keep, release, keeper};
}

/* VALUE, which is freed, as text. */
static char *
to_text (json_t *value)
{
  char *text = value ? json_to_text (value) : NULL;
  json_decref (value);
  return text;
}

char *
adder_review_list (AdderEngine *engine, const char *owner, GError **error)
{
  g_return_val_if_fail (engine != NULL, NULL);
  return to_text (reviews_list (engine->reviews, owner, error));
}

char *
adder_review_show (AdderEngine *engine, const char *owner, const char *review_id, GError **error)
{
  g_return_val_if_fail (engine != NULL && review_id != NULL, NULL);
  return to_text (reviews_show (engine->reviews, owner, review_id, error));
}

/* What was decided here is not asked for as an approval any more. */
static char *
settle_here (AdderEngine *engine, const char *owner, const char *review_id, enum review_action action,
             const char *digest, int directory_fd, GError **error)
{
  json_t *settled = reviews_settle (engine->reviews, owner, review_id, action, digest, directory_fd, error);
  if (settled)
    approvals_forget (engine->approvals, owner, review_id);
  return to_text (settled);
}

char *
adder_review_commit (AdderEngine *engine, const char *owner, const char *review_id, const char *digest,
                     int directory_fd, GError **error)
{
  g_return_val_if_fail (engine != NULL && review_id != NULL, NULL);
  return settle_here (engine, owner, review_id, REVIEW_COMMIT, digest, directory_fd, error);
}

char *
adder_review_undo (AdderEngine *engine, const char *owner, const char *review_id, int directory_fd,
                   GError **error)
{
  g_return_val_if_fail (engine != NULL && review_id != NULL, NULL);
  return to_text (reviews_settle (engine->reviews, owner, review_id, REVIEW_UNDO, NULL, directory_fd, error));
}

char *
adder_review_drop (AdderEngine *engine, const char *owner, const char *review_id, GError **error)
{
  g_return_val_if_fail (engine != NULL && review_id != NULL, NULL);
  return settle_here (engine, owner, review_id, REVIEW_DROP, NULL, -1, error);
}
