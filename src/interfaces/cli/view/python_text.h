/* SPDX-License-Identifier: Apache-2.0 */
/* Python code for a person who has to approve it: coloured, and unable to look like anything but code. Its
 * author may be hostile: it must neither drive the terminal nor imitate our questions.
 *
 * Every line has a gutter with its number, even its continuations; characters that move the cursor, change
 * the direction of text or are invisible are written as <U+202E>; letters outside ASCII in names, which may
 * look like others, are marked. */
#pragma once

#include <glib.h>
#include <stdio.h>

enum python_kind {
  PYTHON_PLAIN, /* white space, operators */
  PYTHON_NAME,
  PYTHON_KEYWORD,
  PYTHON_STRING,
  PYTHON_COMMENT,
  PYTHON_NUMBER,
};

struct python_token {
  enum python_kind kind;
  const char *start;
  gsize length;
};

/* The token at *AT, which moves behind it; FALSE at the end. Invalid Python is still split somehow, without
 * dropping a byte. */
gboolean python_next_token (const char **at, struct python_token *ret_token);

struct python_text {
  guint width; /* of the terminal */
  gboolean colour;
  guint most_lines; /* of rows shown; 0: all */
};

struct python_shown {
  guint rows_hidden; /* lines in the middle that MAX_LINES left out */
  guint strange;     /* characters that were written as <U+...> */
  guint foreign;     /* names with letters outside ASCII */
};

/* Writes CODE, UTF-8, to STREAM. */
struct python_shown python_text_write (const char *code, const struct python_text *how, FILE *stream);

/* TEXT with strange characters as above, on one line; the caller's. */
char *python_text_plain (const char *text);
