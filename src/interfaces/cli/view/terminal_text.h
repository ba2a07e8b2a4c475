/* SPDX-License-Identifier: Apache-2.0 */
/* Text from a model or a tool, for people: lines stay lines and every language is written as it is, but
 * nothing in it can drive the terminal or change the direction of our own text. */
#pragma once

#include <glib.h>
#include <stdio.h>

/* Writes LENGTH bytes of TEXT (-1: all) to STREAM. The characters above become <U+001B>; invalid UTF-8 is
 * replaced. */
void terminal_text_write (const char *text, gssize length, FILE *stream);

/* The path of a file, at a terminal as a link to it (OSC 8). */
void terminal_text_write_path (const char *path, FILE *stream);

/* Text as above in pieces, which may break in the middle of a character. */
struct terminal_text {
  FILE *stream;
  gboolean redraws; /* a carriage return is written: it returns to the beginning of the text's own line */
  char held[8];
  gsize held_bytes;
  char last; /* that was written; 0: none */
};
void terminal_text_add (struct terminal_text *text, const char *piece, gsize length);
/* Ends the line, where it is not at its end, and begins anew. */
void terminal_text_end (struct terminal_text *text);
