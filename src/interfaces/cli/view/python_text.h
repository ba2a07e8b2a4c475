/* SPDX-License-Identifier: Apache-2.0 */
/* Python code for the eyes of who has to say yes to it: coloured, and such that it cannot look like anything
 * but code. Whoever wrote it may be hostile: it shall neither drive the terminal nor fake a question of ours.
 *
 * Every line stands behind a gutter with its number, also where a long one goes on; characters that move the
 * cursor, that change the direction of text or that nobody sees are written as <U+202E>; letters outside
 * ASCII in names, which may look like others, are marked. */
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

/* The token at *AT, which is moved behind it; FALSE at the end. What is no Python still comes apart somehow,
 * and no byte is left out. */
gboolean python_next_token (const char **at, struct python_token *ret_token);

struct python_text {
  guint width; /* of the terminal */
  gboolean colour;
  guint most_lines; /* of rows shown; 0: all */
};

struct python_shown {
  guint rows_hidden; /* those in the middle that MAX_LINES left out */
  guint strange;     /* characters that were written as <U+...> */
  guint foreign;     /* names with letters outside ASCII */
};

/* Writes CODE, UTF-8, to STREAM. */
struct python_shown python_text_write (const char *code, const struct python_text *how, FILE *stream);

/* TEXT with strange characters as above, on one line; the caller's. */
char *python_text_plain (const char *text);
