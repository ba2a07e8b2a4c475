/* SPDX-License-Identifier: Apache-2.0 */
#include "common/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"

#define SECRET_BYTES 4096

/* In a container, root's files of a group that only the container's user has are as good as that user's:
 * Kubernetes mounts secrets so. */
static gboolean
is_private (const struct stat *status)
{
  mode_t others = S_IRWXO | S_IWGRP | S_IXGRP | (status->st_uid == 0 && geteuid () != 0 ? 0 : S_IRGRP);
  return S_ISREG (status->st_mode) && !(status->st_mode & others) && status->st_size <= SECRET_BYTES;
}

char *
secret_file_read (const char *file, const char *setting, GError **error)
{
  struct stat status;
  autoclose int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0 || fstat (fd, &status) < 0) {
    error_from_errno (error, errno, "%s: cannot open %s", setting, file);
    return NULL;
  }
  if (!is_private (&status)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s: %s must be a file that nobody else may read (chmod 600), of at most %d bytes", setting,
                 file, SECRET_BYTES);
    return NULL;
  }
  g_autofree char *text = g_malloc0 ((gsize)status.st_size + 1);
  int r = fd_read_all (fd, text, (gsize)status.st_size);
  if (r < 0) {
    error_from_errno (error, r, "%s: cannot read %s", setting, file);
    return NULL;
  }
  char *secret = g_strdup (g_strstrip (text));
  explicit_bzero (text, (gsize)status.st_size);
  return secret;
}
