/* SPDX-License-Identifier: Apache-2.0 */
/* Theory of operation. A copy is a file named by its digest, complete before it gets this name. Its
 * modification time is that of its last use. Adding one scans the directory and removes the least recently
 * used; two at once remove a few too many. A copy that is open or linked stays usable. */
#include "store/blob_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "store/blob_file.h"

#define DIGEST_LETTERS 64
#define LINKS          "links"

/* How much stays after a cleanup, so that not every new copy causes another. */
#define KEEP_TENTHS 9

struct blob_cache {
  char *path;
  int fd;
  guint64 most;
};

struct copy {
  char name[DIGEST_LETTERS + 1];
  guint64 bytes;
  gint64 used_ns;
};

struct blob_cache *
blob_cache_open (const char *path, guint64 cache_bytes, GError **error)
{
  if (g_mkdir_with_parents (path, 0700) < 0) {
    error_from_errno (error, errno, "cannot make the directory %s for copies of files", path);
    return NULL;
  }
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat (fd, &st) < 0) {
    error_from_errno (error, errno, "cannot open the directory %s for copies of files", path);
    fd_close (&fd);
    return NULL;
  }
  if (st.st_uid != geteuid () || (st.st_mode & 022)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED,
                 "the directory %s for copies of files is not ours alone: chown and chmod 0700 it", path);
    fd_close (&fd);
    return NULL;
  }
  struct blob_cache *cache = g_new (struct blob_cache, 1);
  *cache = (struct blob_cache){.path = g_strdup (path), .fd = fd, .most = cache_bytes};
  return cache;
}

void
blob_cache_close (struct blob_cache *cache)
{
  fd_close (&cache->fd);
  g_free (cache->path);
  g_free (cache);
}

int
blob_cache_create (struct blob_cache *cache, GError **error)
{
  int fd = blob_file_create (cache->fd, NULL);
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make a file in %s", cache->path);
    error_make_unavailable (error);
  }
  return fd;
}

int
blob_cache_find (struct blob_cache *cache, const char *sha256)
{
  int fd = openat (cache->fd, sha256, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0)
    futimens (fd, NULL); /* it is used now */
  return fd;
}

static gint
used_before (gconstpointer a, gconstpointer b)
{
  const struct copy *one = a, *two = b;
  return one->used_ns < two->used_ns ? -1 : one->used_ns > two->used_ns;
}

static GArray *
list_copies (int directory_fd, guint64 *ret_total)
{
  GArray *copies = g_array_new (FALSE, FALSE, sizeof (struct copy));
  DIR *list = fd_list (directory_fd);
  *ret_total = 0;
  for (const char *name; list && (name = fd_next_name (list));) {
    struct copy copy;
    struct stat st;
    if (strlen (name) != DIGEST_LETTERS || fstatat (directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
      continue;
    memcpy (copy.name, name, sizeof copy.name);
    copy.bytes = (guint64)st.st_blocks * 512;
    copy.used_ns = (gint64)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    *ret_total += copy.bytes;
    g_array_append_val (copies, copy);
  }
  if (list)
    closedir (list);
  return copies;
}

static void
blob_cache_make_room (struct blob_cache *cache, guint64 bytes)
{
  guint64 total;
  g_autoptr (GArray) copies = list_copies (cache->fd, &total);
  if (total + bytes <= cache->most)
    return;
  guint64 wanted = MIN (cache->most / 10 * KEEP_TENTHS, cache->most - bytes);
  g_array_sort (copies, used_before);
  for (guint i = 0; i < copies->len && total > wanted; i++) {
    const struct copy *copy = &g_array_index (copies, struct copy, i);
    if (unlinkat (cache->fd, copy->name, 0) == 0 || errno == ENOENT)
      total -= copy->bytes;
  }
}

void
blob_cache_keep (struct blob_cache *cache, int fd, const char *sha256, guint64 bytes)
{
  /* On the disk before it has a name: after a power cut the content could be anything. */
  if (bytes > cache->most || !blob_file_is_nameless (fd) || fdatasync (fd) < 0)
    return;
  blob_cache_make_room (cache, bytes);
  blob_file_link (fd, cache->fd, NULL, cache->fd, sha256);
}

int
blob_cache_links (struct blob_cache *cache, GError **error)
{
  int fd = mkdirat (cache->fd, LINKS, 0700) == 0 || errno == EEXIST
               ? openat (cache->fd, LINKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
               : -1;
  if (fd < 0) {
    error_from_errno (error, errno, "cannot make the directory %s/%s", cache->path, LINKS);
    error_make_unavailable (error);
  }
  return fd;
}
