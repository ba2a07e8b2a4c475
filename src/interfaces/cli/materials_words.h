/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `adder search` and `adder data collect` that select materials. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* As they were typed. */
struct materials_words {
  char *elements, *formula, *nsites, *filter, *providers, *timeout;
  int limit;
};
void materials_words_clear (struct materials_words *words);

/* Their entries, then COUNT of OWN, which ends them. The array is the caller's (g_free). */
GOptionEntry *materials_words_entries (struct materials_words *words, const GOptionEntry *own, gsize count);

/* The tool arguments for them (tools/materials_call.h). The caller's; NULL with ERROR. */
json_t *materials_words_arguments (const struct materials_words *words, GError **error);
