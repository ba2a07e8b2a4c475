/* SPDX-License-Identifier: Apache-2.0 */
/* Names come out of a sandbox: one that is more than letters, digits and "_" is not offered. */
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
offer_all (GPtrArray *words, const char *start, const char *const *names)
{
  for (gsize i = 0; names[i]; i++)
    offer (words, start, names[i]);
}

/* What TEXT, which takes the place of BEFORE from its byte FROM on, puts at the byte WORD; NULL: it does not
 * go on with what has been typed. */
static const char *
match_word (const char *before, gsize from, gsize word, const char *text)
{
  gsize typed = word > from ? word - from : 0;
  return from <= word && strncmp (text, before + from, typed) == 0 ? text + typed : NULL;
}

/* Those of ANSWER (session.complete), for BEFORE, of whose last word START is the beginning. */
static void
offer_matches (const json_t *answer, GPtrArray *words, const char *before, const char *start)
{
  glong cursor = g_utf8_strlen (before, -1);
  json_int_t from = json_integer_value (json_object_get (answer, "start"));
  if (from < 0 || from > cursor || json_integer_value (json_object_get (answer, "end")) != cursor)
    return;
  gsize first = (gsize)(g_utf8_offset_to_pointer (before, (glong)from) - before);
  gsize i;
  json_t *match;
  json_array_foreach (json_object_get (answer, "matches"), i, match)
  {
    const char *word = match_word (before, first, (gsize)(start - before), json_member_text (match, "text"));
    if (word)
      offer (words, start, word);
  }
  /* Those that were left out may not begin as all others do. */
  if (json_is_true (json_object_get (answer, "more")))
    offer (words, start, start);
}

/* What may stand at START, the beginning of the last word of BEFORE. Python's words are the session's too:
 * here are some for while it is at work, or cannot be asked. */
static void
offer_python (const struct repl *repl, GPtrArray *words, const char *before, const char *start)
{
  gboolean attribute = start > before && start[-1] == '.';
  if (!attribute && *start == '\0')
    return;
  json_t *params = json_pack ("{s:s, s:I}", "code", before, "cursor", (json_int_t)g_utf8_strlen (before, -1));
  g_autoptr (json_t) answer = repl_call (repl, "session.complete", params, NULL);
  if (answer && !json_is_true (json_object_get (answer, "busy")))
    offer_matches (answer, words, before, start);
  else if (!attribute)
    offer_all (words, start, python_words);
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
  g_auto (GStrv) names = command ? repl_commands_names () : NULL;
  if (command)
    offer_all (words, start, (const char *const *)names);
  else
    offer_python (data, words, before, start);
  g_ptr_array_sort (words, by_text);
  g_ptr_array_add (words, NULL);
  return (GStrv)g_ptr_array_steal (words, NULL);
}
