/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files, from anywhere: made safe as a file's name, a part of a URL and a word in a message. */
#pragma once

#include <glib.h>

#define FILE_NAME_BYTES 255 /* the maximum length of a sanitized name, that of a file name */

/* NAME as a file's: its last part alone, UTF-8, without characters that text_is_control knows, surrounding
 * blanks, or a beginning that makes it an option or hidden; a name that is too long loses the end of its
 * stem. Never empty. The caller's. */
char *file_name_clean (const char *name);

/* NAME, a sanitized one, in at most MOST bytes (32 or more). The caller's. */
char *file_name_shorten (const char *name, gsize most);

/* The name of a table in the file NAME: "sales" of "sales.csv" and of "sales.csv.gz". The caller's. */
char *file_name_stem (const char *name);
