/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/head.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adder.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/text.h"

#define HEAD_PARQUET "parquet"
#define NAME_SHOWN   200

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

static int
open_lines (int fd, GError **error)
{
  gsize length = 0;
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

/* As src/runner/parquet_read.py has it: no text goes on with a control character. */
static gboolean
is_parquet (int fd)
{
  static const char magic[] = {'P', 'A', 'R', '1'};
  guint8 data[sizeof magic + 1];
  if (pread (fd, data, sizeof data, 0) != sizeof data || memcmp (data, magic, sizeof magic) != 0)
    return FALSE;
  guint8 next = data[sizeof magic];
  return next < ' ' && next != '\t' && next != '\n' && next != '\r';
}

gboolean
head_open (int fd, const char *name, struct head *ret_head, GError **error)
{
  struct stat st;
  if (fstat (fd, &st) < 0)
    return error_from_errno (error, errno, "cannot look at the file");
  gboolean parquet = is_parquet (fd);
  if (!parquet && g_str_has_suffix (name, "." HEAD_PARQUET)) {
    g_autofree char *shown = text_one_line (name, NAME_SHOWN);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "%s is no Parquet file, whatever its name says: it does not begin as one does", shown);
    return FALSE;
  }
  gboolean is_cut = !parquet && st.st_size > HEAD_BYTES;
  int head = is_cut ? open_lines (fd, error) : fcntl (fd, F_DUPFD_CLOEXEC, 0);
  if (head < 0)
    return is_cut ? FALSE : error_from_errno (error, errno, "cannot keep the file open");
  *ret_head = (struct head){head, is_cut, parquet ? HEAD_PARQUET : "csv"};
  return TRUE;
}
