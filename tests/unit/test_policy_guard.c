/* SPDX-License-Identifier: Apache-2.0 */
/* The group [guard] of a profile: rules as the runner gets them, and what is wrong with others. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "adder.h"
#include "policy/profile.h"
#include "suite.h"

static struct profile *
load (const char *rules, GError **error)
{
  g_autofree char *name = g_strdup_printf ("adder-test-guard-%d.conf", g_random_int_range (0, G_MAXINT));
  g_autofree char *file = g_build_filename (g_get_tmp_dir (), name, NULL);
  g_autofree char *text = g_strconcat ("[profile]\ntitle = t\n", rules, NULL);
  g_assert_true (g_file_set_contents (file, text, -1, NULL));
  struct profile *profile = profile_load_file ("mine", file, error);
  g_unlink (file);
  return profile;
}

static void
test_rules (void)
{
  static const struct {
    const char *rules;
    const char *text; /* NULL: there is no guard */
  } cases[] = {
      {"", NULL},
      {"[guard]\n", NULL},
      {"[guard]\nmode = statements\n", NULL},
      {"[guard]\nmode = expression\n", "{\"mode\":\"expression\"}"},
      {"[guard]\nrefused_nodes = Import*\n", "{\"refused_nodes\":\"Import ImportFrom\"}"},
      {"[guard]\nrefused_nodes = While, Try*; With\n", "{\"refused_nodes\":\"Try TryStar While With\"}"},
      /* An empty list is a rule as well: nothing may be imported. */
      {"[guard]\nallowed_imports =\n", "{\"allowed_imports\":\"\"}"},
      {"[guard]\nrefused_names = __* os\n", "{\"refused_names\":\"__* os\"}"},
      {"[guard]\nrefused_attributes = _* !_asdict pd.read_*\n",
       "{\"refused_attributes\":\"_* !_asdict pd.read_*\"}"},
      {"[guard]\nmax_lines = 120\n", "{\"max_lines\":120}"},
      {"[guard]\ntables = true\n", "{\"tables\":true}"},
      {"[guard]\nformat_attributes = allowed\n", "{\"format_attributes\":\"allowed\"}"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_test_message ("%s", cases[i].rules);
    struct profile *profile = load (cases[i].rules, &problem);
    g_assert_no_error (problem);
    g_assert_cmpstr (profile->guard.text, ==, cases[i].text);
    profile_free (profile);
  }
}

static void
test_mistakes (void)
{
  static const struct {
    const char *rules, *words;
  } cases[] = {
      {"[guard]\nmax_lines = 1\nrefused_nodes = Imports\n", ".conf:5: [guard] refused_nodes: "},
      {"[guard]\nrefused_nodes = Imports\n", "no syntax called Imports; did you mean Import?"},
      {"[guard]\nrefused_nodes = Import Nothing*\n", "Nothing*"},
      {"[guard]\nrefused_node = Import\n", "did you mean refused_nodes?"},
      {"[guard]\nrefused_names = \"os\"\n", "neither a name nor a pattern"},
      {"[guard]\nrefused_names = !\n", "neither a name nor a pattern"},
      {"[guard]\nmode = both\n", "both"},
      {"[guard]\nmax_lines = 0\n", "between 1 and 100000"},
      {"[guard]\nmax_depth = 301\n", "between 1 and 300"},
      {"[guard]\nmax_range = many\n", "many"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) problem = NULL;
    g_assert_null (load (cases[i].rules, &problem));
    g_assert_error (problem, ADDER_ERROR, ADDER_ERROR_INVALID);
    g_test_message ("%s", problem->message);
    g_assert_nonnull (strstr (problem->message, cases[i].words));
  }
}

UNIT_SUITE (policy_guard)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/guard/rules", test_rules);
  g_test_add_func ("/policy/guard/mistakes", test_mistakes);
  return g_test_run ();
}
