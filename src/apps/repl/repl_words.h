/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: what the session offers (variables, attributes, modules), common words of Python, and the
 * commands. */
#pragma once

#include <glib.h>

/* Fits editor_complete_f; DATA is the struct repl. */
GStrv repl_words_complete (gpointer data, const char *before, gsize *ret_length);
