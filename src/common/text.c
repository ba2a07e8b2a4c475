/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text.h"

#include <string.h>

gboolean
text_is_control (gunichar c)
{
  static const struct {
    gunichar from, to;
  } ranges[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
      {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (c >= ranges[i].from && c <= ranges[i].to)
      return TRUE;
  return FALSE;
}

char *
text_one_line (const char *text, gssize most)
{
  gsize length = most < 0 ? strlen (text) : strnlen (text, (gsize)most);
  g_autofree char *valid = g_utf8_make_valid (text, (gssize)length);
  GString *line = g_string_sized_new (length);
  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (text_is_control (c))
      g_string_append_printf (line, c <= 0xff ? "\\x%02x" : "\\u%04x", c);
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
  if (width >= G_N_ELEMENTS (row))
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
  if (steps < guess->least && steps < strlen (candidate))
    *guess = (struct text_guess){candidate, steps};
}

char *
text_time (gint64 time_us)
{
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (time_us / G_USEC_PER_SEC);
  g_autofree char *text = g_date_time_format (seconds, "%Y-%m-%dT%H:%M:%S");
  return g_strdup_printf ("%s.%03dZ", text, (int)(time_us % G_USEC_PER_SEC / 1000));
}
