/* SPDX-License-Identifier: Apache-2.0 */
/* A line is gathered first, as pieces of one style each, so that it can go to the next message whole. A
 * message that ends closes the style that it is in, and the next one opens it again. */
#include "apps/telegram/pages.h"

#include <string.h>

#include "common/text.h"

enum style { STYLE_PLAIN, STYLE_CODE, STYLE_BLOCK };

static const char *const opening[] = {"", "<code>", "<pre>"}, *const closing[] = {"", "</code>", "</pre>"};

struct piece {
  enum style style;
  char *text;
};

struct pages {
  GPtrArray *done;
  GString *html, *plain; /* of the message under way */
  gsize units;
  enum style style; /* that is open in it */
  GArray *line;     /* struct piece */
};

static void
page_free (gpointer data)
{
  struct page *page = data;
  g_free (page->html);
  g_free (page->plain);
  g_free (page);
}

static void
piece_clear (gpointer data)
{
  g_free (((struct piece *)data)->text);
}

struct pages *
pages_new (void)
{
  struct pages *pages = g_new0 (struct pages, 1);
  pages->done = g_ptr_array_new_with_free_func (page_free);
  pages->html = g_string_new (NULL);
  pages->plain = g_string_new (NULL);
  pages->line = g_array_new (FALSE, FALSE, sizeof (struct piece));
  g_array_set_clear_func (pages->line, piece_clear);
  return pages;
}

void
pages_free (struct pages *pages)
{
  if (!pages)
    return;
  g_ptr_array_unref (pages->done);
  g_string_free (pages->html, TRUE);
  g_string_free (pages->plain, TRUE);
  g_array_unref (pages->line);
  g_free (pages);
}

static gsize
units_of (gunichar character)
{
  return character > 0xffff ? 2 : 1;
}

gsize
pages_units (const char *text)
{
  gsize units = 0;
  for (const char *at = text; *at; at = g_utf8_next_char (at))
    units += units_of (g_utf8_get_char (at));
  return units;
}

/* ---- a message ---- */

static void
go_to_style (struct pages *pages, enum style style)
{
  if (pages->style == style)
    return;
  g_string_append (pages->html, closing[pages->style]);
  g_string_append (pages->html, opening[style]);
  pages->style = style;
}

/* Whether Telegram would find TEXT empty: what nobody can see is nothing to it. */
static gboolean
pages_is_blank (const char *text)
{
  for (const char *at = text; *at; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (!g_unichar_isspace (c) && !g_unichar_iszerowidth (c) && !text_is_control (c))
      return FALSE;
  }
  return TRUE;
}

static void
end_page (struct pages *pages)
{
  enum style style = pages->style;
  go_to_style (pages, STYLE_PLAIN);
  if (!pages_is_blank (pages->plain->str)) {
    struct page *page = g_new (struct page, 1);
    *page = (struct page){g_strdup (pages->html->str), g_strdup (pages->plain->str)};
    g_ptr_array_add (pages->done, page);
  }
  g_string_truncate (pages->html, 0);
  g_string_truncate (pages->plain, 0);
  pages->units = 0;
  go_to_style (pages, style);
}

static void
pages_put_character (struct pages *pages, const char *at, gsize length)
{
  static const struct {
    char character;
    const char *entity;
  } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
  const char *written = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (escapes); i++)
    if (*at == escapes[i].character)
      written = escapes[i].entity;
  g_string_append_len (pages->html, written ? written : at, written ? -1 : (gssize)length);
  g_string_append_len (pages->plain, at, (gssize)length);
}

static void
put_piece (struct pages *pages, const struct piece *piece)
{
  go_to_style (pages, piece->style);
  for (const char *at = piece->text, *next; *at; at = next) {
    gsize units = units_of (g_utf8_get_char (at));
    next = g_utf8_next_char (at);
    if (pages->units + units > PAGE_UNITS)
      end_page (pages);
    pages_put_character (pages, at, (gsize)(next - at));
    pages->units += units;
  }
}

static void
pages_end_line (struct pages *pages)
{
  gsize units = 0;
  for (guint i = 0; i < pages->line->len; i++)
    units += pages_units (g_array_index (pages->line, struct piece, i).text);
  if (pages->units + units > PAGE_UNITS && pages->units > 0) {
    go_to_style (pages, STYLE_PLAIN);
    end_page (pages);
  }
  for (guint i = 0; i < pages->line->len; i++)
    put_piece (pages, &g_array_index (pages->line, struct piece, i));
  g_array_set_size (pages->line, 0);
}

/* ---- what is added ---- */

static void
pages_add (struct pages *pages, enum style style, const char *text, gsize length)
{
  g_autofree char *clean = g_utf8_make_valid (text, (gssize)length);
  for (const char *at = clean; *at;) {
    const char *end = strchr (at, '\n');
    gsize size = end ? (gsize)(end - at) + 1 : strlen (at);
    struct piece piece = {style, g_strndup (at, size)};
    g_array_append_val (pages->line, piece);
    if (end)
      pages_end_line (pages);
    at += size;
  }
}

/* Nothing stands before what comes in its line. */
static void
begin_line (struct pages *pages)
{
  guint count = pages->line->len;
  const struct piece *last = count > 0 ? &g_array_index (pages->line, struct piece, count - 1) : NULL;
  if (last && !g_str_has_suffix (last->text, "\n"))
    pages_add (pages, STYLE_PLAIN, "\n", 1);
}

void
pages_add_text (struct pages *pages, const char *text)
{
  pages_add (pages, STYLE_PLAIN, text, strlen (text));
}

static void
add_block (struct pages *pages, const char *code, gsize length)
{
  while (length > 0 && code[length - 1] == '\n')
    length--;
  begin_line (pages);
  pages_add (pages, STYLE_BLOCK, code, length);
  pages_add (pages, STYLE_PLAIN, "\n", 1);
}

void
pages_add_code (struct pages *pages, const char *code)
{
  add_block (pages, code, strlen (code));
}

/* Code between single backticks, within a line. */
static void
pages_add_line (struct pages *pages, const char *line, gsize length)
{
  const char *end = line + length;
  while (line < end) {
    const char *first = memchr (line, '`', (gsize)(end - line));
    const char *second = first && first + 1 < end ? memchr (first + 1, '`', (gsize)(end - first - 1)) : NULL;
    if (!second || second == first + 1)
      break;
    pages_add (pages, STYLE_PLAIN, line, (gsize)(first - line));
    pages_add (pages, STYLE_CODE, first + 1, (gsize)(second - first - 1));
    line = second + 1;
  }
  pages_add (pages, STYLE_PLAIN, line, (gsize)(end - line));
}

static const char *
after_line (const char *at)
{
  const char *end = strchr (at, '\n');
  return end ? end + 1 : at + strlen (at);
}

void
pages_add_markdown (struct pages *pages, const char *text)
{
  for (const char *at = text; *at;) {
    const char *next = after_line (at);
    if (!g_str_has_prefix (at, "```")) {
      pages_add_line (pages, at, (gsize)(next - at));
      at = next;
      continue;
    }
    const char *end = next;
    while (*end && !g_str_has_prefix (end, "```"))
      end = after_line (end);
    add_block (pages, next, (gsize)(end - next));
    at = *end ? after_line (end) : end;
  }
}

const GPtrArray *
pages_end (struct pages *pages)
{
  pages_end_line (pages);
  end_page (pages);
  return pages->done;
}
