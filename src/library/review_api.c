/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions about reviews, and the way from a run to one. */
#include "common/json.h"
#include "library/library.h"

static gboolean
keep (gpointer data, const struct run_request *request, const struct change_set *changes, int upper_fd,
      char **ret_id, GError **error)
{
  const struct review_subject subject = {
      .owner = request->owner,
      .conversation = request->conversation,
      .path = request->workdir.path,
      .directory_fd = request->workdir.fd,
      .upper_fd = upper_fd,
      .changes = changes,
  };
  return reviews_stage (data, &subject, ret_id, error);
}

static void
release (gpointer data)
{
  reviews_unref (data);
}

void
library_set_review (AdderEngine *engine, struct run_request *resolved)
{
  if (resolved->workdir.fd >= 0 && resolved->workdir.mode == WORKDIR_REVIEW)
    resolved->review = (struct request_review){keep, release, reviews_ref (engine->reviews)};
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

char *
adder_review_commit (AdderEngine *engine, const char *owner, const char *review_id, const char *digest,
                     int directory_fd, GError **error)
{
  g_return_val_if_fail (engine != NULL && review_id != NULL, NULL);
  return to_text (
      reviews_settle (engine->reviews, owner, review_id, REVIEW_COMMIT, digest, directory_fd, error));
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
  return to_text (reviews_settle (engine->reviews, owner, review_id, REVIEW_DROP, NULL, -1, error));
}
