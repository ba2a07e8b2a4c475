/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox's picture is decoded, checked and encoded again, so that the sequences contain nothing else. */
#include "interfaces/cli/view/inline_picture.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interfaces/cli/view/cli_terminal.h"

#define PICTURE_BYTES (4 << 20)
#define SIDE_MAX      8192
#define KITTY_BYTES   4096 /* of base64 in one sequence */
#define CELL_PIXELS   8    /* a column's width, if the terminal does not say */

/* ---- terminals ---- */

enum protocol { PROTOCOL_NONE, PROTOCOL_KITTY, PROTOCOL_ITERM };

static const struct {
  const char *variable, *value; /* NULL: any */
  enum protocol protocol;
} terminals[] = {
    /* A multiplexer in between swallows the sequences, or prints them as text. */
    {"TMUX", NULL, PROTOCOL_NONE},
    {"STY", NULL, PROTOCOL_NONE},
    {"KITTY_WINDOW_ID", NULL, PROTOCOL_KITTY},
    {"TERM", "xterm-kitty", PROTOCOL_KITTY},
    {"TERM", "xterm-ghostty", PROTOCOL_KITTY},
    {"TERM_PROGRAM", "ghostty", PROTOCOL_KITTY},
    {"TERM_PROGRAM", "iTerm.app", PROTOCOL_ITERM},
    {"TERM_PROGRAM", "WezTerm", PROTOCOL_ITERM},
    {"LC_TERMINAL", "iTerm2", PROTOCOL_ITERM}, /* by way of ssh */
};

static enum protocol
terminal_protocol (void)
{
  if (!cli_is_screen (stdout))
    return PROTOCOL_NONE;
  for (gsize i = 0; i < G_N_ELEMENTS (terminals); i++) {
    const char *value = g_getenv (terminals[i].variable);
    if (value && value[0] != '\0' && (!terminals[i].value || strcmp (value, terminals[i].value) == 0))
      return terminals[i].protocol;
  }
  return PROTOCOL_NONE;
}

/* ---- PNG ---- */

static guint32
read_number (const guchar *at)
{
  return (guint32)at[0] << 24 | (guint32)at[1] << 16 | (guint32)at[2] << 8 | at[3];
}

/* Whether DATA is chunks from IHDR to IEND and nothing else. */
static gboolean
is_png (const guchar *data, gsize length, guint32 *ret_width)
{
  static const guchar signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const gsize around = 12; /* of a chunk: length, kind, checksum */
  gsize at = sizeof signature;
  if (length < at + around + 13 || memcmp (data, signature, at) != 0 || read_number (data + at) != 13 ||
      memcmp (data + at + 4, "IHDR", 4) != 0)
    return FALSE;
  guint32 width = read_number (data + at + 8), height = read_number (data + at + 12);
  if (width == 0 || width > SIDE_MAX || height == 0 || height > SIDE_MAX)
    return FALSE;
  *ret_width = width;
  while (length - at >= around) {
    gsize size = read_number (data + at);
    if (size > length - at - around)
      return FALSE;
    gboolean last = memcmp (data + at + 4, "IEND", 4) == 0;
    at += size + around;
    if (last)
      return at == length;
  }
  return FALSE;
}

/* The caller's, or NULL. */
static guchar *
read_png (const json_t *bundle, gsize *ret_length, guint32 *ret_width)
{
  const json_t *text = json_object_get (bundle, "image/png");
  if (!json_is_string (text) || json_string_length (text) > PICTURE_BYTES / 3 * 4 + 4)
    return NULL;
  g_autofree guchar *data = g_base64_decode (json_string_value (text), ret_length);
  return is_png (data, *ret_length, ret_width) ? g_steal_pointer (&data) : NULL;
}

gboolean
inline_picture_fits (const json_t *bundle)
{
  gsize length;
  guint32 width;
  g_autofree guchar *data = terminal_protocol () != PROTOCOL_NONE ? read_png (bundle, &length, &width) : NULL;
  return data != NULL;
}

/* ---- showing ---- */

/* As wide as the terminal, where it is wider. */
static guint
kitty_columns (guint32 width)
{
  struct winsize size = {0};
  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
    return 0;
  guint pixels = size.ws_xpixel > 0 ? size.ws_xpixel : size.ws_col * CELL_PIXELS;
  return width > pixels ? size.ws_col : 0;
}

/* q=2: suppresses the terminal's answer, which would look like typed input. */
static void
show_kitty (const char *text, guint32 width)
{
  guint columns = kitty_columns (width);
  gsize length = strlen (text);
  for (gsize at = 0; at < length; at += KITTY_BYTES) {
    fputs ("\033_G", stdout);
    if (at == 0)
      fputs ("a=T,f=100,q=2,", stdout);
    if (at == 0 && columns > 0)
      printf ("c=%u,", columns);
    printf ("m=%d;%.*s\033\\", at + KITTY_BYTES < length, KITTY_BYTES, text + at);
  }
}

void
inline_picture_show (const json_t *bundle)
{
  gsize length;
  guint32 width;
  enum protocol protocol = terminal_protocol ();
  g_autofree guchar *data = protocol != PROTOCOL_NONE ? read_png (bundle, &length, &width) : NULL;
  if (!data)
    return;
  g_autofree char *text = g_base64_encode (data, length);
  if (protocol == PROTOCOL_KITTY)
    show_kitty (text, width);
  else
    printf ("\033]1337;File=inline=1;size=%" G_GSIZE_FORMAT ":%s\a", length, text);
  putchar ('\n');
  fflush (stdout);
}
