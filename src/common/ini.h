/* SPDX-License-Identifier: Apache-2.0 */
/* Files of "[group]", "key = value" and comments that begin with "#", read line by line, so that each problem
 * can say where it is. A value is the rest of its line: there are no escapes, translations or values of
 * several lines. */
#pragma once

#include <glib.h>

#define INI_FILE_BYTES   (256 * 1024)
#define INI_LINES_MAX    10000
#define INI_PROBLEMS_MAX 100 /* more are not reported */

/* A line with content. */
struct ini_line {
  guint number;
  const char *group;
  const char *key, *value; /* NULL: the line begins GROUP */
};

struct ini {
  GPtrArray *lines; /* of struct ini_line. A key may occur once in a group; a group may begin several times */
  GPtrArray *problems; /* of struct ini_problem: malformed lines, and later complaints */
  char **text;
};

struct ini_problem {
  guint line;        /* 0: of the file as a whole */
  char *group, *key; /* or NULL */
  char *what;
};

/* LENGTH bytes of TEXT, followed by a zero byte. */
struct ini *ini_read_text (const char *text, gsize length);
/* The same for a file, which WHAT ("the profile") names in the error. NULL with ERROR: it is unreadable, not
 * a file, or longer than INI_FILE_BYTES; ADDER_ERROR_NOT_FOUND when it is missing. */
struct ini *ini_read_file (const char *what, const char *file, GError **error);
void ini_free (struct ini *ini); /* NULL: nothing */

/* The number of the line where KEY (NULL: the first KEY or beginning) of GROUP stands; 0: none. */
guint ini_line_of (const struct ini *ini, const char *group, const char *key);

/* Adds a problem; GROUP and KEY may be NULL. */
void ini_complain (struct ini *ini, guint line, const char *group, const char *key, const char *format, ...)
    G_GNUC_PRINTF (5, 6);

/* "FILE:LINE: [group] key: what", as one line. The caller's. */
char *ini_problem_text (const char *file, const struct ini_problem *problem);

/* The first lines first. */
void ini_sort_problems (struct ini *ini);

/* Sets ERROR to ADDER_ERROR_INVALID with some of PROBLEMS of FILE, of which there must be one, and the number
 * of further ones. */
void ini_fail (const GPtrArray *problems, const char *file, GError **error);
