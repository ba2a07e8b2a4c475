/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is being typed: what wants another line. */
#include "apps/repl/incomplete.h"
#include "suite.h"

static void
test_code (void)
{
  static const struct {
    const char *code;
    gboolean incomplete;
  } rows[] = {
      {"", FALSE},
      {"x = 1", FALSE},
      {"x = 1 \\", TRUE},
      {"f(1,", TRUE},
      {"f(1,\n2)", FALSE},
      {"f(')'", TRUE},
      {"x = {1: 2}", FALSE},
      {"x[1:", TRUE},
      {"# (", FALSE},
      {"x = '#' + (", TRUE},
      {"'''a", TRUE},
      {"'''a\n\n", TRUE},
      {"'''a\nb'''", FALSE},
      {"\"\"\"a\\\"\"\"", TRUE},
      {"'open", FALSE}, /* Python says what is wrong */
      {"''", FALSE},
      {"if x:", TRUE},
      {"if x:  # why", TRUE},
      {"if x: y", FALSE},
      {"if x:\n  y", TRUE},
      {"if x:\n  y\n", FALSE},
      {"if x:\n  y\n  \t", FALSE},
      {"x = '''\nif:\n'''", FALSE},
      {"@cache", TRUE},
      {"@cache\ndef f():\n  pass\n", FALSE},
      {"a @ b", FALSE},
      {"lambda: 1", FALSE},
      {"%%time", TRUE},
      {"%%time\nx = 1\n", FALSE},
      {")", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_test_message ("%s", rows[i].code);
    g_assert_cmpint (incomplete_code (rows[i].code), ==, rows[i].incomplete);
  }
}

UNIT_SUITE (interfaces_incomplete)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/incomplete/code", test_code);
  return g_test_run ();
}
