/* SPDX-License-Identifier: Apache-2.0 */
/* All reviews of this user: found on disk, so that they outlive the daemon. */
#include "store/review.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/guarded.h"
#include "common/json.h"
#include "common/listing.h"
#include "common/log.h"
#include "common/text.h"
#include "store/review_private.h"

LOCK_CLASS (reviews);

struct reviews {
  guint64 expire_ms;
  guint64 max_waiting, max_bytes;
  MUTEX (reviews) lock;
  GCond cleaned;
  GUARDED_BY (reviews) guint cleaning;          /* threads that remove what was set aside */
  GUARDED_BY (reviews) GHashTable *directories; /* id -> descriptor of the directory */
};

static void
close_directory (gpointer data)
{
  int fd = GPOINTER_TO_INT (data);
  fd_close (&fd);
}

struct reviews *
reviews_new (const struct config *config)
{
  struct reviews *reviews = g_atomic_rc_box_new0 (struct reviews);
  reviews->expire_ms = config->review_expire_ms;
  reviews->max_waiting = config->max_reviews;
  reviews->max_bytes = config->max_reviews_bytes;
  g_mutex_init (&reviews->lock);
  g_cond_init (&reviews->cleaned);
  reviews->directories = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, close_directory);
  return reviews;
}

struct reviews *
reviews_ref (struct reviews *reviews)
{
  return g_atomic_rc_box_acquire (reviews);
}

static void
clear_reviews (gpointer data)
{
  struct reviews *reviews = data;
  UNSHARED (reviews);
  g_hash_table_unref (reviews->directories);
  g_mutex_clear (&reviews->lock);
  g_cond_clear (&reviews->cleaned);
}

void
reviews_unref (struct reviews *reviews)
{
  if (reviews)
    g_atomic_rc_box_release_full (reviews, clear_reviews);
}

/* ---- finding ---- */

static void
forget_directory (struct reviews *reviews, const char *id)
{
  g_mutex_lock (&reviews->lock);
  g_hash_table_remove (reviews->directories, id);
  g_mutex_unlock (&reviews->lock);
}

/* Whether nothing in the store is named ID any more. */
static gboolean
review_is_gone (gpointer id, gpointer directory G_GNUC_UNUSED, gpointer store_fd)
{
  struct stat st;
  return fstatat (GPOINTER_TO_INT (store_fd), id, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* Closes the directories of all reviews that are gone, whoever removed them. */
static void
forget_directories (struct reviews *reviews, int store_fd)
{
  g_mutex_lock (&reviews->lock);
  g_hash_table_foreach_remove (reviews->directories, review_is_gone, GINT_TO_POINTER (store_fd));
  g_mutex_unlock (&reviews->lock);
}

/* Whether REVIEW, which waits, is of no use any more. */
static gboolean
is_expired (const struct reviews *reviews, const struct review *review)
{
  return review->phase == REVIEW_WAITING &&
         g_get_real_time () - review->created_us > (gint64)reviews->expire_ms * 1000;
}

/* A folder being removed by another thread or process loses its name first. It may have been read
 * incompletely, for example without its journal, which looks like waiting. */
static gboolean
is_still_there (int store_fd, const char *name, int folder_fd)
{
  struct stat named, opened;
  return fstatat (store_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat (folder_fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Those of OWNER, or of ALL owners, locked or not; expired ones are removed. struct review. */
static GPtrArray *
find_all (struct reviews *reviews, int store_fd, const char *owner, gboolean all)
{
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify)review_free);
  int err;
  /* Ids are in the order of time. */
  g_autoptr (GPtrArray) names = listing_read (store_fd, G_MAXUINT, &err);
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    if (name[0] == '.')
      continue;
    struct review *review = review_read (store_fd, name, FALSE, NULL);
    if (!review) {
      review_sweep (store_fd, name);
    } else if (is_expired (reviews, review) && !review_is_locked (review)) {
      review_remove (store_fd, name);
      review_free (review);
    } else if ((all || g_strcmp0 (review->owner, owner) == 0) &&
               !(review->phase == REVIEW_CLEANING && review_is_locked (review)) &&
               is_still_there (store_fd, name, review->folder_fd))
      g_ptr_array_add (found, review);
    else
      review_free (review);
  }
  forget_directories (reviews, store_fd);
  return found;
}

static void
review_set_not_found (const char *id, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no such review: %s", id);
  error_add_advice (error, " (adder approval list)");
}

/* ADDER_ERROR_NOT_FOUND for other owners' as well. */
static struct review *
review_find_one (struct reviews *reviews, int store_fd, const char *owner, const char *id, gboolean locked,
                 GError **error)
{
  struct review *review = review_read (store_fd, id, locked, error);
  if (!review || (g_strcmp0 (review->owner, owner) == 0 && !is_expired (reviews, review)))
    return review;
  review_free (review);
  review_set_not_found (id, error);
  return NULL;
}

/* ---- keeping ---- */

static gboolean
review_check_room (struct reviews *reviews, int store_fd, const struct review_subject *subject,
                   GError **error)
{
  g_autoptr (GPtrArray) all = find_all (reviews, store_fd, subject->owner, FALSE);
  guint64 bytes = 0;
  for (guint i = 0; i < all->len; i++)
    bytes += ((struct review *)all->pdata[i])->bytes;
  for (guint i = 0; i < subject->changes->changes->len; i++)
    bytes += ((struct change *)subject->changes->changes->pdata[i])->after.bytes;
  if (all->len < reviews->max_waiting && bytes <= reviews->max_bytes)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
               "too many reviews are pending ([review] max_waiting, max_bytes)");
  error_add_advice (error, ": adder approval list shows them");
  return FALSE;
}

gboolean
reviews_stage (struct reviews *reviews, const struct review_subject *subject, char **ret_id, GError **error)
{
  char id[ID_BYTES];
  autoclose int store_fd = review_open_store (error);
  if (store_fd < 0 || !review_check_room (reviews, store_fd, subject, error))
    return FALSE;
  id_make (id);
  if (!review_write (store_fd, subject, id, error))
    return FALSE;
  int directory_fd = fcntl (subject->directory_fd, F_DUPFD_CLOEXEC, 3);
  if (directory_fd >= 0) {
    g_mutex_lock (&reviews->lock);
    g_hash_table_replace (reviews->directories, g_strdup (id), GINT_TO_POINTER (directory_fd));
    g_mutex_unlock (&reviews->lock);
  }
  *ret_id = g_strdup (id);
  return TRUE;
}

/* ---- telling ---- */

static json_t *
review_to_json (const struct review *review)
{
  g_autofree char *created = text_time (review->created_us);
  return json_pack ("{s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:i, s:I}", "review_id", review->id, "state",
                    review->phase == REVIEW_WAITING ? "waiting" : "broken off", "owner",
                    json_text_or_null (review->owner), "directory", json_text_or_null (review->path),
                    "conversation", json_text_or_null (review->conversation), "created", created, "digest",
                    review->digest, "files", (int)review->changes->len, "bytes", (json_int_t)review->bytes);
}

static json_t *
review_list_those (struct reviews *reviews, const char *owner, gboolean all_owners, GError **error)
{
  autoclose int store_fd = review_open_store (error);
  if (store_fd < 0)
    return NULL;
  g_autoptr (GPtrArray) all = find_all (reviews, store_fd, owner, all_owners);
  json_t *list = json_array ();
  for (guint i = 0; i < all->len; i++)
    json_array_append_new (list, review_to_json (all->pdata[i]));
  return json_pack ("{s:o}", "reviews", list);
}

json_t *
reviews_list (struct reviews *reviews, const char *owner, GError **error)
{
  return review_list_those (reviews, owner, FALSE, error);
}

json_t *
reviews_list_all (struct reviews *reviews, GError **error)
{
  return review_list_those (reviews, NULL, TRUE, error);
}

gboolean
reviews_find_owner (struct reviews *reviews, const char *id, char **ret_owner, GError **error)
{
  autoclose int store_fd = review_open_store (error);
  struct review *review = store_fd < 0 ? NULL : review_read (store_fd, id, FALSE, error);
  gboolean found = review && !is_expired (reviews, review);
  if (found)
    *ret_owner = g_strdup (review->owner);
  else if (review)
    review_set_not_found (id, error);
  review_free (review);
  return found;
}

json_t *
reviews_show (struct reviews *reviews, const char *owner, const char *id, GError **error)
{
  autoclose int store_fd = review_open_store (error);
  struct review *review = store_fd < 0 ? NULL : review_find_one (reviews, store_fd, owner, id, FALSE, error);
  if (!review)
    return NULL;
  json_t *shown = review_to_json (review), *changes = review_read_changes (review);
  json_object_set_new (shown, "changes", changes ? changes : json_array ());
  review_free (review);
  return shown;
}

json_t *
reviews_show_short (struct reviews *reviews, const char *owner, const char *id)
{
  autoclose int store_fd = review_open_store (NULL);
  struct review *review = store_fd < 0 ? NULL : review_find_one (reviews, store_fd, owner, id, FALSE, NULL);
  json_t *shown = review ? review_to_json (review) : NULL;
  review_free (review);
  return shown;
}

/* ---- cleaning up ---- */

struct cleaning {
  struct reviews *reviews;
  struct review *review; /* locked until all is gone */
  int directory_fd;
};

static void
clean (struct cleaning *cleaning)
{
  g_autoptr (GError) problem = NULL;
  struct review *review = cleaning->review;
  autoclose int store_fd = review_open_store (&problem);
  if (store_fd >= 0 && review_clean (review, cleaning->directory_fd, &problem))
    review_remove (store_fd, review->id);
  else
    log_warning ("what review %s set aside is not removed (adder approval finish does it): %s", review->id,
                 problem->message);
  fd_close (&cleaning->directory_fd);
  review_free (review);
}

static gpointer
clean_thread (gpointer data)
{
  struct cleaning *cleaning = data;
  struct reviews *reviews = cleaning->reviews;
  clean (cleaning);
  g_mutex_lock (&reviews->lock);
  reviews->cleaning--;
  g_cond_broadcast (&reviews->cleaned);
  g_mutex_unlock (&reviews->lock);
  reviews_unref (reviews);
  g_free (cleaning);
  return NULL;
}

/* Takes REVIEW and DIRECTORY_FD over. */
static void
begin_cleaning (struct reviews *reviews, struct review *review, int directory_fd)
{
  struct cleaning *cleaning = g_new (struct cleaning, 1);
  *cleaning = (struct cleaning){reviews_ref (reviews), review, directory_fd};
  g_mutex_lock (&reviews->lock);
  reviews->cleaning++;
  g_mutex_unlock (&reviews->lock);
  GThread *thread = g_thread_try_new ("review", clean_thread, cleaning, NULL);
  if (thread)
    g_thread_unref (thread);
  else
    clean_thread (cleaning);
}

void
reviews_close (struct reviews *reviews)
{
  g_mutex_lock (&reviews->lock);
  while (reviews->cleaning > 0)
    g_cond_wait (&reviews->cleaned, &reviews->lock);
  g_mutex_unlock (&reviews->lock);
}

/* ---- settling ---- */

/* The caller's descriptor, or the one that was kept, in *RET_FD, which is to be closed. */
static gboolean
review_take_directory (struct reviews *reviews, const struct review *review, int given_fd, int *ret_fd,
                       GError **error)
{
  gpointer kept = NULL;
  int fd = given_fd;
  g_mutex_lock (&reviews->lock);
  if (fd < 0)
    fd = g_hash_table_lookup_extended (reviews->directories, review->id, NULL, &kept) ? GPOINTER_TO_INT (kept)
                                                                                      : -1;
  *ret_fd = fd < 0 ? -1 : fcntl (fd, F_DUPFD_CLOEXEC, 3);
  g_mutex_unlock (&reviews->lock);
  if (*ret_fd >= 0)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED,
               "the directory of the review is not open here any more");
  error_add_advice (error, ": adder approval approve %s opens it", review->id);
  return FALSE;
}

static gboolean
drop (const struct review *review, GError **error)
{
  if (review->phase == REVIEW_WAITING)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "the review %s was interrupted: finish or undo it before you drop it", review->id);
  return FALSE;
}

/* *RET_DIRECTORY_FD is the caller's to close. */
static gboolean
review_carry_out (struct reviews *reviews, struct review *review, enum review_action action, int given_fd,
                  int *ret_directory_fd, GError **error)
{
  if (action == REVIEW_DROP)
    return drop (review, error);
  if (!review_take_directory (reviews, review, given_fd, ret_directory_fd, error))
    return FALSE;
  return action == REVIEW_UNDO ? review_undo (review, *ret_directory_fd, error)
                               : review_commit (review, *ret_directory_fd, error);
}

json_t *
reviews_settle (struct reviews *reviews, const char *owner, const char *id, enum review_action action,
                const char *digest, int given_fd, GError **error)
{
  static const char *const states[] = {
      [REVIEW_COMMIT] = "committed", [REVIEW_UNDO] = "waiting", [REVIEW_DROP] = "dropped"};
  autoclose int store_fd = review_open_store (error), directory_fd = -1;
  struct review *review = store_fd < 0 ? NULL : review_find_one (reviews, store_fd, owner, id, TRUE, error);
  json_t *answer = NULL;
  if (review && digest && strcmp (digest, review->digest) != 0)
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "the changes are not those that were said yes to");
  else if (review && review_carry_out (reviews, review, action, given_fd, &directory_fd, error)) {
    answer = review_to_json (review);
    json_object_set_new (answer, "state", json_string (states[action]));
    log_info ("review %s: %s", id, states[action]);
    if (action != REVIEW_UNDO)
      forget_directory (reviews, id);
    if (action == REVIEW_DROP)
      review_remove (store_fd, id);
    if (action == REVIEW_COMMIT)
      begin_cleaning (reviews, g_steal_pointer (&review), fd_steal (&directory_fd));
  }
  review_free (review);
  return answer;
}
