/* SPDX-License-Identifier: Apache-2.0 */
#include "runner_copy.h"

#include <glib.h>

#include "suite.h"

char *
runner_copy (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *directory = g_path_get_dirname (self);
  g_autofree char *built = g_build_filename (directory, "..", "..", "src", "runner", NULL);
  g_autofree char *zygote = g_build_filename (built, "adder-zygote", NULL);
  g_autofree char *init = g_build_filename (built, "adder-init", NULL);
  g_autofree char *shell = g_build_filename (built, "adder-shell", NULL);
  g_autofree char *extension = g_build_filename (built, "_adder.abi3.so", NULL);
  char *copy = g_strdup ("/var/tmp/adder-chain-XXXXXX");
  g_assert_nonnull (g_mkdtemp_full (copy, 0755));
  const char *const command[] = {"cp", "--", zygote, init, shell, extension, copy, NULL};
  g_autoptr (GError) error = NULL;
  g_spawn_sync (NULL, (char **)(guintptr)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                &error);
  g_assert_no_error (error);
  return copy;
}

void
runner_remove (char *directory)
{
  suite_remove (directory);
  g_free (directory);
}
