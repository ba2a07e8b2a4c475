/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal behind a standard stream can show. */
#pragma once

#include <glib.h>
#include <stdio.h>

enum cli_colour { CLI_PLAIN, CLI_RED, CLI_YELLOW, CLI_GREEN, CLI_DIM };
/* The escape sequence for COLOUR on STREAM (CLI_PLAIN: back to normal); "" when STREAM is no terminal,
 * NO_COLOR is set, or the terminal is dumb. */
const char *cli_colour (FILE *stream, enum cli_colour colour);

/* Whether STREAM is a terminal that can rewrite a line; a dumb one cannot. */
gboolean cli_is_screen (FILE *stream);

/* The width of the terminal STREAM in columns; 0: it is none, or unknown. */
guint cli_width (FILE *stream);

/* The width of TEXT, valid UTF-8 without control characters, in columns; and how many bytes of it fit into
 * COLUMNS. */
guint cli_text_columns (const char *text);
gsize cli_text_fit (const char *text, guint columns);

/* TEXT and a line break, on STREAM, whose cursor is at column INDENT. On a terminal it is wrapped, and goes
 * on at INDENT; elsewhere it is one line, as for grep. */
void cli_write_wrapped (FILE *stream, guint indent, const char *text);

/* Says on standard error that there are no THINGS ("sessions"), and that COMMAND makes one (may be NULL). */
void cli_say_none (const char *things, const char *command);

/* A line on standard output; text from a remote daemon cannot drive the terminal. */
void cli_print_line (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* The same on STREAM, and as a part of a line. */
void cli_write_line (FILE *stream, const char *format, ...) G_GNUC_PRINTF (2, 3);
void cli_write_part (FILE *stream, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Such a line of LABEL, dim and WIDTH wide, and TEXT. */
void cli_print_labelled (int width, const char *label, const char *text);
