/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/terminal_text.h"

#include <string.h>
#include <unistd.h>

#include "common/text.h"

static void
write_harmless (const char *text, gssize length, FILE *stream, gboolean redraws)
{
  g_autofree char *valid = g_utf8_make_valid (text, length);
  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (text_is_control (c) && c != '\n' && c != '\t' && !(redraws && c == '\r'))
      fprintf (stream, "<U+%04X>", c);
    else
      (void)fwrite (at, 1, (gsize)(g_utf8_next_char (at) - at), stream);
  }
}

void
terminal_text_write (const char *text, gssize length, FILE *stream)
{
  write_harmless (text, length, stream, FALSE);
}

void
terminal_text_write_path (const char *path, FILE *stream)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL);
  gboolean terminal = isatty (fileno (stream)) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
  g_autofree char *uri = terminal ? g_filename_to_uri (whole, g_get_host_name (), NULL) : NULL;
  if (uri)
    fprintf (stream, "\033]8;;%s\033\\", uri);
  terminal_text_write (path, -1, stream);
  if (uri)
    fputs ("\033]8;;\033\\", stream);
}

/* How many of LENGTH bytes at the end of TEXT begin a character that is not whole. */
static gsize
broken_tail (const char *text, gsize length)
{
  for (gsize back = 1; back <= MIN (length, 3); back++) {
    guchar byte = (guchar)text[length - back];
    gsize needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if ((byte & 0xc0) != 0x80)
      return needs > back ? back : 0;
  }
  return 0;
}

void
terminal_text_add (struct terminal_text *text, const char *piece, gsize length)
{
  g_autoptr (GString) whole = g_string_new_len (text->held, (gssize)text->held_bytes);
  g_string_append_len (whole, piece, (gssize)length);
  text->held_bytes = broken_tail (whole->str, whole->len);
  gsize ready = whole->len - text->held_bytes;
  memcpy (text->held, whole->str + ready, text->held_bytes);
  if (ready == 0)
    return;
  write_harmless (whole->str, (gssize)ready, text->stream, text->redraws);
  text->last = whole->str[ready - 1];
  fflush (text->stream);
}

void
terminal_text_end (struct terminal_text *text)
{
  if (text->last != '\0' && text->last != '\n')
    fputc ('\n', text->stream);
  text->held_bytes = 0;
  text->last = '\0';
  fflush (text->stream);
}
