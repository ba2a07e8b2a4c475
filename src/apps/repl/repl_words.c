/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variables come out of a sandbox: one that is more than letters, digits and "_" is not offered. */
#include "apps/repl/repl_words.h"

#include <string.h>

#include "apps/repl/repl.h"
#include "apps/repl/repl_commands.h"
#include "common/json.h"

static const char *const python_words[] = {
    "assert",   "async",  "await",   "break", "class",     "continue", "def",    "display",    "elif",
    "else",     "except", "finally", "for",   "from",      "global",   "import", "isinstance", "lambda",
    "nonlocal", "pass",   "print",   "raise", "range",     "return",   "sorted", "while",      "with",
    "yield",    "True",   "False",   "None",  "enumerate", NULL,
};

static gboolean
is_word_character (gunichar c)
{
  return c == '_' || g_unichar_isalnum (c);
}

static gboolean
is_word (const char *text)
{
  for (; *text != '\0' && is_word_character (g_utf8_get_char (text)); text = g_utf8_next_char (text))
    ;
  return *text == '\0';
}

/* Where the word at the end of TEXT begins. */
static const char *
word_at_end (const char *text)
{
  const char *start = text + strlen (text);
  while (start > text) {
    const char *before = g_utf8_prev_char (start);
    if (!is_word_character (g_utf8_get_char (before)))
      break;
    start = before;
  }
  return start;
}

static void
offer (GPtrArray *words, const char *start, const char *word)
{
  if (g_str_has_prefix (word, start) && is_word (word[0] == ':' ? word + 1 : word) &&
      !g_ptr_array_find_with_equal_func (words, word, g_str_equal, NULL))
    g_ptr_array_add (words, g_strdup (word));
}

static void
offer_variables (const struct repl *repl, GPtrArray *words, const char *start)
{
  g_autoptr (json_t) answer = repl_call (repl, "session.variables", NULL, NULL);
  gsize i;
  json_t *variable;
  json_array_foreach (json_object_get (answer, "variables"), i, variable)
      offer (words, start, json_member_text (variable, "name"));
}

static gint
by_text (gconstpointer one, gconstpointer other)
{
  return strcmp (*(const char *const *)one, *(const char *const *)other);
}

GStrv
repl_words_complete (gpointer data, const char *before, gsize *ret_length)
{
  if (!g_utf8_validate (before, -1, NULL))
    return g_new0 (char *, 1);
  gboolean command = before[0] == ':' && !strchr (before, ' ');
  const char *start = command ? before : word_at_end (before);
  if (before[strspn (before, " \t")] == '\0')
    return NULL;
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  *ret_length = strlen (start);
  /* What follows a dot is an attribute, which nobody here knows. */
  if (*start != '\0' && (start == before || start[-1] != '.')) {
    g_auto (GStrv) names = command ? repl_commands_names () : g_strdupv ((GStrv)(guintptr)python_words);
    for (gsize i = 0; names[i]; i++)
      offer (words, start, names[i]);
    if (!command)
      offer_variables (data, words, start);
  }
  g_ptr_array_sort (words, by_text);
  g_ptr_array_add (words, NULL);
  return (GStrv)g_ptr_array_steal (words, NULL);
}
