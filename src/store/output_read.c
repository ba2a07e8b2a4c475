/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of long output. */
#include "store/output_read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "adder_types.h"
#include "base/fd.h"
#include "common/error.h"
#include "common/text.h"
#include "engine/request/capture.h"

#define CHARACTER_MAX 4 /* bytes */

/* ---- a part ---- */

static gboolean
check_part (const struct file_row *row, guint64 offset, guint64 limit, GError **error)
{
  if (offset > row->bytes) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the offset %" G_GUINT64_FORMAT " is beyond the end: there are %" G_GUINT64_FORMAT " bytes",
                 offset, row->bytes);
    return FALSE;
  }
  if (limit >= OUTPUT_PART_MIN && limit <= OUTPUT_PART_MAX)
    return TRUE;
  g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the limit is %d to %d bytes", OUTPUT_PART_MIN,
               OUTPUT_PART_MAX);
  return FALSE;
}

static json_t *
part_to_json (const struct file_row *row, const char *name, json_t *value, guint64 offset, guint64 next)
{
  return json_pack ("{s:o, s:I, s:I, s:I, s:b}", name, value, "offset", (json_int_t)offset, "next_offset",
                    (json_int_t)next, "total_bytes", (json_int_t)row->bytes, "at_end", next >= row->bytes);
}

json_t *
output_read (struct blobs *blobs, const struct file_row *row, guint64 offset, guint64 limit, GError **error)
{
  if (!check_part (row, offset, limit, error))
    return NULL;
  g_autofree char *bytes = g_malloc (limit);
  gssize got = blobs_read (blobs, row->blob, offset, bytes, limit, error);
  if (got < 0)
    return NULL;
  gsize start = offset > 0 ? capture_torn_start (bytes, (gsize)got) : 0, end = (gsize)got;
  if (got > 0 && offset + (guint64)got < row->bytes)
    end = MAX (start, capture_whole_length (bytes, (gsize)got));
  g_autofree char *text = capture_clean (bytes + start, end - start);
  /* A file shorter than its row says ends early. */
  guint64 next = got == 0 ? row->bytes : offset + end;
  return part_to_json (row, "text", json_string (text), offset + start, next);
}

/* ---- lines that match ---- */

#define BLOCK_BYTES  ((gsize)256 << 10)
#define LINE_BYTES   ((gsize)16 << 10) /* a longer one is searched in pieces of this length */
#define SHOWN_BYTES  500               /* of a line */
#define BEFORE_BYTES 150               /* of them, before the match */
#define LINES_MAX    1000
#define PATIENCE_US  (2 * G_USEC_PER_SEC)

/* In PCRE's own units, for one line from one of its bytes on: PCRE starts counting again at each. So a
 * pattern that stays just below takes this times LINE_BYTES, some seconds, before the time is checked. A
 * pattern can only lower them. */
#define BOUNDS "(*LIMIT_HEAP=16384)(*LIMIT_MATCH=40000)"

struct search {
  GRegex *regex;
  json_t *lines;
  gsize shown, limit;
  guint64 line;
  gint64 deadline_us;
};

static GRegex *
compile (const char *pattern, GError **error)
{
  g_autoptr (GError) problem = NULL;
  if (strlen (pattern) > OUTPUT_PATTERN_MAX || !g_utf8_validate (pattern, -1, NULL)) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the pattern is UTF-8 of at most %d bytes",
                 OUTPUT_PATTERN_MAX);
    return NULL;
  }
  /* Alone first: its errors then have their own offsets. */
  g_autoptr (GRegex) alone = g_regex_new (pattern, 0, 0, &problem);
  g_autofree char *bounded = g_strconcat (BOUNDS, pattern, NULL);
  GRegex *regex = alone ? g_regex_new (bounded, 0, 0, &problem) : NULL;
  if (!regex) {
    g_autofree char *shown = text_one_line (pattern, 100);
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "\"%s\" is not a pattern: %s", shown,
                 problem->message);
  }
  return regex;
}

/* The excerpt of TEXT around the match FROM to TO; *RET_START is where it begins. The caller's. */
static char *
output_read_around (const char *text, gsize length, gsize from, gsize *ret_start)
{
  gsize start = length <= SHOWN_BYTES || from < BEFORE_BYTES ? 0 : from - BEFORE_BYTES;
  if (start > 0)
    start += capture_torn_start (text + start, length - start);
  gsize most = MIN (length - start, SHOWN_BYTES);
  if (start + most < length)
    most = capture_whole_length (text + start, most);
  *ret_start = start;
  return g_strndup (text + start, most);
}

/* Searches LENGTH bytes of a line, at OFFSET of the stream. FALSE with ERROR: the pattern is unusable. */
static gboolean
search_line (struct search *search, const char *bytes, gsize length, guint64 offset, GError **error)
{
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GError) problem = NULL;
  gint from = 0;
  gboolean valid = g_utf8_validate_len (bytes, length, NULL);
  g_autofree char *clean = valid ? NULL : capture_clean (bytes, length);
  const char *text = valid ? bytes : clean;
  gsize text_length = valid ? length : strlen (clean);
  gboolean found = g_regex_match_full (search->regex, text, (gssize)text_length, 0, 0, &match, &problem);
  if (problem) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID,
                 "the pattern needs too much backtracking at line %" G_GUINT64_FORMAT ": make it simpler",
                 search->line);
    return FALSE;
  }
  if (!found)
    return TRUE;
  gsize start;
  guint64 at = offset;
  g_match_info_fetch_pos (match, 0, &from, NULL);
  g_autofree char *shown = output_read_around (text, text_length, (gsize)MAX (from, 0), &start);
  search->shown += strlen (shown);
  if (valid)
    at += start;
  json_array_append_new (search->lines, json_pack ("{s:I, s:I, s:s}", "line", (json_int_t)search->line,
                                                   "offset", (json_int_t)at, "text", shown));
  return TRUE;
}

static gboolean
has_enough (const struct search *search)
{
  return search->shown >= search->limit || json_array_size (search->lines) >= LINES_MAX ||
         g_get_monotonic_time () > search->deadline_us;
}

/* Reads a block at OFFSET of FD. */
static gssize
output_read_block (int fd, char *block, guint64 offset, GError **error)
{
  gssize got;
  do
    got = pread (fd, block, BLOCK_BYTES, (off_t)offset);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    error_from_errno (error, errno, "cannot read the output");
  return got;
}

/* Newlines before OFFSET, so that lines have the numbers that an editor shows. */
static gboolean
count_lines (int fd, guint64 offset, struct search *search, GError **error)
{
  g_autofree char *block = g_malloc (BLOCK_BYTES);
  for (guint64 at = 0; at < offset;) {
    gssize got = output_read_block (fd, block, at, error);
    if (got < 0)
      return FALSE;
    if (got == 0)
      break;
    const char *end = block + MIN ((guint64)got, offset - at);
    for (const char *next = block; (next = memchr (next, '\n', (gsize)(end - next))); next++)
      search->line++;
    at += (guint64)got;
  }
  return TRUE;
}

/* Searches the complete lines in BLOCK, of LENGTH bytes at *OFFSET (LAST: all of them), and moves *OFFSET
 * behind them. */
static gboolean
search_block (struct search *search, const char *block, gsize length, gboolean last, guint64 *offset,
              GError **error)
{
  gsize at = 0;
  while (at < length && !has_enough (search)) {
    gsize left = length - at;
    const char *newline = memchr (block + at, '\n', MIN (left, LINE_BYTES));
    if (!newline && left < LINE_BYTES && !last)
      break;
    gsize some = newline ? (gsize)(newline - (block + at)) : MIN (left, LINE_BYTES);
    if (!newline && some == LINE_BYTES && some < left)
      some = MAX (capture_whole_length (block + at, some), 1);
    if (!search_line (search, block + at, some, *offset, error))
      return FALSE;
    gsize taken = some + (newline ? 1 : 0);
    search->line += newline ? 1 : 0;
    at += taken;
    *offset += taken;
  }
  return TRUE;
}

static gboolean
search_file (struct search *search, int fd, guint64 *offset, GError **error)
{
  g_autofree char *block = g_malloc (BLOCK_BYTES);
  if (!count_lines (fd, *offset, search, error))
    return FALSE;
  while (!has_enough (search)) {
    gssize got = output_read_block (fd, block, *offset, error);
    if (got <= 0)
      return got == 0;
    if (!search_block (search, block, (gsize)got, (gsize)got < BLOCK_BYTES, offset, error))
      return FALSE;
  }
  return TRUE;
}

json_t *
output_grep (struct blobs *blobs, const struct file_row *row, guint64 offset, guint64 limit,
             const char *pattern, GError **error)
{
  if (!check_part (row, offset, limit, error))
    return NULL;
  g_autoptr (GRegex) regex = compile (pattern, error);
  autoclose int fd = regex ? blobs_get (blobs, row->blob, row->bytes, row->sha256, error) : -1;
  if (fd < 0)
    return NULL;
  guint64 next = offset;
  struct search search = {
      .regex = regex,
      .lines = json_array (),
      .limit = limit,
      .line = 1,
      .deadline_us = g_get_monotonic_time () + PATIENCE_US,
  };
  if (search_file (&search, fd, &next, error))
    return part_to_json (row, "lines", search.lines, offset, next);
  json_decref (search.lines);
  return NULL;
}
