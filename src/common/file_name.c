/* SPDX-License-Identifier: Apache-2.0 */
#include "common/file_name.h"

#include <string.h>

#include "common/text.h"

#define ENDING_BYTES 16 /* a longer one is no ending, but part of the stem */

static gboolean
is_unfit (gunichar c)
{
  return text_is_control (c) || c == '/' || c == '\\';
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

/* Cuts the ending of NAME off, with its dot. */
static void
cut_ending (char *name)
{
  char *dot = strrchr (name, '.');
  if (dot && dot != name)
    *dot = '\0';
}

char *
file_name_stem (const char *name)
{
  char *stem = g_strdup (name);
  gboolean packed = g_str_has_suffix (name, ".gz") || g_str_has_suffix (name, ".zst");
  cut_ending (stem);
  if (packed)
    cut_ending (stem);
  return stem;
}
