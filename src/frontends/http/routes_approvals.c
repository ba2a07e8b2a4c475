/* SPDX-License-Identifier: Apache-2.0 */
/* /v1/approvals and /v1/reviews: what somebody has to say yes to. Saying so is for callers that speak for a
 * person (HTTP_DECIDES), never for the agent that asked. */
#include "base/fd.h"
#include "common/json.h"
#include "frontends/http/run_request.h"
#include "frontends/http/shapes.h"

static AdderEngine *
engine_of (struct http_request *request)
{
  return http_service (request)->engine;
}

static const char *
owner_of (struct http_request *request)
{
  return http_who (request)->owner;
}

/* ---- approvals ---- */

static void
handle_list (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_approval_list (engine_of (request), owner_of (request), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_show (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  const char *id = http_parameter (request, "approval");
  guint64 wait_ms = (guint64)json_integer_value (json_object_get (http_query (request), "wait_ms"));
  /* What waiting tells is short. */
  g_autofree char *told = wait_ms > 0 ? adder_approval_wait (engine_of (request), owner_of (request), id,
                                                             http_watch_fd (request), wait_ms, &problem)
                                      : NULL;
  gboolean goes_on = told || wait_ms == 0;
  char *text = goes_on ? adder_approval_show (engine_of (request), owner_of (request), id, &problem) : NULL;
  http_reply_text (request, 200, text, problem);
}

static void
handle_approve (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_approval_approve (
      engine_of (request), owner_of (request), NULL, http_parameter (request, "approval"),
      json_is_true (json_object_get (http_body (request), "always")), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_deny (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_approval_deny (
      engine_of (request), owner_of (request), NULL, http_parameter (request, "approval"),
      json_string_value (json_object_get (http_body (request), "reason")), &problem);
  http_reply_text (request, 200, text, problem);
}

/* ---- reviews ---- */

static void
handle_list_reviews (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_review_list (engine_of (request), owner_of (request), &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_show_review (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_review_show (engine_of (request), owner_of (request), http_parameter (request, "review"),
                                  &problem);
  http_reply_text (request, 200, text, problem);
}

/* *RET_FD is the directory of the body's `workdir`, or -1 where it has none: then it is the one that the run
 * was given. */
static gboolean
open_directory (struct http_request *request, int *ret_fd, GError **error)
{
  const json_t *place = json_object_get (http_body (request), "workdir");
  if (!json_is_object (place))
    return TRUE;
  g_autofree char *path = NULL;
  *ret_fd = run_request_open_root (request, place, "rw", &path, error);
  return *ret_fd >= 0;
}

static void
handle_commit (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  autoclose int fd = -1;
  char *text = NULL;
  if (open_directory (request, &fd, &problem))
    text = adder_review_commit (engine_of (request), owner_of (request), http_parameter (request, "review"),
                                json_string_value (json_object_get (http_body (request), "digest")), fd,
                                &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_undo (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  autoclose int fd = -1;
  char *text = NULL;
  if (open_directory (request, &fd, &problem))
    text = adder_review_undo (engine_of (request), owner_of (request), http_parameter (request, "review"), fd,
                              &problem);
  http_reply_text (request, 200, text, problem);
}

static void
handle_drop (struct http_request *request)
{
  g_autoptr (GError) problem = NULL;
  char *text = adder_review_drop (engine_of (request), owner_of (request), http_parameter (request, "review"),
                                  &problem);
  http_reply_text (request, 200, text, problem);
}

/* ---- the table ---- */

static const struct field approval_parameters[] = {PATH_ID ("approval", "Its id."), {0}};
static const struct field review_parameters[] = {PATH_ID ("review", "Its id."), {0}};
static const struct field wait_query[] = {ASK_WAIT, {0}};
static const struct field approve_body[] = {
    ASK_FLAG ("always", "Also to all else that its conversation asks for in the same place."),
    {0},
};
static const struct field deny_body[] = {ASK_TEXT ("reason", 500, "Told to who asked."), {0}};

static const struct field place_fields[] = {
    {.name = "root", .types = FIELD_TEXT, .minimum = 1, .maximum = 64, .text = "As the run had it."},
    ASK_TEXT ("path", 4096, "As the run had it."),
    {0},
};
/* clang-format off */
#define PLACE \
  {.name = "workdir", .types = FIELD_OBJECT, .members = place_fields, .optional = TRUE, \
   .text = "The directory, where the daemon was started anew since the run."}
/* clang-format on */
static const struct field commit_body[] = {
    ASK_TEXT ("digest", 64, "Of the changes that were looked at; any where it is left out."),
    PLACE,
    {0},
};
static const struct field undo_body[] = {PLACE, {0}};

static const struct field *const approval_replies[] = {approval_fields, NULL};
static const struct field *const approvals_replies[] = {approval_list_fields, NULL};
static const struct field *const review_replies[] = {review_whole_fields, NULL};
static const struct field *const settled_replies[] = {review_fields, review_whole_fields, NULL};
static const struct field *const reviews_replies[] = {review_list_fields, NULL};

/* clang-format off */
#define APPROVAL(verb, where, id, words, says, gives, does) \
  .method = (verb), .path = "/v1/approvals" where, .operation = (id), .tag = "approvals", \
  .title = (words), .text = (says), .role = ROLE_GUEST, .status = 200, .replies = (gives), .handle = (does)
#define REVIEW(verb, where, id, words, says, gives, does) \
  .method = (verb), .path = "/v1/reviews" where, .operation = (id), .tag = "reviews", \
  .title = (words), .text = (says), .role = ROLE_GUEST, .status = 200, .replies = (gives), .handle = (does)

const struct http_route http_routes_approvals[] = {
    {APPROVAL ("GET", "", "listApprovals", "List the approvals", "Those that wait first, without their code.",
               approvals_replies, handle_list)},
    {APPROVAL ("GET", "/{approval}", "showApproval", "Show an approval",
               "All that a yes is for. With `wait_ms` it is answered when somebody decided, or that time is "
               "over.", approval_replies, handle_show),
     .parameters = approval_parameters, .query = wait_query},
    {APPROVAL ("POST", "/{approval}/approve", "approve", "Say yes",
               "The same request runs then, once. Of changes: they are made.", approval_replies,
               handle_approve),
     .parameters = approval_parameters, .body = approve_body, .flags = HTTP_DECIDES},
    {APPROVAL ("POST", "/{approval}/deny", "deny", "Say no", "The same request is refused then.",
               approval_replies, handle_deny),
     .parameters = approval_parameters, .body = deny_body, .flags = HTTP_DECIDES},
    {REVIEW ("GET", "", "listReviews", "List the reviews",
             "Changes of directories that wait for a yes, or whose making was broken off.", reviews_replies,
             handle_list_reviews)},
    {REVIEW ("GET", "/{review}", "showReview", "Show a review", "With each change.", review_replies,
             handle_show_review),
     .parameters = review_parameters},
    {REVIEW ("POST", "/{review}/commit", "commitReview", "Make the changes",
             "Or finish what was broken off. 403 where somebody else changed the files meanwhile: then "
             "nothing was touched.", settled_replies, handle_commit),
     .parameters = review_parameters, .body = commit_body, .flags = HTTP_DECIDES},
    {REVIEW ("POST", "/{review}/undo", "undoReview", "Take back what was broken off", "It waits again then.",
             settled_replies, handle_undo),
     .parameters = review_parameters, .body = undo_body, .flags = HTTP_DECIDES},
    {REVIEW ("POST", "/{review}/drop", "dropReview", "Drop the changes", "They are gone.", settled_replies,
             handle_drop),
     .parameters = review_parameters, .flags = HTTP_DECIDES},
    {0},
};
/* clang-format on */
