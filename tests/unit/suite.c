/* SPDX-License-Identifier: Apache-2.0 */
/* The main function of each test program: PROGRAM SUITE [OPTION OF GTEST]... Without a suite it lists those
 * it has. */
#include "suite.h"

#include <ftw.h>
#include <glib.h>
#include <stdio.h>

/* g_test_trap_subprocess starts the program again without the suite's name. */
#define CHOSEN "UNIT_SUITE"

static struct suite *suites;

void
suite_add (struct suite *suite)
{
  suite->next = suites;
  suites = suite;
}

static int
remove_one (const char *path, const struct stat *st, int kind, struct FTW *walk)
{
  (void)st, (void)kind, (void)walk;
  (void)remove (path);
  return 0;
}

int
suite_descriptors (void)
{
  g_autoptr (GDir) directory = g_dir_open ("/proc/self/fd", 0, NULL);
  int count = 0;
  while (g_dir_read_name (directory))
    count++;
  return count;
}

void
suite_remove (const char *folder)
{
  (void)nftw (folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int
main (int argc, char **argv)
{
  if (argc > 1 && argv[1][0] != '-') {
    g_setenv (CHOSEN, argv[1], TRUE);
    argv[1] = argv[0];
    argc--, argv++;
  }
  const char *chosen = g_getenv (CHOSEN);
  for (const struct suite *suite = suites; chosen && suite; suite = suite->next)
    if (g_str_equal (suite->name, chosen))
      return suite->run (argc, argv);
  if (chosen)
    fprintf (stderr, "There is no suite %s here.\n", chosen);
  for (const struct suite *suite = suites; suite; suite = suite->next)
    puts (suite->name);
  return chosen != NULL;
}
