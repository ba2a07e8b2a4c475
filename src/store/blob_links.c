/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of links. Each belongs to one process, which holds a lock (flock) on it while it is needed: a
 * folder that can be locked is left over. Creating one, or trying its lock, needs the lock of the parent
 * folder, so that none is taken from a process that has not locked it yet. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "engine/host/id.h"
#include "store/blobs_private.h"

/* Of directories below a folder: each is a descriptor while they are removed. */
#define DEPTH_MAX 32

#define INSIDE    (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

struct blob_links {
  struct blobs *blobs;
  int parent_fd, folder_fd;
  char name[ID_BYTES];
};

static int
blob_links_lock (int fd, int how)
{
  int r;
  do
    r = flock (fd, how);
  while (r < 0 && errno == EINTR);
  return r < 0 ? -errno : 0;
}

/* ---- removing ---- */

static void
blob_links_remove_name (const struct blobs *blobs, int directory_fd, const char *name, guint depth)
{
  struct stat st;
  if (fstatat (directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return;
  if (!S_ISDIR (st.st_mode)) {
    autoclose int fd = openat (directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (unlinkat (directory_fd, name, 0) == 0 && fd >= 0)
      blobs->backend->unlinked (blobs->self, fd);
    return;
  }
  autoclose int fd =
      depth == 0 ? -1 : openat (directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fd_list (fd);
  if (!list)
    return;
  for (const char *entry; (entry = fd_next_name (list));)
    blob_links_remove_name (blobs, fd, entry, depth - 1);
  closedir (list);
  unlinkat (directory_fd, name, AT_REMOVEDIR);
}

/* Opens the folder NAME and locks it; -1 if it is in use. */
static int
take_left_over (int parent_fd, const char *name)
{
  autoclose int fd = openat (parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || blob_links_lock (parent_fd, LOCK_EX) < 0)
    return -1;
  int r = blob_links_lock (fd, LOCK_EX | LOCK_NB);
  (void)blob_links_lock (parent_fd, LOCK_UN);
  return r < 0 ? -1 : fd_steal (&fd);
}

void
blob_links_sweep (const struct blobs *blobs, guint *ret_removed)
{
  autoclose int parent_fd = blobs->backend->links (blobs->self, NULL);
  DIR *list = parent_fd < 0 ? NULL : fd_list (parent_fd);
  if (!list)
    return;
  for (const char *name; (name = fd_next_name (list));) {
    if (name[0] == '.')
      continue;
    autoclose int fd = take_left_over (parent_fd, name);
    if (fd < 0)
      continue;
    blob_links_remove_name (blobs, parent_fd, name, DEPTH_MAX + 1);
    (*ret_removed)++;
  }
  closedir (list);
}

void
blob_links_free (struct blob_links *links)
{
  if (!links)
    return;
  if (links->folder_fd >= 0)
    blob_links_remove_name (links->blobs, links->parent_fd, links->name, DEPTH_MAX + 1);
  fd_close (&links->folder_fd);
  fd_close (&links->parent_fd);
  g_free (links);
}

/* ---- making ---- */

static int
make_locked (struct blob_links *links)
{
  if (mkdirat (links->parent_fd, links->name, 0700) < 0)
    return -errno;
  links->folder_fd = openat (links->parent_fd, links->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return links->folder_fd < 0 ? -errno : blob_links_lock (links->folder_fd, LOCK_EX | LOCK_NB);
}

static int
blob_links_make_folder (struct blob_links *links)
{
  id_make (links->name);
  int r = blob_links_lock (links->parent_fd, LOCK_EX);
  if (r < 0)
    return r;
  r = make_locked (links);
  /* Not left to closing: a process forked meanwhile has the descriptor as well. */
  (void)blob_links_lock (links->parent_fd, LOCK_UN);
  return r;
}

struct blob_links *
blob_links_new (struct blobs *blobs, GError **error)
{
  guint removed = 0;
  if (g_atomic_int_compare_and_exchange (&blobs->links_swept, FALSE, TRUE))
    blob_links_sweep (blobs, &removed);
  struct blob_links *links = g_new (struct blob_links, 1);
  *links = (struct blob_links){.blobs = blobs, .folder_fd = -1};
  links->parent_fd = blobs->backend->links (blobs->self, error);
  int r = links->parent_fd < 0 ? -1 : blob_links_make_folder (links);
  if (r == 0)
    return links;
  if (links->parent_fd >= 0)
    error_from_errno (error, r, "cannot make a folder of links");
  blob_links_free (links);
  return NULL;
}

/* ---- filling ---- */

/* The directory of PATH, made as needed. *RET_LAST is PATH's last part. */
static int
enter_parents (const struct blob_links *links, const char *path, const char **ret_last)
{
  autoclose int directory = fcntl (links->folder_fd, F_DUPFD_CLOEXEC, 3);
  const char *part = path;
  for (const char *slash; directory >= 0 && (slash = strchr (part, '/')); part = slash + 1) {
    g_autofree char *name = g_strndup (part, (gsize)(slash - part));
    int next = -1;
    if (mkdirat (directory, name, 0700) == 0 || errno == EEXIST)
      next = sys_openat2 (directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
    int err = errno;
    fd_close (&directory);
    directory = next;
    errno = err;
  }
  *ret_last = part;
  return fd_steal (&directory);
}

gboolean
blob_links_add (struct blob_links *links, const char *key, guint64 bytes, const char *sha256,
                const char *path, GError **error)
{
  guint depth = 0;
  for (const char *at = path; (at = strchr (at, '/')); at++)
    depth++;
  if (depth > DEPTH_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_UNSUPPORTED, "%s has more than %d directories", path,
                 DEPTH_MAX);
    return FALSE;
  }
  const char *last;
  autoclose int directory = enter_parents (links, path, &last);
  if (directory < 0)
    return error_from_errno (error, errno, "cannot make the directory of the link %s", path);
  return blobs_link (links->blobs, key, bytes, sha256, directory, last, error);
}

int
blob_links_open (const struct blob_links *links, const char *name)
{
  return sys_openat2 (links->folder_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, INSIDE);
}
