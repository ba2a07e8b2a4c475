/* SPDX-License-Identifier: Apache-2.0 */
#include "store/file_name.h"

#include <string.h>

#define ENDING_BYTES 16 /* a longer one is no ending, but part of the stem */

/* Joiners make one sign of several, in names of people as well as in pictures; all other formatting
 * characters only make a name look like another one. */
static gboolean
is_unfit (gunichar c)
{
  if (c == 0x200C || c == 0x200D)
    return FALSE;
  switch (g_unichar_type (c)) {
  case G_UNICODE_CONTROL:
  case G_UNICODE_FORMAT:
  case G_UNICODE_LINE_SEPARATOR:
  case G_UNICODE_PARAGRAPH_SEPARATOR:
    return TRUE;
  default:
    return c == '/' || c == '\\';
  }
}

char *
file_name_shorten (const char *name, gsize most)
{
  gsize length = strlen (name);
  if (length <= most)
    return g_strdup (name);
  const char *dot = strrchr (name, '.');
  const char *ending = dot && strlen (dot) <= ENDING_BYTES ? dot : name + length;
  gsize stem = most - strlen (ending);
  while (stem > 0 && ((guchar)name[stem] & 0xC0) == 0x80)
    stem--;
  return g_strdup_printf ("%.*s%s", (int)stem, name, ending);
}

char *
file_name_clean (const char *name)
{
  const char *slash = strrchr (name, '/');
  g_autofree char *valid = g_utf8_make_valid (slash ? slash + 1 : name, -1);
  g_strstrip (valid);
  g_autoptr (GString) clean = g_string_sized_new (strlen (valid));
  for (const char *at = valid; *at; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    g_string_append_unichar (clean, is_unfit (c) ? '_' : c);
  }
  if (clean->len == 0)
    return g_strdup ("file");
  if (clean->str[0] == '.' || clean->str[0] == '-')
    clean->str[0] = '_';
  return file_name_shorten (clean->str, FILE_NAME_BYTES);
}
