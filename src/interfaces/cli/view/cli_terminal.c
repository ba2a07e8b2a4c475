/* SPDX-License-Identifier: Apache-2.0 */
#include "interfaces/cli/view/cli_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "common/text.h"

#define WIDTH_MOST 100 /* columns of a text that is wrapped, at a wide terminal */
#define ROOM_LEAST 20  /* columns for such a text; with fewer, the terminal breaks the lines */

const char *
cli_colour (FILE *stream, enum cli_colour colour)
{
  static const char *const sequences[] = {
      [CLI_PLAIN] = "\033[0m",  [CLI_RED] = "\033[31m", [CLI_YELLOW] = "\033[33m",
      [CLI_GREEN] = "\033[32m", [CLI_DIM] = "\033[2m",
  };
  const char *none = g_getenv ("NO_COLOR");
  if ((none && none[0] != '\0') || !cli_is_screen (stream))
    return "";
  return sequences[colour];
}

gboolean
cli_is_screen (FILE *stream)
{
  return isatty (fileno (stream)) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}

guint
cli_width (FILE *stream)
{
  struct winsize size = {0};
  return isatty (fileno (stream)) && ioctl (fileno (stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static guint
character_columns (gunichar c)
{
  return g_unichar_iswide (c) ? 2 : g_unichar_iszerowidth (c) ? 0 : 1;
}

guint
cli_text_columns (const char *text)
{
  guint columns = 0;
  for (; *text != '\0'; text = g_utf8_next_char (text))
    columns += character_columns (g_utf8_get_char (text));
  return columns;
}

gsize
cli_text_fit (const char *text, guint columns)
{
  const char *end = text;
  for (guint used = 0; *end != '\0'; end = g_utf8_next_char (end)) {
    used += character_columns (g_utf8_get_char (end));
    if (used > columns)
      break;
  }
  return (gsize)(end - text);
}

void
cli_write_wrapped (FILE *stream, guint indent, const char *text)
{
  guint width = MIN (cli_width (stream), WIDTH_MOST);
  gsize room = width >= indent + ROOM_LEAST ? width - indent : G_MAXSIZE, used = 0;
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  for (char **word = words; *word; word++) {
    gsize length = cli_text_columns (*word);
    if (used > 0 && used + 1 + length > room) {
      fprintf (stream, "\n%*s", (int)indent, "");
      used = 0;
    }
    used += length + (used > 0);
    fprintf (stream, "%s%s", used > length ? " " : "", *word);
  }
  fprintf (stream, "\n");
}

void
cli_say_none (const char *things, const char *command)
{
  fprintf (stderr, "No %s.%s%s\n", things, command ? " Make one: " : "", command ? command : "");
}

G_GNUC_PRINTF (2, 0)
static void
write_part (FILE *stream, const char *format, va_list arguments)
{
  g_autofree char *part = g_strdup_vprintf (format, arguments);
  g_autofree char *shown = text_one_line (part, -1);
  fputs (shown, stream);
}

void
cli_write_part (FILE *stream, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  write_part (stream, format, arguments);
  va_end (arguments);
}

void
cli_write_line (FILE *stream, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  write_part (stream, format, arguments);
  va_end (arguments);
  fputc ('\n', stream);
}

void
cli_print_line (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  write_part (stdout, format, arguments);
  va_end (arguments);
  putchar ('\n');
}

void
cli_print_labelled (int width, const char *label, const char *text)
{
  printf ("%s%-*s%s ", cli_colour (stdout, CLI_DIM), width, label, cli_colour (stdout, CLI_PLAIN));
  cli_print_line ("%s", text);
}
