/* SPDX-License-Identifier: Apache-2.0 */
/* A harness without a fuzzer: runs the files of the directories that are named, then a fixed number of
 * changed copies of them, always the same. So every build tests the harnesses, and every input that once
 * failed. */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"

#define CHANGED_COPIES 2000

static void
run (const guint8 *data, gsize size)
{
  /* A copy of exactly that size, so that a sanitizer sees a read beyond it. */
  g_autofree guint8 *copy = g_memdup2 (data, size);
  LLVMFuzzerTestOneInput (copy, size);
}

static void
run_changed (const guint8 *data, gsize size, GRand *chance)
{
  for (int i = 0; i < CHANGED_COPIES && size > 0; i++) {
    g_autofree guint8 *copy = g_memdup2 (data, size);
    gsize length = g_rand_boolean (chance) ? size : (gsize)g_rand_int_range (chance, 0, (gint32)size + 1);
    for (int changes = g_rand_int_range (chance, 0, 8); changes > 0 && length > 0; changes--)
      copy[g_rand_int_range (chance, 0, (gint32)length)] = (guint8)g_rand_int (chance);
    run (copy, length);
  }
}

static int
run_directory (const char *path, GRand *chance)
{
  g_autoptr (GError) error = NULL;
  GDir *directory = g_dir_open (path, 0, &error);
  if (!directory) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  for (const char *name; (name = g_dir_read_name (directory));) {
    g_autofree char *file = g_build_filename (path, name, NULL);
    g_autofree char *data = NULL;
    gsize size;
    if (!g_file_get_contents (file, &data, &size, NULL))
      continue;
    run ((const guint8 *)data, size);
    run_changed ((const guint8 *)data, size, chance);
  }
  g_dir_close (directory);
  return 0;
}

int
main (int argc, char **argv)
{
  GRand *chance = g_rand_new_with_seed (1);
  int failed = 0;
  run ((const guint8 *)"", 0);
  for (int i = 1; i < argc; i++)
    failed |= run_directory (argv[i], chance);
  g_rand_free (chance);
  return failed;
}
