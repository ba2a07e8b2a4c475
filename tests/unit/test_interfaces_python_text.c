/* SPDX-License-Identifier: Apache-2.0 */
/* Code for the eyes of people: its tokens, and rows that are nothing but code. */
#include <string.h>

#include "interfaces/cli/view/python_text.h"
#include "suite.h"

/* The kinds of the tokens of CODE that are more than plain, a letter each; no byte may be lost. */
static char *
kinds_of (const char *code)
{
  static const char letters[] = {
      [PYTHON_PLAIN] = '.',  [PYTHON_NAME] = 'n',    [PYTHON_KEYWORD] = 'k',
      [PYTHON_STRING] = 's', [PYTHON_COMMENT] = 'c', [PYTHON_NUMBER] = '1',
  };
  g_autoptr (GString) kinds = g_string_new (NULL);
  g_autoptr (GString) whole = g_string_new (NULL);
  struct python_token token;
  for (const char *at = code; python_next_token (&at, &token);) {
    g_assert_cmpuint (token.length, >, 0);
    g_string_append_len (whole, token.start, (gssize)token.length);
    if (token.kind != PYTHON_PLAIN)
      g_string_append_c (kinds, letters[token.kind]);
  }
  g_assert_cmpstr (whole->str, ==, code);
  return g_strdup (kinds->str);
}

static void
test_tokens (void)
{
  static const struct {
    const char *code, *kinds;
  } rows[] = {
      {"", ""},
      {"import os  # why", "knc"},
      {"x = 'a' + \"b\"", "nss"},
      {"rb'x' Rf\"y\" t'z' spam'w'", "sssns"},
      {"'''a\n'b'\n''' + c", "sn"},
      {"'\\'' + 'b'", "ss"},
      {"'open\nx", "sn"},
      {"\"\"\"open\nx", "s"},
      {"'\\", "s"},
      {"1e-5 + 0xFF + .5 + 1_000", "1111"},
      {"# a\rimport os", "ckn"},
      {"forth for", "nk"},
      {"\xd1\x80 = 1", "n1"},
      {"\x01\x02#", "c"},
      {"f'{x}'#'", "sc"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *kinds = kinds_of (rows[i].code);
    g_assert_cmpstr (kinds, ==, rows[i].kinds);
  }
}

static char *
written (const char *code, guint width, guint most, struct python_shown *ret_shown)
{
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream (&text, &size);
  const struct python_text how = {.width = width, .most_lines = most};
  *ret_shown = python_text_write (code, &how, stream);
  fclose (stream);
  char *copy = g_strdup (text);
  free (text);
  return copy;
}

static void
test_rows (void)
{
  static const struct {
    const char *code, *shown;
    guint strange, foreign;
  } rows[] = {
      {"a\n", "   1 | a\n", 0, 0},
      {"a\n\nb", "   1 | a\n   2 | \n   3 | b\n", 0, 0},
      {"a\r\nb", "   1 | a\n   2 | b\n", 0, 0},
      {"a\rb", "   1 | a<U+000D>\n   2 | b\n", 1, 0},
      {"\tx", "   1 |         x\n", 0, 0},
      {"ab\tx", "   1 | ab      x\n", 0, 0},
      {"\x1b[2J", "   1 | <U+001B>[2J\n", 1, 0},
      {"# \xe2\x80\xae", "   1 | # <U+202E>\n", 1, 0},
      {"\xc2\x9b", "   1 | <U+009B>\n", 1, 1},
      {"# \xe2\x80\xa8", "   1 | # <U+2028>\n", 1, 0},
      {"# \xc2\xa0", "   1 | # <U+00A0>\n", 1, 0},
      {"# \xf3\xa0\x81\x81", "   1 | # <U+E0041>\n", 1, 0},
      {"\xe3\x85\xa4 = 1", "   1 | <U+3164> = 1\n", 1, 1},
      {"# \xe2\xa0\x80\xe2\x9c\x88\xef\xb8\x8f", "   1 | # <U+2800>\xe2\x9c\x88<U+FE0F>\n", 2, 0},
      {"# a\xcc\x81\xcc\x81\xcc\x81", "   1 | # a\xcc\x81\xcc\x81<U+0301>\n", 1, 0},
      {"# \xc3\xa9", "   1 | # \xc3\xa9\n", 0, 0},
      {"\xd1\x80", "   1 | \xd1\x80\n", 0, 1},
      {"1234567890123456789012345678901234567890",
       "   1 | 12345678901234567890123456789012\n   > | 34567890\n", 0, 0},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    struct python_shown shown;
    g_autofree char *text = written (rows[i].code, 40, 0, &shown);
    g_assert_cmpstr (text, ==, rows[i].shown);
    g_assert_cmpuint (shown.strange, ==, rows[i].strange);
    g_assert_cmpuint (shown.foreign, ==, rows[i].foreign);
  }
}

static void
test_parts (void)
{
  struct python_shown shown;
  g_autofree char *text = written ("1\n2\n3\n4\n5\n6\n7", 80, 3, &shown);
  g_assert_cmpuint (shown.rows_hidden, ==, 4);
  g_assert_cmpstr (text, ==, "   1 | 1\n   2 | 2\n ... | 4 rows are not shown here\n   7 | 7\n");
}

static void
test_plain (void)
{
  g_autofree char *text = python_text_plain ("a\n\x1b[1mb\xff\xe2\x80\xae");
  g_assert_cmpstr (text, ==, "a<U+000A><U+001B>[1mb\xef\xbf\xbd<U+202E>");
}

UNIT_SUITE (interfaces_python_text)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/python-text/tokens", test_tokens);
  g_test_add_func ("/python-text/rows", test_rows);
  g_test_add_func ("/python-text/parts", test_parts);
  g_test_add_func ("/python-text/plain", test_plain);
  return g_test_run ();
}
