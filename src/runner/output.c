/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/watch.h"

/* With those that it is to lie in. */
static int
output_make_directory (char *path)
{
  if (mkdir (path, 0777) == 0 || errno == EEXIST)
    return 0;
  char *slash = strrchr (path, '/');
  if (errno != ENOENT || !slash || slash == path)
    return -errno;
  *slash = '\0';
  int r = output_make_directory (path);
  *slash = '/';
  if (r == 0 && mkdir (path, 0777) < 0 && errno != EEXIST)
    r = -errno;
  return r;
}

static int
make_directory_of (const char *path)
{
  const char *slash = strrchr (path, '/');
  if (!slash || slash == path)
    return 0;
  char *directory = strndup (path, (size_t)(slash - path));
  int r = directory ? output_make_directory (directory) : -ENOMEM;
  free (directory);
  return r;
}

int
output_make (const char *path)
{
  if (!watch_lets_make (path))
    return -EPERM;
  int r = make_directory_of (path);
  if (r < 0)
    return r;
  (void)unlink (path);
  int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  return fd < 0 ? -errno : fd;
}

int
output_move (const char *from, const char *to)
{
  if (!watch_lets_make (from) || !watch_lets_make (to))
    return -EPERM;
  return rename (from, to) < 0 ? -errno : 0;
}

int
output_drop (const char *path)
{
  if (!watch_lets_make (path))
    return -EPERM;
  return unlink (path) < 0 && errno != ENOENT ? -errno : 0;
}
