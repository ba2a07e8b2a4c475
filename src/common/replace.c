/* SPDX-License-Identifier: Apache-2.0 */
#include "common/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"

gboolean
replace_file (const char *path, const char *shown, const char *text, GError **error)
{
  g_autofree char *aside = g_strconcat (path, ".XXXXXX", NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  autoclose int fd = mkostemp (aside, O_CLOEXEC); /* with mode 0600 */
  if (fd < 0)
    return error_from_errno (error, errno, "cannot write beside %s", shown);
  int r = fd_write_all (fd, text, strlen (text));
  if (r == 0 && (fsync (fd) < 0 || rename (aside, path) < 0))
    r = -errno;
  if (r < 0) {
    unlink (aside);
    return error_from_errno (error, r, "cannot write %s", shown);
  }
  autoclose int directory = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0)
    (void)fsync (directory);
  return TRUE;
}
