/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews on disk. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "common/json.h"
#include "common/paths.h"
#include "engine/host/scratch.h"
#include "store/review_private.h"

#define MANIFEST "manifest"
#define CHANGES  "changes"
#define CONTENT  "content"
#define JOURNAL  "journal"

/* One being written or removed; older ones are left by a dead process. */
#define PARTIAL     ".part"
#define LEFT_OVER_S 3600

#define BLOCK_BYTES ((gsize)256 << 10)
#define JSON_BYTES  ((gsize)512 << 20)

/* Each file begins at a page, so that its holes stay holes. */
#define CONTENT_ALIGN ((guint64)4096)

#define INSIDE        (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

static const char *const phase_names[] = {
    [REVIEW_WAITING] = "waiting",
    [REVIEW_WRITING] = "writing",
    [REVIEW_SWITCHING] = "switching",
    [REVIEW_CLEANING] = "cleaning",
};

static void
review_file_free_change (gpointer data)
{
  struct change *change = data;
  change_entry_clear (&change->before);
  change_entry_clear (&change->after);
  g_free (change->path);
  g_free (change);
}

void
review_free (struct review *review)
{
  if (!review)
    return;
  g_free (review->owner);
  g_free (review->conversation);
  g_free (review->path);
  g_free (review->digest);
  g_clear_pointer (&review->changes, g_ptr_array_unref);
  g_free (review->offsets);
  fd_close (&review->folder_fd);
  fd_unlock (&review->journal_fd);
  g_free (review);
}

int
review_open_store (GError **error)
{
  g_autofree char *state = paths_state_dir (error);
  g_autofree char *path = state ? g_build_filename (state, "reviews", NULL) : NULL;
  if (!path)
    return -1;
  if (g_mkdir_with_parents (path, 0700) < 0) {
    error_from_errno (error, errno, "cannot make the directory %s", path);
    return -1;
  }
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    error_from_errno (error, errno, "cannot open the directory %s", path);
  return fd;
}

/* ---- content ---- */

static gboolean
review_file_copy_piece (int from, guint64 from_offset, guint64 length, int to, guint64 to_offset,
                        GError **error)
{
  g_autofree char *block = g_malloc (BLOCK_BYTES);
  while (length > 0) {
    gssize got = pread (from, block, (gsize)MIN (length, BLOCK_BYTES), (off_t)from_offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return error_from_errno (error, got < 0 ? errno : EIO, "cannot read a changed file");
    for (gssize done = 0; done < got;) {
      gssize put = pwrite (to, block + done, (gsize)(got - done), (off_t)to_offset + done);
      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return error_from_errno (error, errno, "cannot write a changed file");
      done += put;
    }
    from_offset += (guint64)got;
    to_offset += (guint64)got;
    length -= (guint64)got;
  }
  return TRUE;
}

gboolean
review_copy (int from, guint64 from_offset, guint64 length, int to, guint64 to_offset, GError **error)
{
  guint64 end = from_offset + length;
  for (guint64 at = from_offset; at < end;) {
    off_t data = lseek (from, (off_t)at, SEEK_DATA);
    if (data < 0 && errno == ENXIO)
      break;
    if (data < 0)
      data = (off_t)at;
    if ((guint64)data >= end)
      break;
    off_t hole = lseek (from, data, SEEK_HOLE);
    guint64 stop = hole < 0 ? end : MIN ((guint64)hole, end);
    if (!review_file_copy_piece (from, (guint64)data, stop - (guint64)data, to,
                                 to_offset + (guint64)data - from_offset, error))
      return FALSE;
    at = stop;
  }
  struct stat st;
  if (fstat (to, &st) < 0 ||
      ((guint64)st.st_size < to_offset + length && ftruncate (to, (off_t)(to_offset + length)) < 0))
    return error_from_errno (error, errno, "cannot write a changed file");
  return TRUE;
}

/* ---- writing ---- */

static json_t *
escaped_or_null (const char *text)
{
  g_autofree char *escaped = text ? g_uri_escape_bytes ((const guint8 *)text, strlen (text), "/") : NULL;
  return escaped ? json_string (escaped) : json_null ();
}

static json_t *
entry_to_json (const struct change_entry *entry)
{
  return json_pack ("{s:i, s:i, s:I, s:s?, s:o, s:I, s:I, s:I}", "type", (int)entry->type, "mode",
                    (int)entry->mode, "bytes", (json_int_t)entry->bytes, "sha256", entry->sha256, "target",
                    escaped_or_null (entry->target), "inode", (json_int_t)entry->inode, "modified_ns",
                    (json_int_t)entry->modified_ns, "changed_ns", (json_int_t)entry->changed_ns);
}

static gboolean
review_file_write_file (int folder_fd, const char *name, const json_t *value, GError **error)
{
  g_autofree char *text = json_to_text (value);
  autoclose int fd = openat (folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int r = fd < 0 ? -errno : fd_write_all (fd, text, strlen (text));
  return r == 0 || error_from_errno (error, r, "cannot write %s of a review", name);
}

/* All new files into one, and the list of changes with where each lies there. */
static json_t *
review_file_write_content (int folder_fd, const struct review_subject *subject, guint64 *ret_bytes,
                           GError **error)
{
  autoclose int to = openat (folder_fd, CONTENT, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  g_autoptr (json_t) list = json_array ();
  guint64 offset = 0;
  if (to < 0) {
    error_from_errno (error, errno, "cannot write the files of a review");
    return NULL;
  }
  *ret_bytes = 0;
  for (guint i = 0; i < subject->changes->changes->len; i++) {
    const struct change *change = subject->changes->changes->pdata[i];
    json_array_append_new (
        list, json_pack ("{s:o, s:o, s:o, s:b, s:b, s:I}", "path", escaped_or_null (change->path), "before",
                         entry_to_json (&change->before), "after", entry_to_json (&change->after), "covered",
                         change->covered, "replaced", change->replaced, "offset", (json_int_t)offset));
    if (change->after.type != CHANGE_FILE)
      continue;
    autoclose int from = sys_openat2 (subject->upper_fd, change->path,
                                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, INSIDE);
    if (from < 0) {
      error_from_errno (error, errno, "cannot read a changed file");
      return NULL;
    }
    if (!review_copy (from, 0, change->after.bytes, to, offset, error))
      return NULL;
    *ret_bytes += change->after.bytes;
    offset = (offset + change->after.bytes + CONTENT_ALIGN - 1) / CONTENT_ALIGN * CONTENT_ALIGN;
  }
  return g_steal_pointer (&list);
}

static gboolean
review_file_fill_folder (int folder_fd, const struct review_subject *subject, GError **error)
{
  struct stat st;
  guint64 bytes;
  if (fstat (subject->directory_fd, &st) < 0)
    return error_from_errno (error, errno, "cannot look at the directory");
  g_autoptr (json_t) list = review_file_write_content (folder_fd, subject, &bytes, error);
  if (!list)
    return FALSE;
  g_autoptr (GPtrArray) ignored = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (json_t) shown = changes_to_json (subject->changes, ignored);
  g_autoptr (json_t) manifest = json_pack (
      "{s:s?, s:s?, s:o, s:I, s:I, s:I, s:s, s:I, s:O}", "owner", subject->owner, "conversation",
      subject->conversation, "directory", escaped_or_null (subject->path), "device", (json_int_t)st.st_dev,
      "inode", (json_int_t)st.st_ino, "created_us", (json_int_t)g_get_real_time (), "digest",
      subject->changes->digest, "bytes", (json_int_t)bytes, "changes", list);
  return review_file_write_file (folder_fd, MANIFEST, manifest, error) &&
         review_file_write_file (folder_fd, CHANGES, shown, error);
}

gboolean
review_write (int store_fd, const struct review_subject *subject, const char *id, GError **error)
{
  g_autofree char *partial = g_strconcat (id, PARTIAL, NULL);
  if (mkdirat (store_fd, partial, 0700) < 0)
    return error_from_errno (error, errno, "cannot keep what would be changed");
  autoclose int folder_fd = openat (store_fd, partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  gboolean ok = folder_fd >= 0 ? review_file_fill_folder (folder_fd, subject, error)
                               : error_from_errno (error, errno, "cannot keep what would be changed");
  if (ok && renameat (store_fd, partial, store_fd, id) < 0)
    ok = error_from_errno (error, errno, "cannot keep what would be changed");
  if (!ok)
    scratch_remove_tree (store_fd, partial);
  return ok;
}

/* ---- reading ---- */

static json_t *
read_json (int folder_fd, const char *name)
{
  autoclose int fd = openat (folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0 || (guint64)st.st_size > JSON_BYTES)
    return NULL;
  gsize length = (gsize)st.st_size;
  g_autofree char *text = g_malloc (length + 1);
  if (fd_read_all (fd, text, length) < 0)
    return NULL;
  return json_loadb (text, length, JSON_REJECT_DUPLICATES, NULL);
}

json_t *
review_read_changes (const struct review *review)
{
  return read_json (review->folder_fd, CHANGES);
}

static char *
unescaped (const json_t *value)
{
  const char *text = json_string_value (value);
  g_autoptr (GBytes) bytes = text ? g_uri_unescape_bytes (text, -1, NULL, NULL) : NULL;
  if (!bytes)
    return NULL;
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);
  return g_strndup (data, length);
}

static gboolean
review_file_read_entry (const json_t *value, struct change_entry *ret_entry)
{
  int type, mode;
  json_int_t bytes, inode, modified, changed;
  json_t *sha256, *target;
  if (json_unpack ((json_t *)value, "{s:i, s:i, s:I, s:o, s:o, s:I, s:I, s:I}", "type", &type, "mode", &mode,
                   "bytes", &bytes, "sha256", &sha256, "target", &target, "inode", &inode, "modified_ns",
                   &modified, "changed_ns", &changed) < 0 ||
      type < 0 || type > CHANGE_OTHER)
    return FALSE;
  *ret_entry = (struct change_entry){
      .type = (enum change_type)type,
      .mode = (guint)mode & 0777,
      .bytes = (guint64)bytes,
      .sha256 = g_strdup (json_string_value (sha256)),
      .target = unescaped (target),
      .inode = (guint64)inode,
      .modified_ns = modified,
      .changed_ns = changed,
  };
  return ret_entry->type != CHANGE_LINK || ret_entry->target;
}

static gboolean
read_change (struct review *review, gsize index, const json_t *value)
{
  struct change *change = g_new0 (struct change, 1);
  g_ptr_array_add (review->changes, change);
  change->path = unescaped (json_object_get (value, "path"));
  change->covered = json_is_true (json_object_get (value, "covered"));
  change->replaced = json_is_true (json_object_get (value, "replaced"));
  review->offsets[index] = (guint64)json_integer_value (json_object_get (value, "offset"));
  return change->path && review_file_read_entry (json_object_get (value, "before"), &change->before) &&
         review_file_read_entry (json_object_get (value, "after"), &change->after);
}

static gboolean
read_manifest (struct review *review)
{
  g_autoptr (json_t) manifest = read_json (review->folder_fd, MANIFEST);
  const char *digest;
  json_t *owner, *conversation, *directory, *changes, *value;
  json_int_t device, inode, created, bytes;
  gsize i;
  if (!manifest ||
      json_unpack (manifest, "{s:o, s:o, s:o, s:I, s:I, s:I, s:s, s:I, s:o}", "owner", &owner, "conversation",
                   &conversation, "directory", &directory, "device", &device, "inode", &inode, "created_us",
                   &created, "digest", &digest, "bytes", &bytes, "changes", &changes) < 0)
    return FALSE;
  review->owner = g_strdup (json_string_value (owner));
  review->conversation = g_strdup (json_string_value (conversation));
  review->path = unescaped (directory);
  review->device = (guint64)device;
  review->inode = (guint64)inode;
  review->created_us = created;
  review->digest = g_strdup (digest);
  review->bytes = (guint64)bytes;
  review->changes = g_ptr_array_new_with_free_func (review_file_free_change);
  review->offsets = g_new0 (guint64, json_array_size (changes) + 1);
  json_array_foreach (changes, i, value) if (!read_change (review, i, value)) return FALSE;
  return review->path != NULL;
}

/* The last complete line counts: one being written when the process died was not entered. FALSE: the journal
 * exists and cannot be read; an interrupted review must not be taken for one that waits. */
static gboolean
read_phase (int folder_fd, enum review_phase *ret_phase)
{
  char text[512];
  *ret_phase = REVIEW_WAITING;
  autoclose int fd = openat (folder_fd, JOURNAL, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT;
  gssize length = TEMP_FAILURE_RETRY (read (fd, text, sizeof text - 1));
  if (length < 0)
    return FALSE;
  text[length] = '\0';
  for (char *line = text, *end; (end = strchr (line, '\n')); line = end + 1) {
    *end = '\0';
    for (gsize i = 0; i < G_N_ELEMENTS (phase_names); i++)
      if (strcmp (line, phase_names[i]) == 0)
        *ret_phase = (enum review_phase)i;
  }
  return TRUE;
}

/* A look at a lock takes it for a moment, in which no other thread may find the review locked. Other
 * processes may. */
static GMutex looking;

static gboolean
try_lock (int fd)
{
  g_mutex_lock (&looking);
  gboolean ok = flock (fd, LOCK_EX | LOCK_NB) == 0;
  g_mutex_unlock (&looking);
  return ok;
}

/* The lock goes with the process. */
static gboolean
review_file_lock (struct review *review, GError **error)
{
  review->journal_fd = openat (review->folder_fd, JOURNAL, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (review->journal_fd < 0)
    return error_from_errno (error, errno, "cannot open the journal of a review");
  if (try_lock (review->journal_fd))
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY, "the review %s is being carried out already",
               review->id);
  return FALSE;
}

gboolean
review_is_locked (const struct review *review)
{
  autoclose int fd = openat (review->folder_fd, JOURNAL, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno != ENOENT;
  g_mutex_lock (&looking);
  gboolean locked = flock (fd, LOCK_EX | LOCK_NB) < 0;
  if (!locked)
    flock (fd, LOCK_UN);
  g_mutex_unlock (&looking);
  return locked;
}

struct review *
review_read (int store_fd, const char *id, gboolean locked, GError **error)
{
  struct review *review = g_new0 (struct review, 1);
  review->journal_fd = -1;
  review->folder_fd = -1;
  gboolean named = strlen (id) == ID_BYTES - 1 && strspn (id, "0123456789abcdef-") == ID_BYTES - 1;
  if (named) {
    g_strlcpy (review->id, id, sizeof review->id);
    review->folder_fd = openat (store_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  gboolean ok = review->folder_fd >= 0 && (!locked || review_file_lock (review, error));
  if (ok && (!read_manifest (review) || !read_phase (review->folder_fd, &review->phase))) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "the review %s cannot be read", id);
    ok = FALSE;
  } else if (review->folder_fd < 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no such review: %s", id);
    error_add_advice (error, " (adder approval list)");
  }
  if (!ok) {
    review_free (review);
    return NULL;
  }
  return review;
}

void
review_remove (int store_fd, const char *id)
{
  g_autofree char *partial = g_strconcat (id, PARTIAL, NULL);
  /* From here on it no longer counts as one, even if removal is interrupted. */
  if (renameat (store_fd, id, store_fd, partial) == 0)
    scratch_remove_tree (store_fd, partial);
}

void
review_sweep (int store_fd, const char *name)
{
  struct stat st;
  if (g_str_has_suffix (name, PARTIAL) && fstatat (store_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
      g_get_real_time () / G_USEC_PER_SEC - st.st_mtime > LEFT_OVER_S)
    scratch_remove_tree (store_fd, name);
}

gboolean
review_enter (struct review *review, enum review_phase phase, GError **error)
{
  /* On a line of its own, even after an incomplete one. */
  g_autofree char *line = g_strconcat ("\n", phase_names[phase], "\n", NULL);
  int r = phase == REVIEW_WAITING ? ftruncate (review->journal_fd, 0) : 0;
  if (r == 0 &&
      (lseek (review->journal_fd, 0, SEEK_END) < 0 ||
       fd_write_all (review->journal_fd, line, strlen (line)) < 0 || fsync (review->journal_fd) < 0))
    r = -1;
  if (r < 0)
    return error_from_errno (error, errno, "cannot write the journal of a review");
  review->phase = phase;
  return TRUE;
}
