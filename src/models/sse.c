/* SPDX-License-Identifier: Apache-2.0 */
/* One line at a time: it is gathered until its end has come, then it is a field of the event under way, or
 * ends it. */
#include "models/sse.h"

#include <string.h>

#define EVENT_BYTES                                                                                          \
  ((gsize)256 << 20) /* of an event, so that one without an end has one; results hold pictures */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct sse {
  sse_event_f event;
  gpointer data;
  GString *line, *name, *text;
  gboolean has_text;  /* a data field came, be it an empty one */
  gboolean after_cr;  /* an LF that comes now ends nothing */
  gboolean has_begun; /* a line was read: no byte order mark may come */
  gboolean refused;
};

struct sse *
sse_new (sse_event_f event, gpointer data)
{
  struct sse *sse = g_new0 (struct sse, 1);
  sse->event = event;
  sse->data = data;
  sse->line = g_string_new (NULL);
  sse->name = g_string_new (NULL);
  sse->text = g_string_new (NULL);
  return sse;
}

void
sse_free (struct sse *sse)
{
  if (!sse)
    return;
  g_string_free (sse->line, TRUE);
  g_string_free (sse->name, TRUE);
  g_string_free (sse->text, TRUE);
  g_free (sse);
}

static void
hand_out (struct sse *sse, const char *text, gsize length)
{
  if (!sse->event (sse->data, sse->name->str, text, length))
    sse->refused = TRUE;
}

static void
end_event (struct sse *sse)
{
  if (sse->has_text)
    hand_out (sse, sse->text->str, sse->text->len);
  sse->has_text = FALSE;
  g_string_truncate (sse->text, 0);
  g_string_truncate (sse->name, 0);
}

static void
take_field (struct sse *sse, const char *line, gsize length)
{
  const char *colon = memchr (line, ':', length);
  gsize name = colon ? (gsize)(colon - line) : length;
  const char *value = colon ? colon + 1 : line + length;
  if (value < line + length && *value == ' ')
    value++;
  gssize rest = line + length - value;
  if (name == 4 && memcmp (line, "data", 4) == 0) {
    if (sse->has_text)
      g_string_append_c (sse->text, '\n');
    g_string_append_len (sse->text, value, rest);
    sse->has_text = TRUE;
  } else if (name == 5 && memcmp (line, "event", 5) == 0) {
    g_string_truncate (sse->name, 0);
    g_string_append_len (sse->name, value, rest);
  }
}

static void
sse_end_line (struct sse *sse)
{
  const char *line = sse->line->str;
  gsize length = sse->line->len;
  if (!sse->has_begun && g_str_has_prefix (line, BYTE_ORDER_MARK)) {
    line += strlen (BYTE_ORDER_MARK);
    length -= strlen (BYTE_ORDER_MARK);
  }
  sse->has_begun = TRUE;
  if (length == 0)
    end_event (sse);
  else if (line[0] == '{')
    hand_out (sse, line, length);
  else if (line[0] != ':')
    take_field (sse, line, length);
  g_string_truncate (sse->line, 0);
}

gboolean
sse_take (struct sse *sse, const char *bytes, gsize length)
{
  const char *end = bytes + length;
  while (bytes < end && !sse->refused) {
    if (sse->after_cr && *bytes == '\n')
      bytes++;
    sse->after_cr = FALSE;
    const char *stop = bytes;
    while (stop < end && *stop != '\n' && *stop != '\r')
      stop++;
    g_string_append_len (sse->line, bytes, stop - bytes);
    if (sse->line->len + sse->text->len > EVENT_BYTES) {
      sse->refused = TRUE;
      break;
    }
    if (stop < end) {
      sse->after_cr = *stop == '\r';
      sse_end_line (sse);
      stop++;
    }
    bytes = stop;
  }
  return !sse->refused;
}

gboolean
sse_end (struct sse *sse)
{
  if (sse->line->len > 0 && !sse->refused)
    sse_end_line (sse);
  if (!sse->refused)
    end_event (sse);
  return !sse->refused;
}
