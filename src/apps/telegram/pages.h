/* SPDX-License-Identifier: Apache-2.0 */
/* A reply as messages: at most 4,096 units of UTF-16 each once their markup is read, which is what Telegram
 * counts, split at line ends where there are any, and no code block open at the end of one. */
#pragma once

#include <glib.h>

#define PAGE_UNITS 4096
#define PAGES_MAX  10 /* of one reply; the rest goes as a file */

struct page {
  char *html;  /* for parse_mode HTML */
  char *plain; /* the same without markup */
};

struct pages;
struct pages *pages_new (void);
/* NULL is allowed. */
void pages_free (struct pages *pages);

void pages_add_text (struct pages *pages, const char *text);
/* A block of its own. */
void pages_add_code (struct pages *pages, const char *code);
/* Text in which a model marks code by backticks. */
void pages_add_markdown (struct pages *pages, const char *text);

/* The messages, array of struct page; PAGES's. Nothing may be added any more. Blank ones are left out: the
 * array may be empty. */
const GPtrArray *pages_end (struct pages *pages);

/* Units of UTF-16 in TEXT. */
gsize pages_units (const char *text);
