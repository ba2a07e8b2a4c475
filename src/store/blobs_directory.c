/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. Blobs in a directory:
 *
 *     generated/UUID_plot.png     a key
 *     content/ab/ab34...          the same file by its digest
 *     incoming/                   where unnamed files are made
 *     links/NAME/                 folders in which files are bind-mounted (blob_links.c)
 *
 * A content is one inode, whose names are its digest, its keys and its links for sandboxes, so the count of
 * its links says how many of them it has, and neither a crash nor another process can make that count wrong.
 * No locks: each step is one system call that leaves a consistent state, whatever others do.
 *
 *     put      an unnamed file, whole and on the disk; its name below content/; its key
 *     again    the content's name is there: a further link of it is the key
 *     remove   the key; then the content's name, when that is the only one left
 *
 * Between the steps of one process another may remove a content whose first key is about to be made. Then the
 * link fails, since its source is gone, and everything starts over with a copy. A content may also lose its
 * name just after getting a key: the key is whole, but later puts do not find its content. A crash leaves
 * only contents without a key (sweep). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "common/text.h"
#include "store/blob_file.h"
#include "store/blobs_private.h"

#define CONTENT  "content"
#define INCOMING "incoming"
#define LINKS    "links"

/* A content's digest, so that its name is known when its last key goes. */
#define DIGEST_ATTRIBUTE "user.adder.sha256"
#define DIGEST_LETTERS   64

#define INSIDE           (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* How often a put restarts because others removed what it had just made or found. */
#define ATTEMPTS 8

struct directory {
  char *path;
  int root_fd;
};

/* ---- folders ---- */

/* The folder NAME ("content/ab" too) of the store, created if MAKE. -1 and errno. */
static int
blobs_directory_open_folder (const struct directory *self, const char *name, gboolean make)
{
  for (;;) {
    int fd = sys_openat2 (self->root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
    if (fd >= 0 || errno != ENOENT || !make)
      return fd;
    const char *slash = strchr (name, '/');
    if (slash) {
      g_autofree char *above = g_strndup (name, (gsize)(slash - name));
      autoclose int above_fd = blobs_directory_open_folder (self, above, TRUE);
      if (above_fd < 0)
        return -1;
    }
    if (mkdirat (self->root_fd, name, 0700) < 0 && errno != EEXIST)
      return -1;
    if (!slash && fsync (self->root_fd) < 0)
      return -1;
  }
}

/* Where KEY lies: its folder, and its name there. */
static int
open_key_folder (const struct directory *self, const char *key, gboolean make, const char **ret_name)
{
  const char *slash = strchr (key, '/');
  g_autofree char *kind = g_strndup (key, (gsize)(slash - key));
  *ret_name = slash + 1;
  return blobs_directory_open_folder (self, kind, make);
}

static int
open_content_folder (const struct directory *self, const char *sha256, gboolean make)
{
  g_autofree char *name = g_strdup_printf (CONTENT "/%.2s", sha256);
  return blobs_directory_open_folder (self, name, make);
}

static gboolean
blobs_directory_is_removed (const struct directory *self)
{
  struct stat st;
  return fstat (self->root_fd, &st) < 0 || st.st_nlink == 0;
}

static gboolean
blobs_directory_set_removed (const struct directory *self, const char *what, const char *key, GError **error)
{
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNAVAILABLE,
               "cannot %s %s: the directory %s was removed; restart the daemon, which makes it again", what,
               key, self->path);
  return FALSE;
}

static gboolean
blobs_directory_fail (const struct directory *self, const char *what, const char *key, int err,
                      GError **error)
{
  if (blobs_directory_is_removed (self))
    return blobs_directory_set_removed (self, what, key, error);
  if (abs (err) == ENOENT) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_NOT_FOUND, "there is no file %s in the store", key);
    return FALSE;
  }
  error_from_errno (error, err, "cannot %s %s in %s", what, key, self->path);
  return error_make_unavailable (error);
}

static gboolean
fail_put (const struct directory *self, const char *key, int err, GError **error)
{
  if (abs (err) == EEXIST) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot keep %s in the store: there is one already",
                 key);
    return FALSE;
  }
  if (blobs_directory_is_removed (self))
    return blobs_directory_set_removed (self, "keep", key, error);
  error_from_errno (error, abs (err) == ENOENT ? EAGAIN : err, "cannot keep %s in %s", key, self->path);
  return error_make_unavailable (error);
}

static void
directory_close (gpointer data)
{
  struct directory *self = data;
  fd_close (&self->root_fd);
  g_free (self->path);
  g_free (self);
}

/* ---- ownership ---- */

/* Names that may exist beside the kinds of keys: our own, also in the folder of a state directory, and those
 * that file systems create at their top. */
static const char *const beside[] = {CONTENT, INCOMING, LINKS,        "writers", "running",
                                     "place", "cache",  "lost+found", NULL};

static gboolean
blobs_directory_is_known (const char *name)
{
  return g_strv_contains (blob_kinds, name) || g_strv_contains (beside, name) ||
         g_str_has_prefix (name, ".place-") || g_str_has_prefix (name, "records.db");
}

/* Whether SELF is empty or ours: other files in it would be mistaken for leftovers of a crash. A folder used
 * before stays ours, whatever was added since. The caller frees *RET_FOREIGN, the first foreign name. FALSE:
 * it cannot be listed. */
static gboolean
blobs_directory_find_foreign (const struct directory *self, char **ret_foreign)
{
  struct stat st;
  *ret_foreign = NULL;
  if (fstatat (self->root_fd, CONTENT, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (st.st_mode) &&
      fstatat (self->root_fd, INCOMING, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (st.st_mode))
    return TRUE;
  DIR *list = fd_list (self->root_fd);
  if (!list)
    return FALSE;
  for (const char *name; !*ret_foreign && (name = fd_next_name (list));)
    if (!blobs_directory_is_known (name))
      *ret_foreign = g_strdup (name);
  closedir (list);
  return TRUE;
}

static gboolean
blobs_directory_check_ours (const struct directory *self, GError **error)
{
  g_autofree char *foreign = NULL;
  if (!blobs_directory_find_foreign (self, &foreign))
    return error_from_errno (error, errno, "cannot list the directory %s of files", self->path);
  if (!foreign)
    return TRUE;
  g_autofree char *shown = text_one_line (foreign, 100);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
               "[store] blobs: the directory %s holds something that is not Adder's (%s): name an empty one, "
               "or one that Adder has used",
               self->path, shown);
  return FALSE;
}

static gpointer
directory_open (const struct blobs_place *place, GError **error)
{
  if (!g_path_is_absolute (place->rest)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "[store] blobs: the path behind `directory:` must be absolute, and \"%s\" is not",
                 place->rest);
    return NULL;
  }
  if (g_mkdir_with_parents (place->rest, 0700) < 0) {
    error_from_errno (error, errno, "cannot make the directory %s for files", place->rest);
    error_make_unavailable (error);
    return NULL;
  }
  struct directory *self = g_new (struct directory, 1);
  *self = (struct directory){.path = g_strdup (place->rest)};
  self->root_fd = open (place->rest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat st;
  gboolean ok = self->root_fd >= 0 && fstat (self->root_fd, &st) == 0;
  if (!ok) {
    error_from_errno (error, errno, "cannot open the directory %s of files", place->rest);
  } else if (st.st_uid != geteuid () || (st.st_mode & 022)) {
    g_set_error (
        error, ADDER_ERROR, ADDER_ERROR_FAILED,
        "the directory %s of files must belong to the user of the daemon, and others must not write to "
        "it: chown and chmod 0700 it, or name another in [store] blobs",
        place->rest);
    ok = FALSE;
  }
  /* The store's own folder is not shared. */
  ok = ok && (g_strcmp0 (place->rest, place->scratch) == 0 || blobs_directory_check_ours (self, error));
  if (!ok)
    g_clear_pointer (&self, directory_close);
  return self;
}

/* ---- contents ---- */

/* The digest of a content, from its attribute or computed. The caller's; NULL: unknown. */
static char *
find_digest (int fd)
{
  char digest[DIGEST_LETTERS + 1] = "";
  struct stat st;
  if (fgetxattr (fd, DIGEST_ATTRIBUTE, digest, DIGEST_LETTERS) == DIGEST_LETTERS &&
      strspn (digest, "0123456789abcdef") == DIGEST_LETTERS)
    return g_strdup (digest);
  return fstat (fd, &st) == 0 ? blob_file_digest (fd, (guint64)st.st_size, NULL) : NULL;
}

/* Removes the name of the content open as FD, if it is the last. */
static void
drop_content (const struct directory *self, int fd)
{
  struct stat st, named;
  if (fstat (fd, &st) < 0 || st.st_nlink != 1)
    return;
  g_autofree char *sha256 = find_digest (fd);
  autoclose int content_fd = sha256 ? open_content_folder (self, sha256, FALSE) : -1;
  if (content_fd >= 0 && fstatat (content_fd, sha256, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
      named.st_ino == st.st_ino && named.st_nlink == 1)
    unlinkat (content_fd, sha256, 0);
}

/* ---- putting ---- */

static int
directory_create (gpointer data, GError **error)
{
  const struct directory *self = data;
  autoclose int incoming_fd = blobs_directory_open_folder (self, INCOMING, TRUE);
  int fd = incoming_fd < 0 ? -1 : blob_file_create (incoming_fd, NULL);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make a file in %s", self->path);
    error_make_unavailable (error);
  }
  return fd;
}

/* A file about to become a content. */
typedef struct {
  int fd;     /* the caller's, or `own` */
  int own;    /* a copy, or -1 */
  int folder; /* its NAME, if it must have one */
  char *name;
} fresh_t;

static void
fresh_clear (fresh_t *fresh)
{
  if (fresh->name)
    unlinkat (fresh->folder, fresh->name, 0);
  g_clear_pointer (&fresh->name, g_free);
  fd_close (&fresh->own);
  fd_close (&fresh->folder);
  fresh->fd = -1;
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (fresh_t, fresh_clear)

/* Makes FRESH a copy of FD. */
static gboolean
fresh_copy (const struct directory *self, int fd, guint64 bytes, const char *sha256, fresh_t *fresh,
            GError **error)
{
  fresh_clear (fresh);
  fresh->folder = blobs_directory_open_folder (self, INCOMING, TRUE);
  fresh->own = fresh->folder < 0 ? -1 : blob_file_create (fresh->folder, &fresh->name);
  if (fresh->own < 0) {
    error_from_errno (error, errno, "cannot make a file in %s", self->path);
    return error_make_unavailable (error);
  }
  /* While it is locked, it is no leftover (sweep). */
  if (fresh->name)
    flock (fresh->own, LOCK_EX | LOCK_NB);
  if (!blob_file_copy (fd, bytes, sha256, fresh->own, error))
    return FALSE;
  fresh->fd = fresh->own;
  return TRUE;
}

/* On the disk before it has a name, so that named files are always complete. */
static int
fresh_finish (const fresh_t *fresh, const char *sha256)
{
  /* Without extended attributes, the digest is computed again when the last key goes. */
  fsetxattr (fresh->fd, DIGEST_ATTRIBUTE, sha256, DIGEST_LETTERS, 0);
  return fdatasync (fresh->fd) < 0 ? -errno : 0;
}

/* Links the existing content as a key. -ENOENT: there is none; -ESTALE: it has changed; -EMLINK: it has the
 * maximum number of names. */
static int
link_content (int content_fd, const char *sha256, guint64 bytes, int folder_fd, const char *name)
{
  struct stat st;
  if (fstatat (content_fd, sha256, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return -errno;
  if (!S_ISREG (st.st_mode) || (guint64)st.st_size != bytes)
    return -ESTALE;
  return linkat (content_fd, sha256, folder_fd, name, 0) < 0 ? -errno : 0;
}

/* One content, its key, from FD. */
static int
put_once (const struct directory *self, int fd, guint64 bytes, const char *sha256, int folder_fd,
          const char *name, fresh_t *fresh, GError **error)
{
  autoclose int content_fd = open_content_folder (self, sha256, TRUE);
  if (content_fd < 0)
    return -errno;
  int known = link_content (content_fd, sha256, bytes, folder_fd, name);
  if (known != -ENOENT && known != -ESTALE && known != -EMLINK)
    return known;
  if (fresh->fd < 0) {
    if (!fresh_copy (self, fd, bytes, sha256, fresh, error))
      return -ECANCELED;
  }
  int r = fresh_finish (fresh, sha256);
  if (r < 0)
    return r;
  /* A content that cannot get more keys leaves its name to the next; its keys keep it. */
  if (known != -ENOENT && unlinkat (content_fd, sha256, 0) < 0 && errno != ENOENT)
    return -errno;
  r = blob_file_link (fresh->fd, fresh->folder, fresh->name, content_fd, sha256);
  if (r == -EEXIST)
    return -EAGAIN;
  if (r == 0)
    r = linkat (content_fd, sha256, folder_fd, name, 0) < 0 ? -errno : 0;
  if (r == 0 || r == -EEXIST)
    return r;
  if (r == -ENOENT || r == -EXDEV || r == -EMLINK) {
    /* It was removed, or cannot have a name here: use a copy from now on. */
    gboolean again = fresh->own < 0 || r == -ENOENT;
    fresh_clear (fresh);
    return again ? -EAGAIN : r;
  }
  drop_content (self, fresh->fd);
  return r;
}

static gboolean
directory_put (gpointer data, const char *key, int fd, guint64 bytes, const char *sha256,
               G_GNUC_UNUSED const char *mime, GError **error)
{
  const struct directory *self = data;
  struct stat st;
  if (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode) || (guint64)st.st_size != bytes) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "cannot keep %s: it is not a regular file of %" G_GUINT64_FORMAT " bytes", key, bytes);
    return FALSE;
  }
  const char *name;
  autoclose int folder_fd = open_key_folder (self, key, TRUE, &name);
  if (folder_fd < 0)
    return fail_put (self, key, errno, error);

  g_auto (fresh_t) fresh = {.fd = blob_file_is_nameless (fd) ? fd : -1, .own = -1, .folder = -1};
  int r = -EAGAIN;
  for (guint attempt = 0; attempt < ATTEMPTS && r == -EAGAIN; attempt++)
    r = put_once (self, fd, bytes, sha256, folder_fd, name, &fresh, error);
  if (r == -ECANCELED)
    return FALSE;
  if (r == 0 && fsync (folder_fd) < 0) {
    r = -errno;
    unlinkat (folder_fd, name, 0);
  }
  return r == 0 || fail_put (self, key, r, error);
}

/* ---- reading ---- */

static int
open_key (const struct directory *self, const char *key)
{
  int fd = sys_openat2 (self->root_fd, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, INSIDE);
  struct stat st;
  if (fd >= 0 && (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode))) {
    fd_close (&fd);
    errno = EIO;
  }
  return fd;
}

static int
directory_get (gpointer data, const char *key, G_GNUC_UNUSED guint64 bytes, G_GNUC_UNUSED const char *sha256,
               GError **error)
{
  int fd = open_key (data, key);
  if (fd < 0)
    blobs_directory_fail (data, "read", key, errno, error);
  return fd;
}

static gssize
directory_read (gpointer data, const char *key, guint64 offset, void *buffer, gsize length, GError **error)
{
  autoclose int fd = open_key (data, key);
  gsize done = 0;
  gssize got = fd < 0 ? -1 : 1;
  while (got > 0 && done < length) {
    got = pread (fd, (char *)buffer + done, length - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      done += (gsize)got;
  }
  if (got >= 0)
    return (gssize)done;
  blobs_directory_fail (data, "read", key, errno, error);
  return -1;
}

static gboolean
directory_stat (gpointer data, const char *key, guint64 *ret_bytes, GError **error)
{
  autoclose int fd = open_key (data, key);
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0)
    return blobs_directory_fail (data, "look at", key, errno, error);
  *ret_bytes = (guint64)st.st_size;
  return TRUE;
}

static gboolean
directory_link (gpointer data, const char *key, G_GNUC_UNUSED guint64 bytes, G_GNUC_UNUSED const char *sha256,
                int directory_fd, const char *name, GError **error)
{
  const struct directory *self = data;
  const char *from;
  autoclose int folder_fd = open_key_folder (self, key, FALSE, &from);
  if (folder_fd >= 0 && linkat (folder_fd, from, directory_fd, name, 0) == 0)
    return TRUE;
  int err = errno;
  if (err != EXDEV && err != EPERM && err != EMLINK && err != EOPNOTSUPP)
    return blobs_directory_fail (self, "link", key, err, error);
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "cannot link %s of the store to there: %s", key,
               g_strerror (err));
  return FALSE;
}

/* ---- removing ---- */

static gboolean
directory_remove (gpointer data, const char *key, GError **error)
{
  const struct directory *self = data;
  const char *name;
  autoclose int folder_fd = open_key_folder (self, key, FALSE, &name);
  if (folder_fd < 0)
    return errno == ENOENT || blobs_directory_fail (self, "remove", key, errno, error);
  autoclose int fd = openat (folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (unlinkat (folder_fd, name, 0) < 0)
    return errno == ENOENT || blobs_directory_fail (self, "remove", key, errno, error);
  if (fd >= 0)
    drop_content (self, fd);
  return TRUE;
}

/* ---- all of them ---- */

/* Calls EACH_NAME with the names in the folder FD; it stops by returning FALSE. 0 or a negative errno. */
typedef gboolean (*each_name) (gpointer data, int folder_fd, const char *name);
static int
blobs_directory_walk (int folder_fd, each_name each, gpointer data)
{
  DIR *list = fd_list (folder_fd);
  if (!list)
    return -errno;
  const char *name;
  do
    name = fd_next_name (list);
  while (name && (name[0] == '.' || each (data, folder_fd, name)));
  int err = name ? 0 : errno;
  closedir (list);
  return -err;
}

struct listing {
  blobs_each each;
  gpointer data;
  const char *kind;
  gboolean stopped;
};

static gboolean
list_one (gpointer data, int folder_fd, const char *name)
{
  struct listing *listing = data;
  struct stat st;
  g_autofree char *key = g_strdup_printf ("%s/%s", listing->kind, name);
  if (!blob_key_is_good (key) || fstatat (folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
      !S_ISREG (st.st_mode))
    return TRUE;
  /* A key has no time of its own, only its content's: the last change of its names, never before this key was
   * made. */
  gint64 made_ms = (gint64)st.st_ctim.tv_sec * 1000 + st.st_ctim.tv_nsec / 1000000;
  listing->stopped = !listing->each (listing->data, key, (guint64)st.st_size, made_ms);
  return !listing->stopped;
}

static gboolean
directory_list (gpointer data, blobs_each each, gpointer each_data, GError **error)
{
  const struct directory *self = data;
  struct listing listing = {.each = each, .data = each_data};
  for (const char *const *kind = blob_kinds; *kind && !listing.stopped; kind++) {
    autoclose int folder_fd = blobs_directory_open_folder (self, *kind, FALSE);
    if (folder_fd < 0 && errno == ENOENT)
      continue;
    listing.kind = *kind;
    int r = folder_fd < 0 ? -errno : blobs_directory_walk (folder_fd, list_one, &listing);
    if (r < 0) {
      error_from_errno (error, r, "cannot list the files in %s/%s", self->path, *kind);
      return error_make_unavailable (error);
    }
  }
  return TRUE;
}

static gboolean
sweep_content (gpointer data, int folder_fd, const char *name)
{
  guint *removed = data;
  struct stat st;
  if (fstatat (folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG (st.st_mode) && st.st_nlink == 1 &&
      unlinkat (folder_fd, name, 0) == 0)
    (*removed)++;
  return TRUE;
}

static gboolean
sweep_folder (gpointer data, int folder_fd, const char *name)
{
  autoclose int fd = openat (folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0)
    blobs_directory_walk (fd, sweep_content, data);
  return TRUE;
}

static gboolean
sweep_incoming (gpointer data, int folder_fd, const char *name)
{
  guint *removed = data;
  autoclose int fd = openat (folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0 && unlinkat (folder_fd, name, 0) == 0)
    (*removed)++;
  return TRUE;
}

static gboolean
directory_sweep (gpointer data, guint *ret_removed, GError **error)
{
  static const struct {
    const char *folder;
    each_name each;
  } parts[] = {{CONTENT, sweep_folder}, {INCOMING, sweep_incoming}};
  const struct directory *self = data;
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++) {
    autoclose int fd = blobs_directory_open_folder (self, parts[i].folder, FALSE);
    if (fd < 0 && errno == ENOENT)
      continue;
    int r = fd < 0 ? -errno : blobs_directory_walk (fd, parts[i].each, ret_removed);
    if (r < 0) {
      error_from_errno (error, r, "cannot look through %s/%s", self->path, parts[i].folder);
      return error_make_unavailable (error);
    }
  }
  return TRUE;
}

/* ---- folders of links ---- */

static int
directory_links (gpointer data, GError **error)
{
  const struct directory *self = data;
  int fd = blobs_directory_open_folder (self, LINKS, TRUE);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make the folder %s/%s", self->path, LINKS);
    error_make_unavailable (error);
  }
  return fd;
}

/* A key removed while the link existed left the content to it. */
static void
directory_unlinked (gpointer data, int fd)
{
  drop_content (data, fd);
}

const struct blobs_backend blobs_directory = {
    .open = directory_open,
    .close = directory_close,
    .create = directory_create,
    .put = directory_put,
    .get = directory_get,
    .read = directory_read,
    .stat = directory_stat,
    .remove = directory_remove,
    .list = directory_list,
    .link = directory_link,
    .sweep = directory_sweep,
    .links = directory_links,
    .unlinked = directory_unlinked,
};
