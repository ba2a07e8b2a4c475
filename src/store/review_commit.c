/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. Each change that is not covered by one above it is a step at one name. First the new
 * contents of all steps are made, beside their names as .adder-ID-N.new (for a directory: all of it); nothing
 * in use is touched until then. Then each step is one or two renames: the old file becomes .adder-ID-N.old,
 * the new one takes its name. When all are done, the old files are removed.
 *
 * So which of a step's names exist tells how far it came, and no record of single steps is needed:
 *
 *               not yet        between          done
 *     create    .new                            (neither)
 *     delete    (neither)                       .old
 *     replace   .new           .new .old        .old
 *
 * A file that is replaced is linked to .old and then renamed over, so that its name is never missing. Going
 * on and going back both begin by looking, and look again whether what they would overwrite is what they
 * know. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "common/text.h"
#include "engine/host/scratch.h"
#include "store/blob_file.h"
#include "store/review_private.h"

#define INSIDE          (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

#define CONFLICTS_SHOWN 5

/* Up to so many files are synced one by one; for more, the whole file system is. */
#define SINGLE_SYNCS_MAX 8

struct commit {
  struct review *review;
  int root_fd;
  int content_fd;
  GString *conflicts;
  guint conflict_count;
};

/* One name to change. */
struct step {
  guint number; /* in review->changes */
  const struct change *change;
  int parent_fd;
  const char *name;          /* in it; points into the change's path */
  char fresh[64], aside[64]; /* beside it */
};

/* Whether each of its names exists. */
struct found {
  gboolean fresh, aside, named;
};

/* A directory that stays but gets other permissions. */
static gboolean
is_mode_only (const struct change *change)
{
  return change->before.type == CHANGE_DIRECTORY && change->after.type == CHANGE_DIRECTORY &&
         !change->replaced;
}

static gboolean
review_commit_fail (GError **error, int err, const char *what, const struct change *change)
{
  g_autofree char *shown = text_one_line (change->path, -1);
  error_from_errno (error, err, "cannot %s %s", what, shown);
  return FALSE;
}

/* The directory that PATH lies in, and the name there. */
static int
review_commit_open_parent (const struct commit *commit, const char *path, const char **ret_name)
{
  const char *slash = strrchr (path, '/');
  *ret_name = slash ? slash + 1 : path;
  if (!slash)
    return fcntl (commit->root_fd, F_DUPFD_CLOEXEC, 3);
  g_autofree char *parent = g_strndup (path, (gsize)(slash - path));
  return sys_openat2 (commit->root_fd, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
}

static gboolean
step_open (const struct commit *commit, guint number, struct step *ret_step, GError **error)
{
  const struct change *change = commit->review->changes->pdata[number];
  struct step step = {.number = number, .change = change};
  step.parent_fd = review_commit_open_parent (commit, change->path, &step.name);
  if (step.parent_fd < 0)
    return review_commit_fail (error, errno, "reach", change);
  /* The end of the id is what is random in it. */
  const char *id = commit->review->id + ID_BYTES - 1 - 12;
  g_snprintf (step.fresh, sizeof step.fresh, ".adder-%s-%u.new", id, number);
  g_snprintf (step.aside, sizeof step.aside, ".adder-%s-%u.old", id, number);
  *ret_step = step;
  return TRUE;
}

/* Which of its names exist. A failed lookup counts as existing: the step would otherwise be taken for
 * done. */
static gboolean
step_look (const struct step *step, struct found *ret_found, GError **error)
{
  const struct {
    const char *name;
    gboolean *found;
  } looks[] = {
      {step->fresh, &ret_found->fresh}, {step->aside, &ret_found->aside}, {step->name, &ret_found->named}};
  for (gsize i = 0; i < G_N_ELEMENTS (looks); i++) {
    struct stat st;
    *looks[i].found = fstatat (step->parent_fd, looks[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*looks[i].found && errno != ENOENT)
      return review_commit_fail (error, errno, "look at", step->change);
  }
  return TRUE;
}

/* A file or a whole directory of our own making, or one that was set aside. */
static gboolean
review_commit_remove_name (const struct step *step, const char *name, GError **error)
{
  if (unlinkat (step->parent_fd, name, 0) == 0 || errno == ENOENT)
    return TRUE;
  scratch_remove_tree (step->parent_fd, name);
  if (unlinkat (step->parent_fd, name, 0) == 0 || errno == ENOENT)
    return TRUE;
  /* A directory that is still there could not be emptied. */
  return review_commit_fail (error, errno == EISDIR ? ENOTEMPTY : errno, "remove what was set aside for",
                             step->change);
}

/* ---- what is there now ---- */

static void
add_conflict (struct commit *commit, const char *path)
{
  g_autofree char *shown = text_one_line (path, -1);
  if (commit->conflict_count++ < CONFLICTS_SHOWN)
    g_string_append_printf (commit->conflicts, "%s%s", commit->conflicts->len > 0 ? ", " : "", shown);
}

/* ADDER_ERROR_REFUSED when there were any. */
static gboolean
check_conflicts (const struct commit *commit, GError **error)
{
  if (commit->conflict_count == 0)
    return TRUE;
  g_autofree char *more = commit->conflict_count > CONFLICTS_SHOWN
                              ? g_strdup_printf (" and %u more", commit->conflict_count - CONFLICTS_SHOWN)
                              : g_strdup ("");
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED, "changed by somebody else meanwhile: %s%s",
               commit->conflicts->str, more);
  return FALSE;
}

static guint
count_names (int directory_fd, const char *name)
{
  autoclose int fd = sys_openat2 (directory_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
  DIR *list = fd < 0 ? NULL : fd_list (fd);
  if (!list)
    return G_MAXUINT;
  guint count = 0;
  while (fd_next_name (list))
    count++;
  if (errno)
    count = G_MAXUINT;
  closedir (list);
  return count;
}

/* How many names the directory at NUMBER should contain, BEFORE or after the change. */
static guint
count_listed (const struct review *review, guint number, gboolean before)
{
  const struct change *directory = review->changes->pdata[number];
  gsize length = strlen (directory->path);
  guint count = 0;
  for (guint i = number + 1; i < review->changes->len; i++) {
    const struct change *change = review->changes->pdata[i];
    if (strncmp (change->path, directory->path, length) != 0 || change->path[length] != '/')
      break;
    const struct change_entry *entry = before ? &change->before : &change->after;
    count += entry->type != CHANGE_NOTHING && !strchr (change->path + length + 1, '/');
  }
  return count;
}

/* The same file by its times, or else by its content: rewriting it with the same content is no conflict. */
static gboolean
review_commit_is_file (int parent_fd, const char *name, const struct change_entry *known,
                       const struct stat *st)
{
  gint64 changed_ns = (gint64)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
  if ((guint64)st->st_size != known->bytes)
    return FALSE;
  if (st->st_ino == known->inode && changed_ns == known->changed_ns)
    return TRUE;
  if (!known->sha256)
    return st->st_ino == known->inode &&
           (gint64)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec == known->modified_ns;
  struct change_entry now;
  change_entry_read (parent_fd, name, known->bytes, &now);
  gboolean same = g_strcmp0 (now.sha256, known->sha256) == 0;
  change_entry_clear (&now);
  return same;
}

static gboolean
is_link (int parent_fd, const char *name, const struct change_entry *known)
{
  struct change_entry now;
  change_entry_read (parent_fd, name, 0, &now);
  gboolean same = g_strcmp0 (now.target, known->target) == 0;
  change_entry_clear (&now);
  return same;
}

/* Whether NAME is as KNOWN says; of a directory, that it is one. */
static gboolean
is_entry (int parent_fd, const char *name, const struct change_entry *known)
{
  struct stat st;
  if (fstatat (parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT && known->type == CHANGE_NOTHING;
  switch (known->type) {
  case CHANGE_FILE:
    return S_ISREG (st.st_mode) && (st.st_mode & 0777) == known->mode &&
           review_commit_is_file (parent_fd, name, known, &st);
  case CHANGE_LINK:
    return S_ISLNK (st.st_mode) && is_link (parent_fd, name, known);
  case CHANGE_DIRECTORY:
    return S_ISDIR (st.st_mode);
  case CHANGE_OTHER:
    return !S_ISREG (st.st_mode) && !S_ISLNK (st.st_mode) && !S_ISDIR (st.st_mode);
  case CHANGE_NOTHING:
    break;
  }
  return FALSE;
}

/* Whether NAME is what the change NUMBER found there. A directory to be removed must contain exactly what was
 * listed. */
static gboolean
is_as_found (const struct commit *commit, guint number, int parent_fd, const char *name)
{
  const struct change *change = commit->review->changes->pdata[number];
  gboolean goes = change->before.type == CHANGE_DIRECTORY && !is_mode_only (change);
  return is_entry (parent_fd, name, &change->before) &&
         (!goes || count_names (parent_fd, name) == count_listed (commit->review, number, TRUE));
}

static gboolean
check_one (struct commit *commit, guint number)
{
  const struct change *change = commit->review->changes->pdata[number];
  const char *name;
  /* New files in a new directory conflict with nothing. */
  if (change->covered && change->before.type == CHANGE_NOTHING)
    return TRUE;
  autoclose int parent_fd = review_commit_open_parent (commit, change->path, &name);
  if (parent_fd >= 0 && is_as_found (commit, number, parent_fd, name))
    return TRUE;
  add_conflict (commit, change->path);
  return FALSE;
}

static gboolean
check_all (struct commit *commit, GError **error)
{
  for (guint i = 0; i < commit->review->changes->len; i++)
    (void)check_one (commit, i);
  return check_conflicts (commit, error);
}

/* The change NUMBER and all that it covers, at the last moment. */
static gboolean
check_step (struct commit *commit, guint number)
{
  const GPtrArray *changes = commit->review->changes;
  gboolean ok = check_one (commit, number);
  for (guint i = number + 1; ok && i < changes->len && ((const struct change *)changes->pdata[i])->covered;
       i++)
    ok = check_one (commit, i);
  return ok;
}

/* ---- writing ---- */

/* Writes what was reviewed: it is read again, and must have the approved digest. */
static gboolean
review_commit_write_content (const struct commit *commit, guint number, int fd, GError **error)
{
  const struct change *change = commit->review->changes->pdata[number];
  if (!review_copy (commit->content_fd, commit->review->offsets[number], change->after.bytes, fd, 0, error))
    return FALSE;
  g_autofree char *found = blob_file_digest (fd, change->after.bytes, error);
  if (!found || g_strcmp0 (found, change->after.sha256) == 0)
    return found != NULL;
  g_autofree char *shown = text_one_line (change->path, -1);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the new content of %s is not what was reviewed",
               shown);
  return FALSE;
}

/* The group of a file that is replaced stays where we may give it; its owner is who says yes. */
static void
keep_group (int parent_fd, const char *name, int fd)
{
  struct stat st;
  if (name && fstatat (parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG (st.st_mode) &&
      fchown (fd, (uid_t)-1, st.st_gid) < 0)
    return;
}

/* Makes what the change NUMBER says as NAME in PARENT_FD; directories are open to us until they are full. */
static gboolean
review_commit_write_one (const struct commit *commit, guint number, int parent_fd, const char *name,
                         const char *replaces, gboolean sync, GError **error)
{
  const struct change *change = commit->review->changes->pdata[number];
  switch (change->after.type) {
  case CHANGE_FILE: {
    autoclose int fd = openat (parent_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
      return review_commit_fail (error, errno, "write", change);
    if (!review_commit_write_content (commit, number, fd, error))
      return FALSE;
    keep_group (parent_fd, replaces, fd);
    if (fchmod (fd, change->after.mode) < 0 || (sync && fsync (fd) < 0))
      return review_commit_fail (error, errno, "write", change);
    return TRUE;
  }
  case CHANGE_LINK:
    return symlinkat (change->after.target, parent_fd, name) == 0 ||
           review_commit_fail (error, errno, "make", change);
  case CHANGE_DIRECTORY:
    return mkdirat (parent_fd, name, 0700) == 0 || review_commit_fail (error, errno, "make", change);
  default:
    return TRUE;
  }
}

/* The path of the change NUMBER in the new directory of STEP. */
static const char *
path_within (const struct step *step, const struct change *change)
{
  gsize length = strlen (step->change->path);
  gboolean within = strncmp (change->path, step->change->path, length) == 0 && change->path[length] == '/';
  return within ? change->path + length + 1 : NULL;
}

static int
open_within (int top_fd, const char *path, const char **ret_name)
{
  const struct commit top = {.root_fd = top_fd};
  return review_commit_open_parent (&top, path, ret_name);
}

static gboolean
set_mode (int parent_fd, const char *name, const struct change *change, GError **error)
{
  struct stat st;
  autoclose int fd = sys_openat2 (parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
  if (fd < 0 || fstat (fd, &st) < 0 || fchmod (fd, (st.st_mode & 07000) | change->after.mode) < 0)
    return review_commit_fail (error, errno, "set the permissions of", change);
  return TRUE;
}

/* All that is in a new directory; then, from the innermost outwards, who may enter. */
static gboolean
fill_directory (const struct commit *commit, const struct step *step, GError **error)
{
  const GPtrArray *changes = commit->review->changes;
  autoclose int top_fd =
      sys_openat2 (step->parent_fd, step->fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
  if (top_fd < 0)
    return review_commit_fail (error, errno, "fill", step->change);
  guint end = step->number + 1;
  for (; end < changes->len; end++) {
    const struct change *change = changes->pdata[end];
    const char *path = path_within (step, change), *name;
    if (!path)
      break;
    if (change->after.type == CHANGE_NOTHING)
      continue;
    autoclose int parent_fd = open_within (top_fd, path, &name);
    if (parent_fd < 0)
      return review_commit_fail (error, errno, "make", change);
    if (!review_commit_write_one (commit, end, parent_fd, name, NULL, FALSE, error))
      return FALSE;
  }
  while (--end > step->number) {
    const struct change *change = changes->pdata[end];
    const char *name;
    if (change->after.type != CHANGE_DIRECTORY)
      continue;
    autoclose int parent_fd = open_within (top_fd, path_within (step, change), &name);
    if (parent_fd < 0 || !set_mode (parent_fd, name, change, error))
      return FALSE;
  }
  return set_mode (step->parent_fd, step->fresh, step->change, error);
}

static gboolean
write_step (const struct commit *commit, const struct step *step, gboolean sync, GError **error)
{
  if (is_mode_only (step->change) || step->change->after.type == CHANGE_NOTHING)
    return TRUE;
  return review_commit_write_one (commit, step->number, step->parent_fd, step->fresh, step->name, sync,
                                  error) &&
         (step->change->after.type != CHANGE_DIRECTORY || fill_directory (commit, step, error));
}

/* ---- switching ---- */

/* The old file stays under its name, too, until the new one is renamed over it; where that is impossible, it
 * is missing for a moment. */
static int
set_aside (const struct step *step)
{
  enum change_type after = step->change->after.type;
  if (step->change->before.type != CHANGE_DIRECTORY && after != CHANGE_DIRECTORY && after != CHANGE_NOTHING &&
      linkat (step->parent_fd, step->name, step->parent_fd, step->aside, 0) == 0)
    return 0;
  return fd_rename_new (step->parent_fd, step->name, step->aside);
}

/* One step, from wherever it is. A conflict is noted, and the step stays as it is. */
static gboolean
switch_step (struct commit *commit, const struct step *step, GError **error)
{
  const struct change *change = step->change;
  struct found found;
  int r = 0;
  if (is_mode_only (change))
    return set_mode (step->parent_fd, step->name, change, error);
  if (!step_look (step, &found, error))
    return FALSE;
  gboolean deletes = change->after.type == CHANGE_NOTHING;
  gboolean creates = change->before.type == CHANGE_NOTHING;
  if (deletes ? found.aside : !found.fresh)
    return TRUE;
  /* A linked file may have been written to since, under either name. */
  gboolean missing = found.aside && !found.named;
  if (!missing && !check_step (commit, step->number))
    return TRUE;
  if (!creates && !found.aside)
    r = set_aside (step);
  if (r == 0 && !deletes) {
    if (!step_look (step, &found, error))
      return FALSE;
    /* Over the name that its link still has, or to one that is free. */
    gboolean over = !creates && found.named;
    r = over ? (renameat (step->parent_fd, step->fresh, step->parent_fd, step->name) < 0 ? -errno : 0)
             : fd_rename_new (step->parent_fd, step->fresh, step->name);
  }
  return r == 0 || review_commit_fail (error, r, "put in place", change);
}

/* ---- going back ---- */

/* Whether NAME is what the change NUMBER made. Times were not those of the file that was reviewed, so it is
 * the content that counts. */
static gboolean
is_made (const struct commit *commit, guint number, int parent_fd, const char *name)
{
  const struct change *change = commit->review->changes->pdata[number];
  if (change->after.type == CHANGE_DIRECTORY)
    return count_names (parent_fd, name) == count_listed (commit->review, number, FALSE);
  if (change->after.type != CHANGE_FILE)
    return is_entry (parent_fd, name, &change->after);
  struct change_entry now;
  change_entry_read (parent_fd, name, change->after.bytes, &now);
  gboolean same = now.type == CHANGE_FILE && g_strcmp0 (now.sha256, change->after.sha256) == 0;
  change_entry_clear (&now);
  return same;
}

/* Whether the step's name, with everything below it, is as we made it: only our own work is undone. */
static gboolean
review_commit_is_ours (const struct commit *commit, const struct step *step)
{
  const GPtrArray *changes = commit->review->changes;
  if (!is_made (commit, step->number, step->parent_fd, step->name))
    return FALSE;
  if (step->change->after.type != CHANGE_DIRECTORY)
    return TRUE;
  autoclose int top_fd =
      sys_openat2 (step->parent_fd, step->name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
  gboolean ours = top_fd >= 0;
  for (guint i = step->number + 1; ours && i < changes->len; i++) {
    const struct change *change = changes->pdata[i];
    const char *path = path_within (step, change), *name;
    if (!path)
      break;
    if (change->after.type == CHANGE_NOTHING)
      continue;
    autoclose int parent_fd = open_within (top_fd, path, &name);
    ours = parent_fd >= 0 && is_made (commit, i, parent_fd, name);
  }
  return ours;
}

/* Whether what was set aside still has the name as well. */
static gboolean
is_linked (const struct step *step)
{
  struct stat named, aside;
  return fstatat (step->parent_fd, step->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         fstatat (step->parent_fd, step->aside, &aside, AT_SYMLINK_NOFOLLOW) == 0 &&
         named.st_dev == aside.st_dev && named.st_ino == aside.st_ino;
}

static int
review_commit_restore (const struct step *step, const struct found *found)
{
  /* It was only linked: the name is still its. */
  if (found->fresh && found->named)
    return unlinkat (step->parent_fd, step->aside, 0) < 0 ? -errno : 0;
  int r = found->named ? fd_rename_new (step->parent_fd, step->name, step->fresh) : 0;
  return r < 0 ? r : fd_rename_new (step->parent_fd, step->aside, step->name);
}

/* The same, towards what was there before. */
static gboolean
undo_step (struct commit *commit, const struct step *step, GError **error)
{
  const struct change *change = step->change;
  struct found found;
  int r = 0;
  if (is_mode_only (change)) {
    const struct change back = {.path = change->path, .after = change->before};
    return set_mode (step->parent_fd, step->name, &back, error);
  }
  if (!step_look (step, &found, error))
    return FALSE;
  gboolean deletes = change->after.type == CHANGE_NOTHING, creates = change->before.type == CHANGE_NOTHING;
  gboolean placed = !deletes && !found.fresh && found.named && (creates || found.aside);
  /* Somebody else's, in place of what was set aside: that is the only one then. */
  gboolean taken = found.fresh && found.aside && found.named && !is_linked (step);
  if (taken || (placed && !review_commit_is_ours (commit, step)) || (deletes && found.aside && found.named)) {
    add_conflict (commit, change->path);
    return TRUE;
  }
  if (found.aside)
    r = review_commit_restore (step, &found);
  else if (placed)
    r = fd_rename_new (step->parent_fd, step->name, step->fresh);
  return r < 0 ? review_commit_fail (error, r, "take back", change)
               : review_commit_remove_name (step, step->fresh, error);
}

/* ---- all steps ---- */

typedef gboolean (*step_function) (struct commit *commit, const struct step *step, GError **error);

static gboolean
each_step (struct commit *commit, step_function function, GError **error)
{
  for (guint i = 0; i < commit->review->changes->len; i++) {
    const struct change *change = commit->review->changes->pdata[i];
    struct step step;
    if (change->covered)
      continue;
    if (!step_open (commit, i, &step, error))
      return FALSE;
    gboolean ok = function (commit, &step, error);
    fd_close (&step.parent_fd);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

static guint
count_steps (const struct review *review)
{
  guint count = 0;
  for (guint i = 0; i < review->changes->len; i++)
    count += !((const struct change *)review->changes->pdata[i])->covered;
  return count;
}

static gboolean
write_and_sync (struct commit *commit, const struct step *step, GError **error)
{
  return write_step (commit, step, TRUE, error);
}

static gboolean
write_only (struct commit *commit, const struct step *step, GError **error)
{
  return write_step (commit, step, FALSE, error);
}

static gboolean
remove_fresh (G_GNUC_UNUSED struct commit *commit, const struct step *step, GError **error)
{
  return review_commit_remove_name (step, step->fresh, error);
}

static gboolean
remove_aside (G_GNUC_UNUSED struct commit *commit, const struct step *step, GError **error)
{
  return review_commit_remove_name (step, step->aside, error);
}

/* ---- the phases ---- */

static gboolean
open_commit (struct review *review, int directory_fd, struct commit *ret_commit, GError **error)
{
  struct stat st;
  *ret_commit = (struct commit){.review = review, .content_fd = -1};
  ret_commit->root_fd = openat (directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (ret_commit->root_fd < 0 || fstat (ret_commit->root_fd, &st) < 0) {
    error_from_errno (error, errno, "cannot open the directory of the review");
    return FALSE;
  }
  if (st.st_dev != review->device || st.st_ino != review->inode) {
    g_autofree char *shown = text_one_line (review->path, -1);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_REFUSED,
                 "another directory than the one of the review is at %s", shown);
    return FALSE;
  }
  ret_commit->content_fd = openat (review->folder_fd, "content", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (ret_commit->content_fd < 0) {
    error_from_errno (error, errno, "cannot open the files of the review");
    return FALSE;
  }
  ret_commit->conflicts = g_string_new (NULL);
  return TRUE;
}

static void
close_commit (struct commit *commit)
{
  fd_close (&commit->root_fd);
  fd_close (&commit->content_fd);
  if (commit->conflicts)
    g_string_free (commit->conflicts, TRUE);
}

static gboolean
sync_all (const struct commit *commit, GError **error)
{
  gboolean single = count_steps (commit->review) <= SINGLE_SYNCS_MAX;
  return (single ? fsync (commit->root_fd) : syncfs (commit->root_fd)) == 0 ||
         error_from_errno (error, errno, "cannot bring the new files to the disk");
}

/* Only new names beside the old ones were made, so undoing is removing them. */
static gboolean
review_commit_write_all (struct commit *commit, GError **error)
{
  gboolean single = count_steps (commit->review) <= SINGLE_SYNCS_MAX;
  if (!review_enter (commit->review, REVIEW_WRITING, error))
    return FALSE;
  if (each_step (commit, single ? write_and_sync : write_only, error) && sync_all (commit, error))
    return TRUE;
  (void)each_step (commit, remove_fresh, NULL);
  (void)review_enter (commit->review, REVIEW_WAITING, NULL);
  return FALSE;
}

static gboolean
commit_from (struct commit *commit, GError **error)
{
  struct review *review = commit->review;
  /* A file may be half-written. */
  if (review->phase == REVIEW_WRITING && !each_step (commit, remove_fresh, error))
    return FALSE;
  if (review->phase <= REVIEW_WRITING &&
      (!check_all (commit, error) || !review_commit_write_all (commit, error)))
    return FALSE;
  if (review->phase == REVIEW_CLEANING)
    return TRUE;
  return (review->phase == REVIEW_SWITCHING || review_enter (review, REVIEW_SWITCHING, error)) &&
         each_step (commit, switch_step, error) && check_conflicts (commit, error) &&
         sync_all (commit, error) && review_enter (review, REVIEW_CLEANING, error);
}

gboolean
review_commit (struct review *review, int directory_fd, GError **error)
{
  struct commit commit;
  gboolean ok = open_commit (review, directory_fd, &commit, error) && commit_from (&commit, error);
  gboolean begun = review->phase > REVIEW_WRITING;
  if (!ok)
    g_prefix_error (error, begun ? "broken off: " : "nothing was changed: ");
  if (!ok && begun)
    error_add_advice (error, "; adder approval finish and adder approval undo go on from there");
  close_commit (&commit);
  return ok;
}

gboolean
review_clean (struct review *review, int directory_fd, GError **error)
{
  struct commit commit;
  gboolean ok =
      open_commit (review, directory_fd, &commit, error) && each_step (&commit, remove_aside, error);
  close_commit (&commit);
  return ok;
}

gboolean
review_undo (struct review *review, int directory_fd, GError **error)
{
  struct commit commit;
  if (review->phase == REVIEW_CLEANING) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "all changes were made and cannot be taken back");
    error_add_advice (error, ": adder approval finish removes what is left over");
    return FALSE;
  }
  gboolean ok = open_commit (review, directory_fd, &commit, error) &&
                each_step (&commit, review->phase == REVIEW_WRITING ? remove_fresh : undo_step, error) &&
                check_conflicts (&commit, error) && review_enter (review, REVIEW_WAITING, error);
  close_commit (&commit);
  return ok;
}
