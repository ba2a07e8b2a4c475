/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files, which come from everybody: made such that they can be a file's name, a part of a URL
 * and a word in a message. */
#pragma once

#include <glib.h>

#define FILE_NAME_BYTES 255 /* the most that a cleaned one has: what a file name may have */

/* NAME as a file's: its last part alone, UTF-8, without characters that text_is_control knows, blanks around
 * it, or a beginning that makes it an option or hidden; too long a one loses the end of its stem. Never
 * empty. The caller's. */
char *file_name_clean (const char *name);

/* NAME, a cleaned one, in at most MOST bytes (32 or more). The caller's. */
char *file_name_shorten (const char *name, gsize most);

/* What a table is called that is in the file NAME: "sales" of "sales.csv" and of "sales.csv.gz". The
 * caller's. */
char *file_name_stem (const char *name);
