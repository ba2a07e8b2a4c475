/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on reviews: changes that runs would make in directories of the host, kept until somebody
 * decides. */
#include "common/json.h"
#include "library/library.h"
#include "operations/fields.h"
#include "operations/operation.h"
#include "operations/result_fields.h"

/* ---- the functions ---- */

static json_t *
review_list (const struct operation_call *call, GError **error)
{
  struct reviews *reviews = call->caller->engine->reviews;
  return operation_means_all (call) ? reviews_list_all (reviews, error)
                                    : reviews_list (reviews, call->owner, error);
}

/* The owner of the review that CALL names, the caller's, or NULL for nobody. FALSE: there is none. */
static gboolean
review_find_owner (const struct operation_call *call, char **ret_owner, GError **error)
{
  if (operation_means_all (call))
    return reviews_find_owner (call->caller->engine->reviews, operation_text (call, "review"), ret_owner,
                               error);
  *ret_owner = g_strdup (call->owner);
  return TRUE;
}

static json_t *
review_show (const struct operation_call *call, GError **error)
{
  g_autofree char *owner = NULL;
  return review_find_owner (call, &owner, error)
             ? reviews_show (call->caller->engine->reviews, owner, operation_text (call, "review"), error)
             : NULL;
}

/* Works in the directory that came along, else in the one that the run was given. A decision made here also
 * settles the pending approval. */
static json_t *
review_settle (const struct operation_call *call, enum review_action action, const char *digest,
               GError **error)
{
  AdderEngine *engine = call->caller->engine;
  const char *id = operation_text (call, "review");
  g_autofree char *owner = NULL;
  if (json_is_object (json_object_get (call->params, "workdir")) && call->caller->fd < 0) {
    g_set_error_literal (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
                         "a directory is named by a root over HTTP alone: here a descriptor comes along");
    return NULL;
  }
  if (!review_find_owner (call, &owner, error))
    return NULL;
  json_t *settled = reviews_settle (engine->reviews, owner, id, action, digest, call->caller->fd, error);
  if (settled && action != REVIEW_UNDO)
    approvals_forget (engine->approvals, owner, id);
  if (settled)
    notifications_send (engine->engine->notifications, NOTIFICATION_REVIEW,
                        action == REVIEW_UNDO ? NOTIFICATION_CHANGED : NOTIFICATION_ENDED, owner, id);
  return settled;
}

static json_t *
review_commit (const struct operation_call *call, GError **error)
{
  return review_settle (call, REVIEW_COMMIT, operation_text (call, "digest"), error);
}

static json_t *
review_undo (const struct operation_call *call, GError **error)
{
  return review_settle (call, REVIEW_UNDO, NULL, error);
}

static json_t *
review_drop (const struct operation_call *call, GError **error)
{
  return review_settle (call, REVIEW_DROP, NULL, error);
}

/* ---- the fields ---- */

static const struct field review_fields[] = {
    TEXT ("review_id", "Its id, also that of its approval."),
    TEXT ("state", "waiting, broken off, committed or dropped."),
    TEXT_0 ("owner", "Its owner."),
    TEXT ("directory", "The directory that would be changed."),
    TEXT_0 ("conversation", "The conversation to which it belongs."),
    TEXT ("created", "In UTC."),
    TEXT ("digest", "The digest of the changes, which an approval covers."),
    WHOLE ("files", "Number of changed files."),
    WHOLE ("bytes", "Their total size."),
    FIELD_END ("ReviewSummary"),
};
static const struct field review_whole_fields[] = {
    TEXT ("review_id", "Its id, also that of its approval."),
    TEXT ("state", "waiting, broken off, committed or dropped."),
    TEXT_0 ("owner", "Its owner."),
    TEXT ("directory", "The directory that would be changed."),
    TEXT_0 ("conversation", "The conversation to which it belongs."),
    TEXT ("created", "In UTC."),
    TEXT ("digest", "The digest of the changes, which an approval covers."),
    WHOLE ("files", "Number of changed files."),
    WHOLE ("bytes", "Their total size."),
    LIST ("changes", result_change_fields, "Each of them."),
    FIELD_END ("Review"),
};
static const struct field review_list_fields[] = {
    LIST ("reviews", review_fields, "Pending and interrupted reviews."),
    FIELD_END ("ReviewList"),
};

#define REVIEW FIELD_ID ("review", "Its id.")

static const struct field place_fields[] = {
    {.name = "root", .types = FIELD_TEXT, .minimum = 1, .maximum = 64, .text = "As the run had it."},
    ASK_TEXT ("path", 4096, "As the run had it."),
    FIELD_END ("ReviewPlace"),
};
/* clang-format off */
#define PLACE \
  {.name = "workdir", .types = FIELD_OBJECT, .members = place_fields, .optional = TRUE, \
   .text = "The directory, by a root of the configuration (HTTP only): needed if the daemon was restarted after the run."}
/* clang-format on */

static const struct field review_list_params[] = {ASK_OWNER, {0}};
static const struct field review_params[] = {REVIEW, ASK_OWNER, {0}};
static const struct field commit_params[] = {
    REVIEW,
    ASK_TEXT ("digest", 64, "The digest of the changes that were reviewed. Without it, any are accepted."),
    PLACE,
    ASK_OWNER,
    {0},
};
static const struct field undo_params[] = {REVIEW, PLACE, ASK_OWNER, {0}};

static const struct field *const list_replies[] = {review_list_fields, NULL};
static const struct field *const one_replies[] = {review_whole_fields, NULL};
static const struct field *const settled_replies[] = {review_fields, review_whole_fields, NULL};

/* ---- the table ---- */

#define REVIEWS   "/v1/reviews"
#define OF_REVIEW REVIEWS "/{review}"

const struct operation review_operations[] = {
    {
        .name = "review.list",
        .title = "List the reviews",
        .text = "Changes of directories that wait for a decision, or whose commit was interrupted.",
        .flags = OPERATION_KEPT,
        .params = review_list_params,
        .replies = list_replies,
        .run = review_list,
        .http = {"GET", REVIEWS, "listReviews", 200},
    },
    {
        .name = "review.show",
        .title = "Show a review",
        .text = "With all its changes.",
        .flags = OPERATION_KEPT,
        .params = review_params,
        .replies = one_replies,
        .run = review_show,
        .http = {"GET", OF_REVIEW, "showReview", 200},
    },
    {
        .name = "review.commit",
        .title = "Make the changes",
        .text = "Also finishes a commit that was interrupted. Refused, and nothing is touched, if somebody "
                "else has "
                "changed the files since.",
        .flags = OPERATION_KEPT | OPERATION_DECIDES | OPERATION_DIRECTORY,
        .params = commit_params,
        .replies = settled_replies,
        .run = review_commit,
        .http = {"POST", OF_REVIEW "/commit", "commitReview", 200},
    },
    {
        .name = "review.undo",
        .title = "Undo an interrupted commit",
        .text = "The review is then pending again.",
        .flags = OPERATION_KEPT | OPERATION_DECIDES | OPERATION_DIRECTORY,
        .params = undo_params,
        .replies = settled_replies,
        .run = review_undo,
        .http = {"POST", OF_REVIEW "/undo", "undoReview", 200},
    },
    {
        .name = "review.drop",
        .title = "Drop the changes",
        .text = "They are discarded.",
        .flags = OPERATION_KEPT | OPERATION_DECIDES,
        .params = review_params,
        .replies = settled_replies,
        .run = review_drop,
        .http = {"POST", OF_REVIEW "/drop", "dropReview", 200},
    },
    {0},
};
