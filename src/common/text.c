/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text.h"

#include <string.h>

/* In order. Beside what Unicode calls default ignorable code points, these are all controls, characters that
 * are blank though they are letters or signs, and spaces that look like the ordinary one. */
static const struct hidden {
  gunichar from, to;
  gboolean spells; /* languages or emoji are written with it */
} hidden[] = {
    {0x0000, 0x001f, FALSE},   {0x007f, 0x009f, FALSE},
    {0x00a0, 0x00a0, TRUE},  /* a space */
    {0x00ad, 0x00ad, FALSE}, /* the soft hyphen */
    {0x034f, 0x034f, FALSE},   {0x061c, 0x061c, FALSE},
    {0x115f, 0x1160, FALSE}, /* fillers of Hangul, which are letters */
    {0x1680, 0x1680, TRUE},    {0x17b4, 0x17b5, FALSE},
    {0x180b, 0x180f, TRUE},                            /* Mongolian variants */
    {0x2000, 0x200a, TRUE},                            /* spaces */
    {0x200b, 0x200b, FALSE},   {0x200c, 0x200d, TRUE}, /* joiners */
    {0x200e, 0x200f, FALSE},   {0x2028, 0x202e, FALSE},
    {0x202f, 0x202f, TRUE},    {0x205f, 0x205f, TRUE},
    {0x2060, 0x206f, FALSE},   {0x2800, 0x2800, FALSE}, /* Braille without a dot */
    {0x3000, 0x3000, TRUE},                             /* the space of Chinese and Japanese */
    {0x3164, 0x3164, FALSE},   {0xfe00, 0xfe0d, FALSE},
    {0xfe0e, 0xfe0f, TRUE}, /* an emoji as text, as a picture */
    {0xfeff, 0xfeff, FALSE},   {0xffa0, 0xffa0, FALSE},
    {0xfff0, 0xfffb, FALSE},   {0x13430, 0x1345f, FALSE},
    {0x16fe4, 0x16fe4, FALSE}, {0x1bca0, 0x1bca3, FALSE},
    {0x1d159, 0x1d159, FALSE}, {0x1d173, 0x1d17a, FALSE},
    {0xe0000, 0xe0fff, FALSE}, /* tags, more variants, and what is reserved for such */
};

/* NULL: C is seen. */
static const struct hidden *
find_hidden (gunichar c)
{
  gsize low = 0, high = G_N_ELEMENTS (hidden);
  while (low < high) {
    gsize middle = (low + high) / 2;
    if (c > hidden[middle].to)
      low = middle + 1;
    else
      high = middle;
  }
  return low < G_N_ELEMENTS (hidden) && c >= hidden[low].from ? &hidden[low] : NULL;
}

gboolean
text_is_hidden (gunichar c)
{
  return find_hidden (c) != NULL;
}

gboolean
text_is_control (gunichar c)
{
  const struct hidden *found = find_hidden (c);
  return found && !found->spells;
}

char *
text_one_line (const char *text, gssize most)
{
  gsize length = most < 0 ? strlen (text) : strnlen (text, (gsize)most);
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)length);
  GString *line = g_string_sized_new (length);
  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (text_is_hidden (c))
      g_string_append_printf (line, c <= 0xff ? "\\x%02x" : c <= 0xffff ? "\\u%04x" : "\\U%08x", c);
    else
      g_string_append_unichar (line, c);
  }
  return g_string_free (line, FALSE);
}

/* The number of single-letter changes between two short words (Levenshtein), one row of the matrix at a time.
 */
#define HIDDEN "***"

char *
text_without_password (const char *url)
{
  const char *scheme = strstr (url, "://");
  const char *rest = scheme ? scheme + strlen ("://") : url;
  gsize authority = strcspn (rest, "/?#");
  const char *at = g_strrstr_len (rest, (gssize)authority, "@");
  if (scheme && !at) { /* perhaps behind a password with a / or ? in it, which should be %2F or %3F */
    const char *parameter = strstr (rest, "password=");
    at = g_strrstr_len (rest, parameter ? parameter - rest : -1, "@");
  }
  const char *colon = at ? memchr (rest, ':', (gsize)(at - rest)) : NULL;
  GString *shown = g_string_new_len (url, colon ? colon + 1 - url : rest - url);
  const char *tail = colon ? at : rest;
  if (colon)
    g_string_append (shown, HIDDEN);
  for (const char *parameter; (parameter = strstr (tail, "password="));) {
    const char *value = parameter + strlen ("password=");
    g_string_append_len (shown, tail, value - tail);
    g_string_append (shown, HIDDEN);
    tail = value + strcspn (value, "&#");
  }
  g_string_append (shown, tail);
  return g_string_free (shown, FALSE);
}

static guint
distance (const char *left, const char *right)
{
  guint row[33];
  gsize width = strlen (right);
  /* A word twice as long is at least WIDTH away, and no guess then; it may have megabytes. */
  if (width >= G_N_ELEMENTS (row) || strnlen (left, 2 * width) == 2 * width)
    return G_MAXUINT;
  for (guint i = 0; i <= width; i++)
    row[i] = i;
  for (guint i = 1; left[i - 1] != '\0'; i++) {
    guint diagonal = row[0];
    row[0] = i;
    for (guint j = 1; j <= width; j++) {
      guint change = diagonal + (left[i - 1] != right[j - 1]);
      diagonal = row[j];
      row[j] = MIN (change, MIN (row[j], row[j - 1]) + 1);
    }
  }
  return row[width];
}

void
text_consider (struct text_guess *guess, const char *word, const char *candidate)
{
  guint steps = distance (word, candidate);
  if (steps < guess->least && steps <= MIN (strlen (word), strlen (candidate)) / 2)
    *guess = (struct text_guess){candidate, steps};
}

char *
text_beginning (const char *text, gsize length, gsize most)
{
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)MIN (length, most * 4));
  return g_utf8_substring (valid, 0, MIN (g_utf8_strlen (valid, -1), (glong)most));
}

char *
text_time (gint64 time_us)
{
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (time_us / G_USEC_PER_SEC);
  g_autofree char *text = g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S");
  return g_strdup_printf ("%s.%03dZ", text, (int)(time_us % G_USEC_PER_SEC / 1000));
}
