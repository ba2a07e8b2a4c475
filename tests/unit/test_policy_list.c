/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in the values of profiles. */
#include <glib.h>
#include <string.h>

#include "adder.h"
#include "policy/profile_list.h"
#include "suite.h"

static void
assert_words (const char *value, const char *joined)
{
  g_autoptr (GError) problem = NULL;
  g_auto (GStrv) words = profile_list_parse (value, &problem);
  g_assert_no_error (problem);
  g_autofree char *text = g_strjoinv ("|", words);
  g_assert_cmpstr (text, ==, joined);
}

static void
test_words (void)
{
  assert_words ("", "");
  assert_words (" ;, \t", "");
  assert_words ("os", "os");
  assert_words ("os sys", "os|sys");
  assert_words ("  os;sys, subprocess\tpickle ", "os|sys|subprocess|pickle");
  assert_words ("os sys os", "os|sys");
  assert_words ("example.org:443, *.example.org", "example.org:443|*.example.org");
}

static void
test_bounds (void)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *word = g_strnfill (PROFILE_LIST_WORD_BYTES, 'a');
  assert_words (word, word);
  g_autofree char *longer = g_strconcat (word, "a", NULL);
  g_assert_null (profile_list_parse (longer, &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_clear_error (&problem);

  g_autoptr (GString) many = g_string_new (NULL);
  for (int i = 0; i <= PROFILE_LIST_MAX; i++)
    g_string_append_printf (many, "w%d ", i);
  g_assert_null (profile_list_parse (many->str, &problem));
  g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
  g_assert_nonnull (strstr (problem->message, "1000"));
}

UNIT_SUITE (policy_list)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/list/words", test_words);
  g_test_add_func ("/policy/list/bounds", test_bounds);
  return g_test_run ();
}
