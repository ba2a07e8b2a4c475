/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer of Python just good enough for colours, and the rows that a terminal shows. */
#include "interfaces/cli/view/python_text.h"

#include <string.h>

#include "common/text.h"

#define TAB_COLUMNS   8
#define GUTTER        7 /* "%4u | " and its like */
#define WIDTH_MIN     40
#define MARKS_MAX     2 /* combining marks on one letter */
#define HEAD_OF_THREE 2 /* of rows that are not all shown, so many thirds are the first */

/* ---- tokens ---- */

static const char *const keywords[] = {
    "False",  "None",     "True",   "and", "as",    "assert", "async",  "await",    "break", "case",
    "class",  "continue", "def",    "del", "elif",  "else",   "except", "finally",  "for",   "from",
    "global", "if",       "import", "in",  "is",    "lambda", "match",  "nonlocal", "not",   "or",
    "pass",   "raise",    "return", "try", "while", "with",   "yield",
};

static gboolean
is_keyword (const char *start, gsize length)
{
  for (gsize i = 0; i < G_N_ELEMENTS (keywords); i++)
    if (strlen (keywords[i]) == length && memcmp (keywords[i], start, length) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_name_byte (char c)
{
  return g_ascii_isalnum (c) || c == '_' || (c & 0x80);
}

/* Python ends a line at a lone carriage return as well. */
static gboolean
is_end_of_line (char c)
{
  return c == '\n' || c == '\r';
}

/* Behind the string that begins with the quote at AT. */
static const char *
end_of_string (const char *at)
{
  char quote = *at;
  gboolean triple = at[1] == quote && at[2] == quote;
  for (at += triple ? 3 : 1; *at != '\0'; at++) {
    if (*at == '\\' && at[1] != '\0')
      at++;
    else if (!triple && is_end_of_line (*at))
      return at;
    else if (*at == quote && (!triple || (at[1] == quote && at[2] == quote)))
      return at + (triple ? 3 : 1);
  }
  return at;
}

/* Whether the LENGTH letters at START are a prefix of strings: r, b, f, t, u, rb, Rf ... */
static gboolean
python_text_is_prefix (const char *start, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!strchr ("rRbBfFtTuU", start[i]))
      return FALSE;
  return length <= 2;
}

static const char *
end_of_number (const char *at)
{
  while (g_ascii_isalnum (*at) || *at == '_' || *at == '.' ||
         ((*at == '+' || *at == '-') && (at[-1] == 'e' || at[-1] == 'E')))
    at++;
  return at;
}

gboolean
python_next_token (const char **at, struct python_token *ret_token)
{
  const char *start = *at, *end = start;
  enum python_kind kind = PYTHON_PLAIN;
  if (*start == '\0')
    return FALSE;
  if (*start == '#') {
    kind = PYTHON_COMMENT;
    while (*end != '\0' && !is_end_of_line (*end))
      end++;
  } else if (*start == '"' || *start == '\'') {
    kind = PYTHON_STRING;
    end = end_of_string (start);
  } else if (g_ascii_isdigit (*start) || (*start == '.' && g_ascii_isdigit (start[1]))) {
    kind = PYTHON_NUMBER;
    end = end_of_number (start + 1);
  } else if (is_name_byte (*start)) {
    while (is_name_byte (*end))
      end++;
    gsize length = (gsize)(end - start);
    kind = is_keyword (start, length) ? PYTHON_KEYWORD : PYTHON_NAME;
    if ((*end == '"' || *end == '\'') && python_text_is_prefix (start, length)) {
      kind = PYTHON_STRING;
      end = end_of_string (end);
    }
  } else
    end++;
  *ret_token = (struct python_token){kind, start, (gsize)(end - start)};
  *at = end;
  return TRUE;
}

/* ---- characters ---- */

/* Characters that a terminal would not show as one visible thing in its place. */
static gboolean
is_strange (gunichar c)
{
  switch (g_unichar_type (c)) {
  case G_UNICODE_FORMAT:
  case G_UNICODE_UNASSIGNED:
  case G_UNICODE_PRIVATE_USE:
  case G_UNICODE_SURROGATE:
    return TRUE;
  default:
    return text_is_hidden (c);
  }
}

static void
append_strange (GString *text, gunichar c)
{
  g_string_append_printf (text, "<U+%04X>", c);
}

char *
python_text_plain (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *plain = g_string_new (NULL);
  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (is_strange (c) || g_unichar_ismark (c))
      append_strange (plain, c);
    else
      g_string_append_unichar (plain, c);
  }
  return g_string_free (plain, FALSE);
}

/* ---- rows ---- */

enum look { LOOK_PLAIN, LOOK_STRANGE = PYTHON_NUMBER + 1, LOOK_GUTTER };

static const char *const looks[] = {
    [LOOK_PLAIN] = "\033[0m",       [PYTHON_KEYWORD] = "\033[0;35m", [PYTHON_STRING] = "\033[0;32m",
    [PYTHON_COMMENT] = "\033[0;2m", [PYTHON_NUMBER] = "\033[0;36m",  [LOOK_STRANGE] = "\033[0;30;43m",
    [LOOK_GUTTER] = "\033[0;2m",
};

struct rows {
  const struct python_text *how;
  struct python_shown shown;
  GPtrArray *done; /* texts */
  GString *row;
  guint room, column, line, marks;
  int look;
};

static void
set_look (struct rows *rows, int look)
{
  if (rows->how->colour && rows->look != look)
    g_string_append (rows->row, looks[look]);
  rows->look = look;
}

static void
end_row (struct rows *rows)
{
  set_look (rows, LOOK_PLAIN);
  g_ptr_array_add (rows->done, g_string_free (rows->row, FALSE));
  rows->row = NULL;
}

/* NUMBER 0: a continuation of the line. */
static void
begin_row (struct rows *rows, guint number)
{
  rows->row = g_string_new (NULL);
  rows->column = 0;
  rows->look = LOOK_PLAIN;
  set_look (rows, LOOK_GUTTER);
  if (number > 0)
    g_string_append_printf (rows->row, "%4u | ", number);
  else
    g_string_append (rows->row, "   > | ");
  set_look (rows, LOOK_PLAIN);
}

/* TEXT, COLUMNS wide, in one piece: on a row of its own if it does not fit. */
static void
python_text_put (struct rows *rows, int look, const char *text, guint columns)
{
  if (rows->column + columns > rows->room) {
    end_row (rows);
    begin_row (rows, 0);
  }
  set_look (rows, look);
  g_string_append (rows->row, text);
  rows->column += columns;
}

static void
put_strange (struct rows *rows, gunichar c)
{
  g_autoptr (GString) text = g_string_new (NULL);
  append_strange (text, c);
  rows->shown.strange++;
  python_text_put (rows, LOOK_STRANGE, text->str, (guint)text->len);
}

static void
python_text_put_character (struct rows *rows, int look, gunichar c)
{
  char text[7] = {0};
  gboolean mark = g_unichar_ismark (c);
  rows->marks = mark ? rows->marks + 1 : 0;
  if (is_strange (c) || rows->marks > MARKS_MAX || (mark && rows->column == 0)) {
    put_strange (rows, c);
    return;
  }
  g_unichar_to_utf8 (c, text);
  /* Terminals differ in how wide some are: the widest is assumed. */
  python_text_put (rows, look, text, mark ? 0 : g_unichar_iswide_cjk (c) ? 2 : 1);
}

static void
put_tab (struct rows *rows, int look)
{
  do
    python_text_put (rows, look, " ", 1);
  while (rows->column % TAB_COLUMNS != 0);
}

static void
put_token (struct rows *rows, const struct python_token *token)
{
  const char *end = token->start + token->length;
  gboolean foreign = FALSE;
  for (const char *at = token->start; token->kind == PYTHON_NAME && at < end; at++)
    foreign |= (*at & 0x80) != 0;
  rows->shown.foreign += foreign;
  int look = foreign ? LOOK_STRANGE : token->kind == PYTHON_NAME ? LOOK_PLAIN : (int)token->kind;
  for (const char *at = token->start; at < end; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    if (c == '\t')
      put_tab (rows, look);
    else if (c == '\r' && at[1] == '\n')
      continue;
    else if (c == '\n' || c == '\r') {
      if (c == '\r')
        put_strange (rows, c);
      end_row (rows);
      begin_row (rows, ++rows->line);
    } else
      python_text_put_character (rows, look, c);
  }
}

/* ---- the whole ---- */

static void
python_text_write_rows (GPtrArray *done, guint from, guint to, FILE *stream)
{
  for (guint i = from; i < to; i++)
    fprintf (stream, "%s\n", (const char *)done->pdata[i]);
}

struct python_shown
python_text_write (const char *code, const struct python_text *how, FILE *stream)
{
  struct rows rows = {.how = how, .done = g_ptr_array_new_with_free_func (g_free), .line = 1};
  struct python_token token;
  gsize length = strlen (code);
  /* The end of the last line is no line. */
  g_autofree char *text = g_strndup (code, length > 0 && code[length - 1] == '\n' ? length - 1 : length);
  rows.room = MAX (how->width, WIDTH_MIN) - GUTTER - 1;
  begin_row (&rows, rows.line);
  for (const char *at = text; python_next_token (&at, &token);)
    put_token (&rows, &token);
  end_row (&rows);

  guint count = rows.done->len, most = how->most_lines;
  if (most == 0 || count <= most)
    python_text_write_rows (rows.done, 0, count, stream);
  else {
    guint head = most * HEAD_OF_THREE / 3;
    rows.shown.rows_hidden = count - most;
    python_text_write_rows (rows.done, 0, head, stream);
    fprintf (stream, "%s ... | %u rows are not shown here%s\n", how->colour ? looks[LOOK_STRANGE] : "",
             count - most, how->colour ? looks[LOOK_PLAIN] : "");
    python_text_write_rows (rows.done, count - (most - head), count, stream);
  }
  g_ptr_array_unref (rows.done);
  return rows.shown;
}
