/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews: what finished runs would change in directories, kept on disk until somebody decides, and then made
 * in a way that can be finished or undone after any interruption.
 *
 * Everything uses the rights of this process, as for runs. Nothing is opened on a caller's behalf: they open
 * the directory and pass it, and it must be the one of the review. docs/workdir.md describes the user's
 * view. */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "common/config.h"
#include "engine/files/changes.h"

struct reviews;
struct reviews *reviews_new (const struct config *config);
struct reviews *reviews_ref (struct reviews *reviews);
/* Waits until files set aside by commits are removed. */
void reviews_close (struct reviews *reviews);
/* Drops a reference; NULL is allowed. The reviews on disk stay. */
void reviews_unref (struct reviews *reviews);

struct review_subject {
  const char *owner, *conversation; /* either may be NULL */
  const char *path;                 /* of the directory */
  int directory_fd;                 /* duplicated, for approvals while this process lives */
  int upper_fd;                     /* the layer that the changes were found in */
  const struct change_set *changes; /* without an obstacle */
};

/* Keeps the changes. *RET_ID, the caller's, names them. ADDER_ERROR_BUSY when too many wait. */
gboolean reviews_stage (struct reviews *reviews, const struct review_subject *subject, char **ret_id,
                        GError **error);

/* {"reviews": [{"review_id", "state", "owner", "directory", "conversation", "created", "digest", "files",
 * "bytes"}]}, the oldest first; those of OWNER, or of all owners. "state" is "waiting", or "broken off" where
 * making the changes was begun. The caller's. */
json_t *reviews_list (struct reviews *reviews, const char *owner, GError **error);
json_t *reviews_list_all (struct reviews *reviews, GError **error);

/* The owner of one, the caller's; NULL: nobody. FALSE with ADDER_ERROR_NOT_FOUND. */
gboolean reviews_find_owner (struct reviews *reviews, const char *id, char **ret_owner, GError **error);

/* One, with its "changes" as in a result. ADDER_ERROR_NOT_FOUND. */
json_t *reviews_show (struct reviews *reviews, const char *owner, const char *id, GError **error);

/* The same without its changes, or NULL. */
json_t *reviews_show_short (struct reviews *reviews, const char *owner, const char *id);

enum review_action {
  REVIEW_COMMIT, /* makes the changes, or finishes an interrupted commit */
  REVIEW_UNDO,   /* undoes an interrupted commit; the review then waits again */
  REVIEW_DROP,   /* removes one that waits */
};

/* Carries out ACTION and returns {"review_id", "state": "committed", "waiting" or "dropped", "directory",
 * "files"}. GIVEN_FD -1: the directory that this process keeps. DIGEST, unless NULL, must be the review's.
 * ADDER_ERROR_REFUSED names files that were changed meanwhile: nothing was touched then. */
json_t *reviews_settle (struct reviews *reviews, const char *owner, const char *id, enum review_action action,
                        const char *digest, int given_fd, GError **error);
