/* SPDX-License-Identifier: Apache-2.0 */
/* Head and tail of an output stream, and conversion of bytes to text. */
#include "engine/request/capture.h"

#include <string.h>

#define REPLACEMENT        "\xEF\xBF\xBD"
#define REPLACEMENT_LENGTH 3

void
capture_init (struct capture *capture, gsize cap)
{
  *capture = (struct capture){.cap = cap, .head = g_byte_array_new (), .tail = g_byte_array_new ()};
}

void
capture_clear (struct capture *capture)
{
  g_clear_pointer (&capture->head, g_byte_array_unref);
  g_clear_pointer (&capture->tail, g_byte_array_unref);
}

static gsize
head_cap (const struct capture *capture)
{
  return capture->cap / 2;
}

static gsize
tail_cap (const struct capture *capture)
{
  return capture->cap - head_cap (capture);
}

static void
add_to_tail (struct capture *capture, const char *data, gsize length)
{
  gsize cap = tail_cap (capture);
  if (length > cap) {
    data += length - cap;
    length = cap;
  }
  gsize room = cap - capture->tail->len;
  gsize grown = MIN (room, length);
  g_byte_array_append (capture->tail, (const guint8 *)data, (guint)grown);
  data += grown;
  length -= grown;
  while (length > 0) {
    gsize run = MIN (length, cap - capture->tail_at);
    memcpy (capture->tail->data + capture->tail_at, data, run);
    capture->tail_at = (capture->tail_at + run) % cap;
    data += run;
    length -= run;
  }
}

void
capture_add (struct capture *capture, const char *data, gsize length)
{
  capture->total += length;
  gsize to_head = MIN (length, head_cap (capture) - capture->head->len);
  if (to_head > 0)
    g_byte_array_append (capture->head, (const guint8 *)data, (guint)to_head);
  if (length > to_head)
    add_to_tail (capture, data + to_head, length - to_head);
}

/* ---- bytes to text ---- */

struct unit {
  gsize raw;   /* bytes taken */
  gsize clean; /* bytes that they become */
  gboolean valid;
};

/* How many bytes a character that begins with FIRST has, and what its second byte may be (Unicode 15, table
 * 3-7). */
static gsize
sequence_length (guchar first, guchar *ret_low, guchar *ret_high)
{
  *ret_low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  *ret_high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (first < 0x80)
    return 1;
  if (first < 0xC2 || first > 0xF4)
    return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* The next character, or the next sequence that one U+FFFD replaces: the longest valid prefix, as Unicode
 * recommends and Python's errors="replace" does. LENGTH is not 0. */
static struct unit
next_unit (const char *data, gsize length)
{
  const guchar *bytes = (const guchar *)data;
  guchar low, high;
  gsize want = sequence_length (bytes[0], &low, &high);
  gsize got = 1;
  if (want == 0 || bytes[0] == 0)
    return (struct unit){.raw = 1, .clean = REPLACEMENT_LENGTH};
  while (got < want && got < length && bytes[got] >= low && bytes[got] <= high) {
    low = 0x80;
    high = 0xBF;
    got++;
  }
  if (got < want)
    return (struct unit){.raw = got, .clean = REPLACEMENT_LENGTH};
  return (struct unit){.raw = want, .clean = want, .valid = TRUE};
}

static void
append_unit (GString *text, const char *data, struct unit unit)
{
  if (unit.valid)
    g_string_append_len (text, data, (gssize)unit.raw);
  else
    g_string_append_len (text, REPLACEMENT, REPLACEMENT_LENGTH);
}

/* Appends the beginning of DATA, at most MOST bytes of text. Returns how many bytes of DATA that covers. */
static gsize
append_head (GString *text, const char *data, gsize length, gsize most)
{
  gsize at = 0, end = text->len + most;
  while (at < length) {
    struct unit unit = next_unit (data + at, length - at);
    if (text->len + unit.clean > end)
      break;
    append_unit (text, data + at, unit);
    at += unit.raw;
  }
  return at;
}

static gsize
clean_length (const char *data, gsize length)
{
  gsize clean = 0;
  for (gsize at = 0; at < length;) {
    struct unit unit = next_unit (data + at, length - at);
    clean += unit.clean;
    at += unit.raw;
  }
  return clean;
}

/* Where the longest suffix of DATA begins that gives at most MOST bytes of text. */
static gsize
find_tail (const char *data, gsize length, gsize most)
{
  gsize left = clean_length (data, length), at = 0;
  while (left > most) {
    struct unit unit = next_unit (data + at, length - at);
    left -= unit.clean;
    at += unit.raw;
  }
  return at;
}

gsize
capture_torn_start (const char *data, gsize length)
{
  gsize at = 0;
  while (at < length && at < 3 && ((guchar)data[at] & 0xC0) == 0x80)
    at++;
  return at;
}

gsize
capture_whole_length (const char *data, gsize length)
{
  for (gsize back = 1; back <= 3 && back <= length; back++) {
    guchar low, high, byte = (guchar)data[length - back];
    if ((byte & 0xC0) == 0x80)
      continue;
    return sequence_length (byte, &low, &high) > back ? length - back : length;
  }
  return length;
}

/* The bytes of the tail in order, after those of HEAD. */
static GByteArray *
join (const struct capture *capture, const GByteArray *head)
{
  GByteArray *joined = g_byte_array_sized_new ((head ? head->len : 0) + capture->tail->len);
  if (head)
    g_byte_array_append (joined, head->data, head->len);
  if (capture->tail->len == 0)
    return joined;
  gsize at = capture->tail_at;
  g_byte_array_append (joined, capture->tail->data + at, (guint)(capture->tail->len - at));
  g_byte_array_append (joined, capture->tail->data, (guint)at);
  return joined;
}

/* MISSING bytes from byte FROM of the stream on. */
static void
append_gap (GString *text, guint64 from, guint64 missing, const struct capture_kept *kept)
{
  if (text->len > 0 && text->str[text->len - 1] != '\n')
    g_string_append_c (text, '\n');
  g_string_append_printf (text, "[... %" G_GUINT64_FORMAT " bytes are left out here: ", missing);
  if (kept) {
    gboolean errors = strcmp (kept->stream, "stderr") == 0;
    g_string_append_printf (text, "peek_result(result_id=\"%s\", offset=%" G_GUINT64_FORMAT "%s) reads on",
                            kept->result_id, from, errors ? ", stream=\"stderr\"" : "");
    if (!kept->for_tool)
      g_string_append_printf (text, ", or: adder history peek %s --offset %" G_GUINT64_FORMAT "%s",
                              kept->result_id, from, errors ? " --stream stderr" : "");
  } else
    g_string_append (text, "print less, or write them to a file");
  g_string_append (text, " ...]\n");
}

GByteArray *
capture_bytes (const struct capture *capture)
{
  return join (capture, capture->head);
}

gboolean
capture_is_cut (const struct capture *capture)
{
  if (capture->total > capture->cap)
    return TRUE;
  if (capture->total <= capture->cap / REPLACEMENT_LENGTH)
    return FALSE;
  g_autoptr (GByteArray) bytes = capture_bytes (capture);
  return clean_length ((const char *)bytes->data, bytes->len) > capture->cap;
}

char *
capture_text (const struct capture *capture, const struct capture_kept *kept, gsize *ret_length,
              gboolean *ret_cut)
{
  gboolean whole = capture->total <= capture->cap;
  g_autoptr (GByteArray) bytes = join (capture, whole ? capture->head : NULL);
  const char *rest = (const char *)bytes->data;
  gsize rest_length = bytes->len;
  GString *text = g_string_sized_new (MIN (capture->total, capture->cap) + 1);

  if (whole && append_head (text, rest, rest_length, capture->cap) == rest_length) {
    *ret_length = text->len;
    *ret_cut = FALSE;
    return g_string_free (text, FALSE);
  }

  /* Either the stream or its text was too long: both parts then come from the same bytes. */
  g_string_truncate (text, 0);
  guint64 before;
  if (whole) {
    before = append_head (text, rest, rest_length, head_cap (capture));
    rest += before;
    rest_length -= before;
  } else {
    const char *head = (const char *)capture->head->data;
    before = append_head (text, head, capture_whole_length (head, capture->head->len), head_cap (capture));
    gsize torn = capture_torn_start (rest, rest_length);
    rest += torn;
    rest_length -= torn;
  }
  gsize start = find_tail (rest, rest_length, tail_cap (capture));
  append_gap (text, before, capture->total - before - (rest_length - start), kept);
  append_head (text, rest + start, rest_length - start, tail_cap (capture));
  *ret_length = text->len;
  *ret_cut = TRUE;
  return g_string_free (text, FALSE);
}

char *
capture_clean (const char *data, gsize length)
{
  GString *text = g_string_sized_new (length + 1);
  append_head (text, data, length, G_MAXSIZE / 2);
  return g_string_free (text, FALSE);
}
