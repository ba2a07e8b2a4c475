/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words. */
#include "policy/profile_list.h"

#include <string.h>

#include "adder_types.h"

#define BETWEEN " \t\r\n,;"

static gboolean
profile_list_check_word (const char *word, gsize length, guint count, GError **error)
{
  if (length > PROFILE_LIST_WORD_BYTES) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the word \"%.40s...\" is longer than %d bytes",
                 word, PROFILE_LIST_WORD_BYTES);
    return FALSE;
  }
  if (count >= PROFILE_LIST_MAX) {
    g_set_error (error, ADDER_ERROR, ADDER_ERROR_INVALID, "the list has more than %d words",
                 PROFILE_LIST_MAX);
    return FALSE;
  }
  return TRUE;
}

GStrv
profile_list_parse (const char *value, GError **error)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  for (const char *at = value + strspn (value, BETWEEN); *at; at += strspn (at, BETWEEN)) {
    gsize length = strcspn (at, BETWEEN);
    if (!profile_list_check_word (at, length, words->len, error))
      return NULL;
    g_autofree char *word = g_strndup (at, length);
    if (!g_ptr_array_find_with_equal_func (words, word, g_str_equal, NULL))
      g_ptr_array_add (words, g_steal_pointer (&word));
    at += length;
  }
  g_ptr_array_add (words, NULL);
  return (GStrv)g_ptr_array_free (g_steal_pointer (&words), FALSE);
}
