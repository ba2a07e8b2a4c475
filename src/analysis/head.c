/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/head.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "common/error.h"

/* Where the last character LINE_END of two bytes ends, or 0. */
static gsize
last_wide (const guint8 *data, gsize length, const guint8 line_end[2])
{
  for (gsize at = length - length % 2; at >= 2; at -= 2)
    if (memcmp (data + at - 2, line_end, 2) == 0)
      return at;
  return 0;
}

static gsize
last_byte (const guint8 *data, gsize length, guint8 line_end)
{
  const guint8 *last = memrchr (data, line_end, length);
  return last ? (gsize)(last - data) + 1 : 0;
}

gsize
head_whole_lines (const guint8 *data, gsize length)
{
  static const guint8 little[] = {'\n', 0}, big[] = {0, '\n'};
  gsize end;
  if (length >= 2 && data[0] == 0xff && data[1] == 0xfe)
    end = last_wide (data, length, little);
  else if (length >= 2 && data[0] == 0xfe && data[1] == 0xff)
    end = last_wide (data, length, big);
  else if ((end = last_byte (data, length, '\n')) == 0)
    end = last_byte (data, length, '\r');
  return end > 0 ? end : length;
}

static gboolean
read_head (int fd, guint8 *data, gsize *ret_length, GError **error)
{
  gsize length = 0;
  while (length < HEAD_BYTES) {
    ssize_t got = pread (fd, data + length, HEAD_BYTES - length, (off_t)length);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return error_from_errno (error, errno, "cannot read the beginning of the file");
    if (got == 0)
      break;
    length += (gsize)got;
  }
  *ret_length = length;
  return TRUE;
}

int
head_open (int fd, gboolean *ret_cut, GError **error)
{
  struct stat st;
  gsize length = 0;
  if (fstat (fd, &st) < 0) {
    error_from_errno (error, errno, "cannot look at the file");
    return -1;
  }
  *ret_cut = st.st_size > HEAD_BYTES;
  if (!*ret_cut)
    return fcntl (fd, F_DUPFD_CLOEXEC, 0);
  g_autofree guint8 *data = g_malloc (HEAD_BYTES);
  if (!read_head (fd, data, &length, error))
    return -1;
  autoclose int head = memfd_create ("head", MFD_CLOEXEC);
  int r = head < 0 ? -errno : fd_write_all (head, data, head_whole_lines (data, length));
  if (r == 0 && lseek (head, 0, SEEK_SET) < 0)
    r = -errno;
  if (r < 0) {
    error_from_errno (error, r, "cannot keep the beginning of the file");
    return -1;
  }
  return fd_steal (&head);
}
