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

#define BEGIN_BYTES 64

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
head_read_head (int fd, guint8 *data, gsize *ret_length, GError **error)
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
  if (!head_read_head (fd, data, &length, error))
    return -1;
  int head = fd_memory ("head", data, head_whole_lines (data, length));
  if (head < 0)
    error_from_errno (error, head, "cannot keep the beginning of the file");
  return head < 0 ? -1 : head;
}

/* What a file begins with of which the first lines do not do, and what such files are called: it is no text,
 * or its end is needed. What a file really is, the runner finds out (runner/python/table_format.py). */
static const struct {
  const char *bytes;
  gsize length;
  const char *ending;
  gboolean is_word; /* a text could begin so */
} wholes[] = {
    {"PAR1", 4, "parquet", TRUE}, {"ARROW1\0", 7, "feather", FALSE},
    {"PK\3\4", 4, "xlsx", FALSE}, {"SQLite format 3", 16, "sqlite", FALSE},
    {"\x1f\x8b", 2, "gz", FALSE}, {"\x28\xb5\x2f\xfd", 4, "zst", FALSE},
    {"{", 1, "json", FALSE},      {"[", 1, "json", FALSE},
};

/* Where the text DATA, LENGTH bytes, begins behind a byte order mark of UTF-8 and white space. */
static gsize
text_begin (const guint8 *data, gsize length)
{
  gsize at = length >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < length && g_ascii_isspace (data[at]))
    at++;
  return at;
}

/* No text goes on with a control character behind a word such as PAR1. */
static gboolean
is_text_at (const guint8 *data, gsize length, gsize at)
{
  return at >= length || data[at] >= ' ' || data[at] == '\t' || data[at] == '\n' || data[at] == '\r';
}

/* The ending of what begins with the LENGTH bytes DATA and is needed whole, or NULL. */
static const char *
whole_ending (const guint8 *data, gsize length)
{
  gsize begin = text_begin (data, length);
  for (gsize i = 0; i < G_N_ELEMENTS (wholes); i++) {
    gsize of = wholes[i].length, at = of == 1 ? begin : 0;
    if (length - at >= of && memcmp (data + at, wholes[i].bytes, of) == 0 &&
        !(wholes[i].is_word && is_text_at (data, length, of)))
      return wholes[i].ending;
  }
  return NULL;
}

gboolean
head_open (int fd, struct head *ret_head, GError **error)
{
  struct stat st;
  guint8 begin[BEGIN_BYTES];
  ssize_t got = pread (fd, begin, sizeof begin, 0);
  if (got < 0 || fstat (fd, &st) < 0)
    return error_from_errno (error, errno, "cannot look at the file");
  const char *ending = whole_ending (begin, (gsize)got);
  gboolean is_cut = !ending && st.st_size > HEAD_BYTES;
  int head = is_cut ? open_lines (fd, error) : fcntl (fd, F_DUPFD_CLOEXEC, 0);
  if (head < 0)
    return is_cut ? FALSE : error_from_errno (error, errno, "cannot keep the file open");
  *ret_head = (struct head){head, is_cut, ending ? ending : "csv"};
  return TRUE;
}
