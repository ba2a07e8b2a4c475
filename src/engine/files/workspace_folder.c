/* SPDX-License-Identifier: Apache-2.0 */
/* Whole folders into a workspace. The folder is its caller's, who may change it meanwhile: every open is
 * beneath it, and follows nothing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "base/syscalls.h"
#include "common/error.h"
#include "engine/files/workspace.h"

/* Each level is a descriptor. */
#define DEPTH_MAX 64

#define INSIDE    (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

struct walk {
  const struct workspace_folder *folder;
  GHashTable *files;
  guint left_out;
  struct interrupt *interrupt;
  gint64 deadline_us;
};

static gboolean put_below (struct walk *walk, int directory_fd, const char *name, guint depth,
                           GError **error);

static gboolean
workspace_folder_put_file (struct walk *walk, int directory_fd, const char *entry, const char *name,
                           GError **error)
{
  const struct workspace_folder *folder = walk->folder;
  autoclose int fd =
      sys_openat2 (directory_fd, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0, INSIDE);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open the file for %s", name);
  struct workspace_file *file = workspace_check_name (name, error)
                                    ? workspace_put (folder->root_fd, folder->owner, folder->place, name, fd,
                                                     folder->taker, walk->interrupt, walk->deadline_us, error)
                                    : NULL;
  if (file)
    workspace_files_add (walk->files, file);
  return file != NULL;
}

static gboolean
put_folder (struct walk *walk, int directory_fd, const char *entry, const char *name, guint depth,
            GError **error)
{
  autoclose int fd =
      sys_openat2 (directory_fd, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, INSIDE);
  if (fd < 0)
    return error_from_errno (error, errno, "cannot open the folder for %s", name);
  return put_below (walk, fd, name, depth, error);
}

static gboolean
put_entry (struct walk *walk, int directory_fd, const char *entry, const char *name, guint depth,
           GError **error)
{
  struct stat st;
  if (fstatat (directory_fd, entry, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT || error_from_errno (error, errno, "cannot look at the file for %s", name);
  if (S_ISREG (st.st_mode))
    return workspace_folder_put_file (walk, directory_fd, entry, name, error);
  if (S_ISDIR (st.st_mode))
    return put_folder (walk, directory_fd, entry, name, depth, error);
  walk->left_out++;
  return TRUE;
}

static gboolean
put_below (struct walk *walk, int directory_fd, const char *name, guint depth, GError **error)
{
  if (depth == 0) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the folder %s is deeper than %d levels", name,
                 DEPTH_MAX);
    return FALSE;
  }
  DIR *list = fd_list (directory_fd);
  if (!list)
    return error_from_errno (error, errno, "cannot read the folder for %s", name);
  gboolean ok = TRUE;
  for (const char *entry = ""; ok && entry;) {
    entry = fd_next_name (list);
    g_autofree char *below = g_strconcat (name, "/", entry, NULL);
    if (entry)
      ok = put_entry (walk, directory_fd, entry, below, depth - 1, error);
    else if (errno)
      ok = error_from_errno (error, errno, "cannot read the folder for %s", name);
  }
  closedir (list);
  return ok;
}

gboolean
workspace_put_folder (const struct workspace_folder *folder, const char *name, int from, GHashTable *files,
                      guint *left_out, struct interrupt *interrupt, gint64 deadline_us, GError **error)
{
  struct walk walk = {.folder = folder, .files = files, .interrupt = interrupt, .deadline_us = deadline_us};
  gboolean ok = put_below (&walk, from, name, DEPTH_MAX, error);
  *left_out += walk.left_out;
  return ok;
}
