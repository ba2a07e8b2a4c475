/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of an environment during creation and removal. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "engine/host/environment_private.h"

/* Each level stays open while what is below it is removed, and packages can have a thousand. */
#define LEVELS_MAX 32

/* Moves the directory NAME of DIRECTORY_FD to ROOT_FD, under a name made of the number *MOVED. */
static int
folder_lift (int root_fd, int directory_fd, const char *name, guint *moved)
{
  for (;;) {
    g_autofree char *lifted = g_strdup_printf ("lifted-%u", (*moved)++);
    if (renameat (directory_fd, name, root_fd, lifted) == 0)
      return 0;
    /* A file of the package has that name. */
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
      return -errno;
  }
}

/* Removes all that is below DIRECTORY_FD, which is LEVEL levels below ROOT_FD; directories that are too deep
 * move to ROOT_FD, and *MOVED counts them. */
static int
folder_clear_below (int root_fd, int directory_fd, guint level, guint *moved)
{
  DIR *list = fd_list (directory_fd);
  if (!list)
    return -errno;
  int result = 0;
  while (result == 0) {
    const char *name = fd_next_name (list);
    if (name && (unlinkat (directory_fd, name, 0) == 0 || errno == ENOENT))
      continue;
    if (!name || (errno != EISDIR && errno != EPERM)) {
      result = -errno;
      break;
    }
    if (level == LEVELS_MAX) {
      result = folder_lift (root_fd, directory_fd, name, moved);
      continue;
    }
    autoclose int below = openat (directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    result = below < 0 ? -errno : folder_clear_below (root_fd, below, level + 1, moved);
    if (result == 0 && unlinkat (directory_fd, name, AT_REMOVEDIR) != 0)
      result = -errno;
  }
  closedir (list);
  return result;
}

int
environment_folder_clear (int directory_fd)
{
  guint moved = 0, before;
  int result;
  do {
    before = moved;
    result = folder_clear_below (directory_fd, directory_fd, 0, &moved);
  } while (result == 0 && moved > before);
  return result;
}

gboolean
environment_folder_remove (const char *path, int fd, GError **error)
{
  if (unlinkat (fd, ENVIRONMENT_MANIFEST, 0) != 0 && errno != ENOENT)
    return error_from_errno (error, errno, "cannot remove %s", path);
  int result = environment_folder_clear (fd);
  if (result == 0 && rmdir (path) != 0)
    result = -errno;
  return result == 0 || error_from_errno (error, result, "cannot remove %s", path);
}

static gboolean
is_same_folder (int fd, const char *path)
{
  struct stat opened, named;
  return fstat (fd, &opened) == 0 && stat (path, &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

int
environment_folder_claim (const char *path, gboolean make, GError **error)
{
  for (;;) {
    if (make && mkdir (path, 0755) != 0 && errno != EEXIST) {
      error_from_errno (error, errno, "cannot make %s", path);
      return -1;
    }
    autoclose int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && make)
      continue;
    if (fd < 0) {
      error_from_errno (error, errno, "cannot open %s", path);
      return -1;
    }
    if (flock (fd, LOCK_EX | LOCK_NB) != 0) {
      g_set_error (error, ADDER_ERROR, ADDER_ERROR_BUSY,
                   "%s is in use, or is being made or removed by another program", path);
      return -1;
    }
    /* The previous holder of the lock may have removed the folder we opened. */
    if (is_same_folder (fd, path))
      return fd_steal (&fd);
  }
}

gboolean
environment_folder_seal (const char *path, int folder_fd, GKeyFile *file, GError **error)
{
  g_autofree char *text = g_key_file_to_data (file, NULL, NULL);
  g_autofree char *manifest = g_build_filename (path, ENVIRONMENT_MANIFEST, NULL);
  g_autoptr (GError) cause = NULL;
  /* Everything the manifest vouches for must be on disk before it. */
  if (syncfs (folder_fd) != 0)
    return error_from_errno (error, errno, "cannot write %s to disk", path);
  if (!g_file_set_contents_full (
          manifest, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644, &cause) ||
      chmod (manifest, 0644) != 0 || fsync (folder_fd) != 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_FAILED, "cannot write %s: %s", manifest,
                 cause ? cause->message : g_strerror (errno));
    return FALSE;
  }
  return TRUE;
}

void
environment_folder_wait (const char *path)
{
  autoclose int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  while (fd >= 0 && flock (fd, LOCK_SH) != 0 && errno == EINTR)
    continue;
}
