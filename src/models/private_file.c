/* SPDX-License-Identifier: Apache-2.0 */
#include "models/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"
#include "models/question.h"

static gboolean
private_file_check (const char *path, const struct stat *status, gsize most, guint forbidden, GError **error)
{
  g_autofree char *what = NULL;
  if (!S_ISREG (status->st_mode))
    what = g_strdup ("is no regular file: name another one");
  else if (status->st_uid != geteuid () && status->st_uid != 0)
    what = g_strdup_printf ("belongs to another user: chown it to yourself, or name another one");
  else if (status->st_mode & forbidden)
    what = g_strdup_printf ("may be %s by others (its mode is %04o): chmod 600 %s",
                            forbidden & S_IROTH ? "read" : "changed", (guint)status->st_mode & 07777, path);
  else if (status->st_size > (off_t)most)
    what = g_strdup_printf ("has more than %" G_GSIZE_FORMAT " bytes: name another one", most);
  if (what)
    g_set_error (error, MODEL_ERROR, MODEL_ERROR_INVALID, "the file %s %s", path, what);
  return !what;
}

char *
private_file_read (const char *path, gsize most, guint forbidden, gsize *ret_length, gboolean *ret_missing,
                   GError **error)
{
  struct stat status;
  autoclose int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  *ret_missing = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
  if (*ret_missing)
    return NULL;
  if (fd < 0 || fstat (fd, &status) < 0) {
    error_from_errno (error, errno, "cannot open %s", path);
    return NULL;
  }
  if (!private_file_check (path, &status, most, forbidden, error))
    return NULL;
  gsize length = (gsize)status.st_size;
  g_autofree char *text = g_malloc0 (length + 1);
  int r = fd_read_all (fd, text, length);
  if (r < 0) {
    error_from_errno (error, r, "cannot read %s", path);
    return NULL;
  }
  *ret_length = length;
  return g_steal_pointer (&text);
}
