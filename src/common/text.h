/* SPDX-License-Identifier: Apache-2.0 */
/* Text from elsewhere, made safe for a message. */
#pragma once

#include <glib.h>

/* Whether C is deceptive: it ends a line, drives a terminal, changes the direction of the text that follows,
 * has no width, or is blank and not the ordinary space. Where somebody decides by what they see, none of them
 * is shown as it is. One table in text.c lists them. */
gboolean text_is_hidden (gunichar c);

/* The same without those needed for languages and emoji: other spaces, joiners, the usual variation
 * selectors. Prose and names of files may have those. */
gboolean text_is_control (gunichar c);

/* At most MOST bytes of TEXT (-1: all of it) as one line: invalid UTF-8 is replaced, and hidden characters
 * are written as \x1b, \u202e or \U000e0041, so that an untrusted name can neither begin a line of its own
 * nor drive a terminal, reverse the words after it or look like another one. The caller's. */
char *text_one_line (const char *text, gssize most);

/* The beginning of TEXT, of LENGTH bytes, which need not be UTF-8: at most MOST characters. The caller's. */
char *text_beginning (const char *text, gsize length, gsize most);

/* URL with "***" instead of its password, if any, before its host or as the parameter "password". The
 * caller's. */
char *text_without_password (const char *url);

/* What a mistyped word was meant to be: the nearest of the candidates so far, with two single-letter changes
 * at most, and at most half as many as either word is long, or NULL. */
struct text_guess {
  const char *best;
  guint least;
};
#define TEXT_GUESS_NONE                                                                                      \
  {                                                                                                          \
    NULL, 3                                                                                                  \
  }
void text_consider (struct text_guess *guess, const char *word, const char *candidate);

/* The moment TIME_US of g_get_real_time in UTC, with milliseconds: "2026-11-22T05:09:51.123Z". The caller's.
 */
char *text_time (gint64 time_us);
